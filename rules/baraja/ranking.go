package baraja

import (
	"slices"

	"github.com/timba-arena/timba/rules"
)

// Ranking is how the cards of a suit rank in a game. Its tables have 64 entries so that
// an index &63 needs no check.
type Ranking struct {
	Strength [64]uint8 // by card: 1 for the weakest of its suit, 0 for a card that the game does without
	Above    [64]Set   // by card: the cards of its suit that are stronger
	ranks    []int     // the strongest first
}

// NewRanking returns the ranking of some ranks, the strongest first.
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

// Display returns how a trick game is shown.
func (r *Ranking) Display() *rules.Cards {
	ranks := slices.Clone(r.ranks)
	slices.Reverse(ranks)
	return &rules.Cards{Hand: "hand", Trick: "trick", Ranks: ranks}
}

// TrickRanking is how the cards rank in Brisca and Tute.
var TrickRanking = NewRanking(1, 3, 12, 11, 10, 7, 6, 5, 4, 2)

var (
	// Twelves and Elevens are the kings and the horses.
	Twelves = ofRank(12)
	Elevens = ofRank(11)

	values = valueTable()
	beats  = beatTable()
	black  = blackTable()
)

// Strength orders the cards of a suit in Brisca and Tute: 1 (the 2) to 10 (the
// 1), and 0 for the eights and nines, which they do without.
func Strength(c Card) int { return int(TrickRanking.Strength[c&63]) }

// Value returns the points that a card brings in Brisca and Tute.
func Value(c Card) int { return int(values[c&63]) }

// BeatingCards returns the cards that would win from the card that is winning a trick of
// Brisca or Tute.
func BeatingCards(trumps Suit, winning Card) Set { return beats[trumps%4][winning&63] }

// Duties are sets of cards, the more pressing first: a seat plays from the first of them that
// its hand meets, or anything. A struct of so few fields stays in registers.
type Duties struct{ First, Second, Third, Fourth Set }

// Playable returns what may be played from a hand.
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

// All returns the sets in their order.
func (d Duties) All() [4]Set { return [4]Set{d.First, d.Second, d.Third, d.Fourth} }

// Pairs returns the 12 and 11 of each suit of which a hand holds both, but for the suits that
// are done, a bit each.
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

// bit returns the set of one card; the shift by less than 64 is a single instruction.
func (c Card) bit() Set { return 1 << (c & 63) }
