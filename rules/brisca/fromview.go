package brisca

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

// Redeal implements rules.Redealer. It deals the cards that a seat does not see at random to the other hands
// and the stock. Cards that all seats know stay where they are. A game that is over does not change.
func (s *State) Redeal(seat int, r *rules.Rand) {
	if s.Mover >= 0 {
		s.redeal(seat, r)
	}
}

// redeal deals the cards that a seat does not see at random, and reports whether it found a deal that is possible
// in this position. The game must not be over.
func (s *State) redeal(seat int, r *rules.Rand) bool {
	return s.Table.Redeal(seat, [baraja.TableSeats]baraja.Set{}, s.possible, r)
}

// possible reports whether the game could have reached this position. That is not the case if a hand wins at once,
// because the game would have ended before.
func (s *State) possible() bool { return !s.Table.HasInstantWin(s.rules.BlackHand, false) }

// fromView returns a random position that agrees with what one seat knows; see rules.Variant.FromView.
func fromView(r Rules, o rules.Observation, rand *rules.Rand) (rules.State, error) {
	s := &State{rules: r}
	reader := o.Reader(name, int(r.Players))
	s.Table.FromView(o, &reader, r, handCards)
	if reader.Err() == nil && !s.redeal(o.Seat, rand) {
		reader.Fail("hand", "has won at once")
	}
	return reader.Finish(s)
}
