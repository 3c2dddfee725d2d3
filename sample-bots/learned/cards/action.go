package cards

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/tute"
)

// The numbers of actions: a card's index, then the exchange, then, in Tute, a song by suit.
const (
	ExchangeAction = baraja.TableCards
	SingAction     = ExchangeAction + 1

	suits = 4
)

// Actions returns the number of actions of the mode: 41, or 45 in Tute.
func (m Mode) Actions() int {
	if m.Tute {
		return SingAction + suits
	}
	return SingAction
}

// indexes has the place of a card in the unshuffled pack of 40, by the card.
var indexes = func() (table [64]uint8) {
	for i, c := range baraja.Pack40 {
		table[c] = uint8(i)
	}
	return table
}()

// Index returns the number of a card from 0 to 39: its place in the unshuffled pack.
func Index(c baraja.Card) int { return int(indexes[c&63]) }

// CardAt is the inverse of Index.
func CardAt(i int) baraja.Card { return baraja.Pack40[i] }

// Bits40 returns a set of cards of the pack of 40 as a number of 40 bits: bit i is card CardAt(i).
func Bits40(s baraja.Set) (bits uint64) {
	const low, high = 1<<7 - 1, 1<<3 - 1 // ranks 1 to 7; 10 to 12
	for suit := range suits {
		of := uint64(s) >> (suit * baraja.Ranks)
		bits |= (of&low | of>>9&high<<7) << (suit * 10)
	}
	return bits
}

// Action returns the number of the action that a move is.
func Action(m rules.Move) int {
	switch {
	case m < baraja.SwapMove:
		return Index(baraja.Card(m))
	case m < tute.SingMove:
		return ExchangeAction
	}
	return SingAction + int(m-tute.SingMove)
}

// FindMove returns the move among the legal ones that is an action, and whether there is one. No
// more than one exchange is legal at a time.
func FindMove(action int, legal []rules.Move) (rules.Move, bool) {
	for _, m := range legal {
		if Action(m) == action {
			return m, true
		}
	}
	return 0, false
}

// SongMove returns the move that an action of Tute from Sing on is.
func SongMove(action int) rules.Move { return tute.SingMove + rules.Move(action-SingAction) }
