package rulestest

import (
	"fmt"
	"slices"

	"github.com/timba-arena/timba/rules"
)

// redealCopy returns a copy of s in which everything that is hidden from seat is dealt anew. If nothing is
// hidden in the game, the copy is equal to s.
func redealCopy(s rules.State, seat int, r *rules.Rand) rules.State {
	c := s.Clone()
	if c, ok := c.(rules.Redealer); ok {
		c.Redeal(seat, r)
	}
	return c
}

// checkRedeal replaces everything that is hidden from a seat by random values. It returns an error unless the result
// is a valid position in which the seat knows the same and has the same moves.
func (w *walk) checkRedeal(seat int) error {
	if _, ok := w.s.(rules.Redealer); !ok {
		return nil
	}
	c := redealCopy(w.s, seat, w.r)
	if got, want := string(c.View(nil, seat)), string(w.s.View(nil, seat)); got != want {
		return fmt.Errorf("redeal: seat %d's view leaks\n was %s\n now %s", seat, want, got)
	}
	if c.Turn() != w.s.Turn() || c.Ply() != w.s.Ply() {
		return fmt.Errorf("redeal: turn %d at ply %d becomes turn %d at ply %d", w.s.Turn(), w.s.Ply(), c.Turn(), c.Ply())
	}
	legal := c.Legal(nil)
	if w.s.Turn() == seat && !slices.Equal(legal, w.legal) {
		return fmt.Errorf("redeal: seat %d's legal moves leak: %d become %d", seat, w.legal, legal)
	}
	for other := range w.v.Players {
		if other != seat && string(c.View(nil, other)) != string(w.s.View(nil, other)) {
			w.hidden++
		}
	}
	if err := w.checkPosition(c, legal); err != nil {
		return fmt.Errorf("redeal: %w", err)
	}
	if w.r.Below(8) != 0 {
		return nil
	}
	if err := w.playOn(c); err != nil {
		return fmt.Errorf("redeal: %w", err)
	}
	return nil
}

// compareEvents makes the move m in a copy of the current position, and in a second copy in which the cards hidden
// from a seat were dealt anew. If the seat knows the same about both copies afterwards, but has seen different
// events, compareEvents returns an error.
func (w *walk) compareEvents(m rules.Move) error {
	if _, ok := w.s.(rules.Redealer); !ok {
		return nil
	}
	seat := w.r.Below(w.v.Players)
	a, b := w.s.Clone(), redealCopy(w.s, seat, w.r)
	if b.Check(m) != nil {
		return nil // the seat to move no longer holds the card
	}
	var la, lb rules.Log
	a.Apply(m, &la)
	b.Apply(m, &lb)
	if string(a.View(nil, seat)) != string(b.View(nil, seat)) {
		return nil
	}
	if ea, eb := la.AppendEvents(nil, seat, ""), lb.AppendEvents(nil, seat, ""); string(ea) != string(eb) {
		return fmt.Errorf("events: seat %d can tell a redeal by %q and %q", seat, ea, eb)
	}
	return nil
}
