package baraja

import (
	"slices"

	"github.com/timba-arena/timba/referee/rules"
)

// strengthOrder is the ranks from the strongest to the weakest, in Brisca and Tute.
var strengthOrder = [...]int{1, 3, 12, 11, 10, 7, 6, 5, 4, 2}

var (
	// Twelves and Elevens are the kings and the horses.
	Twelves = ofRank(12)
	Elevens = ofRank(11)

	// Tables have 64 entries a card so that an index &63 needs no check.
	strengths = strengthTable()
	values    = valueTable()
	beats     = beatTable()
	black     = blackTable()
)

// TrickTable returns how Brisca and Tute are shown.
func TrickTable() *rules.Cards {
	ranks := slices.Clone(strengthOrder[:])
	slices.Reverse(ranks)
	return &rules.Cards{Hand: "hand", Trick: "trick", Ranks: ranks}
}

// Strength orders the cards of a suit in Brisca and Tute: 1 (the 2) to 10 (the
// 1), and 0 for the eights and nines, which they do without.
func Strength(c Card) int { return int(strengths[c&63]) }

// Value returns the points that a card brings in Brisca and Tute.
func Value(c Card) int { return int(values[c&63]) }

// Beats returns the cards that would win from the card that is winning a trick of
// Brisca or Tute.
func Beats(trumps Suit, winning Card) Set { return beats[trumps%4][winning&63] }

func ofRank(rank int) (s Set) {
	for suit := range Suit(4) {
		s = s.With(Of(rank, suit))
	}
	return s
}

func strengthTable() (t [64]uint8) {
	for i, rank := range strengthOrder {
		for suit := range Suit(4) {
			t[Of(rank, suit)] = uint8(len(strengthOrder) - i)
		}
	}
	return t
}

func valueTable() (t [64]uint8) {
	for suit := range Suit(4) {
		t[Of(1, suit)] = 11
		t[Of(3, suit)] = 10
		t[Of(12, suit)] = 4
		t[Of(11, suit)] = 3
		t[Of(10, suit)] = 2
	}
	return t
}

func beatTable() (t [4][64]Set) {
	for trumps := range Suit(4) {
		for _, best := range Pack40 {
			for _, c := range Pack40 {
				higher := c.Suit() == best.Suit() && strengths[c] > strengths[best]
				trumped := c.Suit() == trumps && best.Suit() != trumps
				if higher || trumped {
					t[trumps][best] = t[trumps][best].With(c)
				}
			}
		}
	}
	return t
}

func blackTable() (t [4]Set) {
	for trumps := range Suit(4) {
		t[trumps] = Of(1, trumps).bit() | Of(3, trumps).bit() | Of(12, trumps).bit()
	}
	return t
}

// bit returns the set of one card; the shift by less than 64 is a single instruction.
func (c Card) bit() Set { return 1 << (c & 63) }
