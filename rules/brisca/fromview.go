package brisca

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

// Redeal shuffles what a seat cannot see: the other hands, but for the cards
// that all know to be there, and the stock above the trump card. A game that is
// over is left as it is.
func (s *State) Redeal(seat int, r *rules.Rand) {
	if s.Mover >= 0 {
		s.redeal(seat, r)
	}
}

// redeal reports whether it has found a deal.
func (s *State) redeal(seat int, r *rules.Rand) bool {
	return s.Table.Redeal(seat, [baraja.TableSeats]baraja.Set{}, s.possible, r)
}

// possible reports whether the game has come so far: no hand has won at once.
func (s *State) possible() bool { return !s.Table.HasInstantWin(s.rules.BlackHand, false) }

// fromView returns a position that a seat may be in: see rules.Variant.
func fromView(r Rules, o rules.Observation, rand *rules.Rand) (rules.State, error) {
	s := &State{rules: r}
	reader := o.Reader(name, int(r.Players))
	s.Table.FromView(o, &reader, int(r.Players), handCards)
	if reader.Err() == nil && !s.redeal(o.Seat, rand) {
		reader.Fail("hand", "has won at once")
	}
	return reader.Finish(s)
}
