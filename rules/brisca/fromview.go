package brisca

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

// Redeal implements rules.Redealer. It shuffles the other hands, except for the cards that all seats know to
// be in them, and the stock above the trump card. It does not change a game that is over.
func (s *State) Redeal(seat int, r *rules.Rand) {
	if s.Mover >= 0 {
		s.redeal(seat, r)
	}
}

// redeal is Redeal of a game that is not over. It reports whether it found a deal.
func (s *State) redeal(seat int, r *rules.Rand) bool {
	return s.Table.Redeal(seat, [baraja.TableSeats]baraja.Set{}, s.possible, r)
}

// possible reports whether the game could reach this position: no hand wins at once.
func (s *State) possible() bool { return !s.Table.HasInstantWin(s.rules.BlackHand, false) }

// fromView implements rules.Variant.FromView.
func fromView(r Rules, o rules.Observation, rand *rules.Rand) (rules.State, error) {
	s := &State{rules: r}
	reader := o.Reader(name, int(r.Players))
	s.Table.FromView(o, &reader, int(r.Players), handCards)
	if reader.Err() == nil && !s.redeal(o.Seat, rand) {
		reader.Fail("hand", "has won at once")
	}
	return reader.Finish(s)
}
