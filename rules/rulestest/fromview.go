package rulestest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
)

// checkFromViews calls checkFromView for the seat to move and for a random seat.
func (w *walk) checkFromViews() error {
	seat := w.r.Below(w.v.Players)
	if turn := w.s.Turn(); turn >= 0 && turn != seat {
		if err := w.checkFromView(turn); err != nil {
			return err
		}
	}
	return w.checkFromView(seat)
}

// checkFromView makes a position from what seat may know of the current one, and returns an error unless the seat
// knows the same about both positions. In some calls, chosen at random, it also plays the new position to the end of
// the game, and checks that FromView refuses invalid input.
func (w *walk) checkFromView(seat int) error {
	o := rules.Observe(w.s, seat)
	if len(o.View) > protocol.MaxLine {
		return fmt.Errorf("view: %d bytes are more than a line", len(o.View))
	}
	if w.v.FromView == nil {
		return nil
	}
	if w.s.Turn() == rules.Over {
		if _, err := w.v.FromView(o, w.r); !errors.Is(err, rules.ErrOver) {
			return fmt.Errorf("from view: says %v after the end, not ErrOver", err)
		}
		return nil
	}
	r := *w.r
	made, err := w.v.FromView(o, w.r)
	if err != nil {
		return fmt.Errorf("from view: seat %d: %w", seat, err)
	}
	if err := sameObservation(o, rules.Observe(made, seat)); err != nil {
		return err
	}
	if again, err := w.v.FromView(o, &r); err != nil || valueOf(again) != valueOf(made) || r != *w.r {
		return fmt.Errorf("from view: the same draws give another position, %v", err)
	}
	if err := w.checkPosition(made, made.Legal(nil)); err != nil {
		return fmt.Errorf("from view: %w", err)
	}
	if w.r.Below(64) == 0 {
		if err := w.checkWrongViews(o); err != nil {
			return err
		}
	}
	if w.hidden > 0 && w.r.Below(32) == 0 { // checkVariant finds redeals that never change anything
		if err := w.checkArrangements(o); err != nil {
			return err
		}
	}
	if w.r.Below(16) == 0 {
		if err := w.playOn(made); err != nil {
			return fmt.Errorf("from view: %w", err)
		}
	}
	return nil
}

// sameObservation returns an error unless got equals want. The legal moves are compared only if want has any.
func sameObservation(want, got rules.Observation) error {
	switch {
	case !bytes.Equal(got.View, want.View):
		return fmt.Errorf("from view: the view %s becomes %s", want.View, got.View)
	case !bytes.Equal(got.Moves, want.Moves) && len(want.Moves) > 0:
		return fmt.Errorf("from view: the legal moves %s become %s", want.Moves, got.Moves)
	case got.Turn != want.Turn || got.Ply != want.Ply:
		return fmt.Errorf("from view: turn %d at ply %d becomes turn %d at ply %d", want.Turn, want.Ply, got.Turn, got.Ply)
	}
	return nil
}

// checkWrongViews checks how FromView reacts to invalid views. A view is the text "key=value key=value" of what a
// seat may know. checkWrongViews removes each key of the view in o, for which FromView must return an error that
// names the key. It also replaces each value by invalid ones.
func (w *walk) checkWrongViews(o rules.Observation) error {
	for key, value := range o.View.All() {
		pair := string(key) + "=" + string(value)
		without := strings.Trim(strings.Replace(" "+string(o.View)+" ", " "+pair+" ", " ", 1), " ")
		wrong := o
		wrong.View = protocol.Pairs(without)
		_, err := w.v.FromView(wrong, w.r)
		if err == nil || !strings.HasPrefix(err.Error(), w.v.Game.Name+": ") || !strings.Contains(err.Error(), string(key)) {
			return fmt.Errorf("from view: without the key %s it says %v", key, err)
		}
		for _, junk := range []string{"?", "-", "0", "1", "-1", "99999", "1o", "8b", "1o,1o", "wb", string(value) + ",", string(value) + "1"} {
			wrong.View = protocol.Pairs(strings.Replace(string(o.View), pair, string(key)+"="+junk, 1))
			if err := w.checkWrongView(wrong); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkWrongView returns an error unless FromView handles o, which is probably invalid, in one of two ways. It either
// returns an error that names the game and quotes the fault, or a position in which the seat knows exactly what o
// says.
func (w *walk) checkWrongView(o rules.Observation) error {
	made, err := w.v.FromView(o, w.r)
	if err == nil {
		for key, want := range protocol.Pairs(made.View(nil, o.Seat)).All() {
			if got, _ := o.View.Lookup(string(key)); !bytes.Equal(got, want) {
				return fmt.Errorf("from view: the key %s=%s becomes %s", key, got, want)
			}
		}
		playOn(made, w.r)
		return nil
	}
	if text := err.Error(); !strings.HasPrefix(text, w.v.Game.Name+": ") || !strings.Contains(text, `"`) && !errors.Is(err, rules.ErrOver) {
		return fmt.Errorf("from view: %q: name the game first and quote what is wrong", text)
	}
	return nil
}

const (
	// fewHands is the largest number of possible deals of the hidden cards for which checkArrangements compares all
	// deals. To see each of them, it draws manyDraws random deals.
	fewHands  = 16
	manyDraws = 40 * fewHands
)

// checkArrangements compares the positions that Redeal and FromView can return, unless there are too many.
// FromView must return the actual position and every position that Redeal can return. For the seat to move it
// must return no others. For another seat it may, because only Redeal preserves the moves of the seat to move.
func (w *walk) checkArrangements(o rules.Observation) error {
	dealt, many := w.arrangements(func() (rules.State, error) { return redealCopy(w.s, o.Seat, w.r), nil })
	if many {
		return nil
	}
	made, many := w.arrangements(func() (rules.State, error) { return w.v.FromView(o, w.r) })
	if o.Turn != o.Seat && many {
		return nil
	}
	if many || o.Turn == o.Seat && len(made) != len(dealt) {
		return fmt.Errorf("from view: seat %d may see %d arrangements, of a redeal %d", o.Seat, len(made), len(dealt))
	}
	for views := range dealt {
		if !made[views] {
			return fmt.Errorf("from view: %q comes from a redeal only", views)
		}
	}
	if views := w.views(w.s); !made[views] {
		return fmt.Errorf("from view: the real hands %q do not come", views)
	}
	return nil
}

// arrangements calls draw for random positions, and returns the set of different positions that it got. An element of
// the set is a text with everything that each seat may know of a position. many is true if there are more than
// fewHands positions; the set is then incomplete.
func (w *walk) arrangements(draw func() (rules.State, error)) (seen map[string]bool, many bool) {
	seen = map[string]bool{}
	for range manyDraws {
		if s, err := draw(); err == nil {
			seen[w.views(s)] = true
		}
		if len(seen) > fewHands {
			return seen, true
		}
	}
	return seen, false
}

// views returns what each seat may know of s, one line for each seat.
func (w *walk) views(s rules.State) string {
	var all []byte
	for seat := range w.v.Players {
		all = append(s.View(all, seat), '\n')
	}
	return string(all)
}
