package cards

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/tute"
)

// Numbers of actions. A model numbers the moves of Brisca and Tute in this way: a card has its Index, and
// ExchangeAction exchanges the trump card. In Tute, SingAction plus a suit is the declaration (a song) of the
// 12 and 11 of the suit.
const (
	ExchangeAction = baraja.TableCards
	SingAction     = ExchangeAction + 1

	suits = 4
)

// Actions returns the number of actions, the different moves that a model numbers: 41 in Brisca, 45 in Tute.
func (m Mode) Actions() int {
	if m.Tute {
		return SingAction + suits
	}
	return SingAction
}

var indexes = func() (table [64]uint8) {
	for i, c := range baraja.Pack40 {
		table[c] = uint8(i)
	}
	return table
}()

// Index returns the index of a card in the unshuffled pack of 40, from 0.
func Index(c baraja.Card) int { return int(indexes[c&63]) }

// CardAt is the inverse of Index.
func CardAt(i int) baraja.Card { return baraja.Pack40[i] }

// Bits40 converts a set of cards of the pack of 40 to a number in which bit i stands for CardAt(i).
func Bits40(s baraja.Set) (bits uint64) {
	const low, high = 1<<7 - 1, 1<<3 - 1 // masks for ranks 1 to 7 and 10 to 12
	for suit := range suits {
		of := uint64(s) >> (suit * baraja.Ranks)
		bits |= (of&low | of>>9&high<<7) << (suit * 10)
	}
	return bits
}

// Action returns the number of m among the actions, all moves of the game that a model numbers from 0; see
// Mode.Actions.
func Action(m rules.Move) int {
	switch {
	case m < baraja.SwapMove:
		return Index(baraja.Card(m))
	case m < tute.SingMove:
		return ExchangeAction
	}
	return SingAction + int(m-tute.SingMove)
}

// FindMove returns the move in legal that has the number action (see Action), or false if there is none.
func FindMove(action int, legal []rules.Move) (rules.Move, bool) {
	for _, m := range legal {
		if Action(m) == action {
			return m, true
		}
	}
	return 0, false
}

// SongMove returns the move of Tute that declares the 12 and 11 of a suit (a song). action must be SingAction plus
// the suit.
func SongMove(action int) rules.Move { return tute.SingMove + rules.Move(action-SingAction) }
