package rulestest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/rules"
)

// checkOpening checks the random moves before the first turn, if the game has an option for them. Making the logged
// moves from the position without an opening must lead to the first position. In that position the game must not be
// over, and the seat to move must not be able to win at once.
func checkOpening(v *rules.Variant) error {
	name := rules.OpeningOption.Name
	plies := v.Settings.Int(name)
	bare, err := withoutOpening(v)
	if err != nil {
		return fmt.Errorf("opening: %w", err)
	}
	if plies == 0 {
		return nil
	}
	seen := map[string]bool{}
	for n := range uint64(16) {
		s, from := deal(v, n), deal(bare, n)
		if s.Turn() == rules.Over && from.Turn() == rules.Over {
			continue
		}
		var log rules.Log
		s.LogStart(&log)
		told := log.EventsFor(0)
		if !slices.Equal(told, log.EventsFor(1)) {
			return fmt.Errorf("opening: seat 0 is told %q, seat 1 %q", told, log.EventsFor(1))
		}
		made, err := makeOpening(from, told)
		if err != nil {
			return fmt.Errorf("opening: %w", err)
		}
		if made != 0 && made != plies {
			return fmt.Errorf("opening: %d plies where %d are due", made, plies)
		}
		for seat := range v.Players {
			if got, want := s.View(nil, seat), from.View(nil, seat); s.Turn() != from.Turn() || string(got) != string(want) {
				return fmt.Errorf("opening: turn %d of view %s, by the events turn %d of %s", s.Turn(), got, from.Turn(), want)
			}
		}
		if made > 0 && (s.Turn() == rules.Over || winsAtOnce(s)) {
			return fmt.Errorf("opening: %q leaves a win at once, or none", told)
		}
		seen[strings.Join(told, " ")] = true
	}
	if len(seen) == 1 {
		return errors.New("opening: every seed gives the same")
	}
	return nil
}

// withoutOpening returns a variant like v, but without random first moves and without a limit on the number of moves.
// The caller makes the random moves as ordinary ones; the limit would count these.
func withoutOpening(v *rules.Variant) (*rules.Variant, error) {
	given := map[string]string{}
	for _, s := range v.Settings {
		given[s.Name] = s.Value
		if s.Name == rules.OpeningOption.Name || s.Name == "limit" {
			given[s.Name] = "0"
		}
	}
	return v.Game.Resolve(given)
}

// makeOpening makes in s the random first moves that are described in told, a list of events. It returns the number
// of moves, and an error unless making the moves logs the same events.
func makeOpening(s rules.State, told []string) (plies int, err error) {
	var log rules.Log
	for _, text := range told[1:] {
		word := strings.Fields(text)
		if word[0] != "play" {
			continue
		}
		if word[1] != fmt.Sprint(s.Turn()) {
			return 0, fmt.Errorf("%q is told where it is the turn of seat %d", text, s.Turn())
		}
		m, err := s.ParseMove(word[2])
		if err == nil {
			err = rules.Play(s, m, &log)
		}
		if err != nil {
			return 0, err
		}
		plies++
	}
	want := append([]string{fmt.Sprintf("%s %d", rules.OpeningOption.Name, plies)}, log.EventsFor(0)...)
	if !slices.Equal(told, want) {
		return 0, fmt.Errorf("%q is told, the plies are %q", told, want)
	}
	return plies, nil
}

// winsAtOnce reports whether the side to move has a move that wins the game.
func winsAtOnce(s rules.State) bool {
	me := s.Turn()
	return slices.ContainsFunc(s.Legal(nil), func(m rules.Move) bool {
		next := s.Clone()
		next.Apply(m, nil)
		points := next.Points()
		return next.Turn() == rules.Over && points[me] > points[1-me]
	})
}

// CheckWithoutOpening tests a game that begins at s without random first moves, as it does if all drawn moves were
// rejected. It plays random moves. In each position it checks that FromView can return that position from what a seat
// may know.
func CheckWithoutOpening(t *testing.T, v *rules.Variant, s rules.State) {
	t.Helper()
	var log rules.Log
	s.LogStart(&log)
	if told := log.EventsFor(0); !slices.Equal(told, []string{rules.OpeningOption.Name + " 0"}) {
		t.Errorf("%s: %q is told", v.Settings, told)
	}
	r := rules.NewRand(1)
	for s.Turn() != rules.Over {
		for seat := range v.Players {
			o := rules.Observe(s, seat)
			made, err := v.FromView(o, r)
			if err == nil {
				err = sameObservation(o, rules.Observe(made, seat))
			}
			if err != nil {
				t.Fatalf("%s: ply %d: %v", v.Settings, s.Ply(), err)
			}
		}
		legal := s.Legal(nil)
		s.Apply(legal[r.Below(len(legal))], nil)
	}
}
