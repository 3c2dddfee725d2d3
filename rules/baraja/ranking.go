package baraja

import (
	"slices"

	"github.com/timba-arena/timba/rules"
)

// Ranking is the order of the cards within a suit. Its tables are indexed by Card and have 64 entries, so that an
// index c&63 needs no bounds check.
type Ranking struct {
	Strength [64]uint8 // 1 for the weakest card of a suit; 0 for a card that the game does not use
	Above    [64]Set   // the stronger cards of the same suit
	ranks    []int     // from the strongest to the weakest
}

// NewRanking returns the Ranking in which a suit has the given ranks, from the strongest to the weakest.
func NewRanking(ranks ...int) (r Ranking) {
	r.ranks = ranks
	for suit := range Suit(4) {
		var above Set
		for i, rank := range ranks {
			c := CardOf(rank, suit)
			r.Strength[c], r.Above[c] = uint8(len(ranks)-i), above
			above |= c.bit()
		}
	}
	return r
}

// Display returns a description of how to draw a trick-taking game with this ranking.
func (r *Ranking) Display() *rules.Cards {
	ranks := slices.Clone(r.ranks)
	slices.Reverse(ranks)
	return &rules.Cards{Hand: "hand", Trick: "trick", Ranks: ranks}
}

// TrickRanking is the order of the cards within a suit in Brisca and Tute.
var TrickRanking = NewRanking(1, 3, 12, 11, 10, 7, 6, 5, 4, 2)

var (
	// Twelves is the set of the four 12s, and Elevens the set of the four 11s.
	Twelves = ofRank(12)
	Elevens = ofRank(11)

	values = valueTable()
	beats  = beatTable()
	black  = blackTable()
)

// Strength returns the strength of a card within its suit in Brisca and Tute: from 1 for a 2 to 10 for a 1. It is
// 0 for the eights and nines, which these games do not use.
func Strength(c Card) int { return int(TrickRanking.Strength[c&63]) }

// Value returns the points of a card in Brisca and Tute, from 0 to 11.
func Value(c Card) int { return int(values[c&63]) }

// BeatingCards returns the cards that beat the card winning, the best one so far in a trick of Brisca or Tute. trumps
// is the suit of trumps.
func BeatingCards(trumps Suit, winning Card) Set { return beats[trumps%4][winning&63] }

// Duties says which cards a seat must play. The sets are in order of priority: the seat must play a card of the first
// set that has a card of its hand. If no set has one, it may play any card. The struct is small so that it stays in
// registers.
type Duties struct{ First, Second, Third, Fourth Set }

// Playable returns the cards of hand that the seat may play.
func (d Duties) Playable(hand Set) Set {
	switch {
	case hand&d.First != 0:
		return hand & d.First
	case hand&d.Second != 0:
		return hand & d.Second
	case hand&d.Third != 0:
		return hand & d.Third
	case hand&d.Fourth != 0:
		return hand & d.Fourth
	}
	return hand
}

// RefuseCard converts err, the error for a forbidden card, to a rules.Refusal that names the rule: the seat must
// follow suit, play a trump, or beat the best card. hand has the seat's cards, and may the cards of hand that may be
// played. led is the first card of the trick, and best the card that is winning.
func RefuseCard(err error, hand, may Set, led, best Card) error {
	suit := may.First().Suit() // duties leave cards of one suit
	switch {
	case may != hand.OfSuit(suit):
		return rules.Refuse(err, rules.MustBeat, "card", best.String())
	case suit == led.Suit():
		return rules.Refuse(err, rules.MustFollow, "suit", suit.String())
	}
	return rules.Refuse(err, rules.MustTrump, "suit", suit.String())
}

func (d Duties) All() [4]Set { return [4]Set{d.First, d.Second, d.Third, d.Fourth} }

// Pairs returns the cards of all suits whose 12 and 11 are both in hand. It omits a suit if its bit, 1<<suit, is set
// in done.
func Pairs(hand Set, done uint8) (pairs Set) {
	for p := hand & (hand >> 1) & Elevens; p != 0; p &= p - 1 { // a 12 is the bit above its 11
		if c := p.First(); done>>c.Suit()&1 == 0 {
			pairs |= 3 << (c & 63)
		}
	}
	return pairs
}

func ofRank(rank int) (s Set) {
	for suit := range Suit(4) {
		s = s.With(CardOf(rank, suit))
	}
	return s
}

func valueTable() (t [64]uint8) {
	for suit := range Suit(4) {
		t[CardOf(1, suit)] = 11
		t[CardOf(3, suit)] = 10
		t[CardOf(12, suit)] = 4
		t[CardOf(11, suit)] = 3
		t[CardOf(10, suit)] = 2
	}
	return t
}

func beatTable() (t [4][64]Set) {
	for trumps := range Suit(4) {
		for _, c := range Pack40 {
			t[trumps][c] = TrickRanking.Above[c]
			if c.Suit() != trumps {
				t[trumps][c] |= set40.OfSuit(trumps)
			}
		}
	}
	return t
}

func blackTable() (t [4]Set) {
	for trumps := range Suit(4) {
		t[trumps] = CardOf(1, trumps).bit() | CardOf(3, trumps).bit() | CardOf(12, trumps).bit()
	}
	return t
}

// bit returns the set that contains only c. A shift by less than 64 is a single instruction.
func (c Card) bit() Set { return 1 << (c & 63) }
