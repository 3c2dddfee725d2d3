package board_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/web/board"
)

func frameText(t *testing.T, f board.Frame) string {
	return string(kit.Get[[]byte](t)(json.Marshal(f)))
}

// Nothing in the frames of a game in progress depends on what any seat cannot see: if the cards that are hidden
// from a seat are shuffled, the frame of a position stays the same. The events are those that every seat has seen.
func TestClosedFramesHideCards(t *testing.T) {
	for _, c := range samples {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := kit.Get[*rules.Variant](t)(c.game.Resolve(c.options))
			games := uint64(5)
			if kit.Soak {
				games = 50
			}
			for seed := range games {
				closedGame(t, v, rules.NewRand(seed))
			}
		})
	}
}

// closedGame plays a game at random, and in each position shuffles what one of the seats cannot see.
func closedGame(t *testing.T, v *rules.Variant, random *rules.Rand) {
	t.Helper()
	stream := rules.FastStream(random)
	state, maker := v.Deal(&stream), board.NewPublicFrames(v)
	var log rules.Log
	state.LogStart(&log)
	for {
		before := board.Copy(maker)
		frame := maker.Frame(state, &log)
		seat := random.Below(v.Players)
		other := state.Clone()
		if hidden, ok := other.(rules.Redealer); ok {
			hidden.Redeal(seat, random)
		}
		if got, want := frameText(t, before.Frame(other, &log)), frameText(t, frame); got != want {
			t.Fatalf("ply %d: with other cards hidden from seat %d the frame is\n%s, not\n%s", state.Ply(), seat, got, want)
		}
		for _, event := range frame.Events.All {
			if !slices.Contains(log.EventsFor(seat), event) {
				t.Fatalf("ply %d: seat %d has not seen %q", state.Ply(), seat, event)
			}
		}
		if strings.Trim(frame.Common["hand"], "?,-") != "" {
			t.Fatalf("ply %d: the hand is %q", state.Ply(), frame.Common["hand"])
		}
		if state.Turn() == rules.Over {
			return
		}
		legal := state.Legal(nil)
		log.Reset()
		state.Apply(legal[random.Below(len(legal))], &log)
	}
}

// The frames have what all seats see: the keys of a board except for the viewer's seat, and the number of cards.
func TestClosedFrame(t *testing.T) {
	for name, want := range map[string]string{
		"teeko":  "board phase",
		"brisca": "hand trump stock leader trick points played leaders known",
		"tebes":  "size colours pieces extra bonus",
	} {
		c := find(t, name)
		v := kit.Get[*rules.Variant](t)(c.game.Resolve(c.options))
		stream := rules.NewStream(rules.Seed{1})
		state, maker := v.Deal(&stream), board.NewPublicFrames(v)
		var log rules.Log
		state.LogStart(&log)
		f := maker.Frame(state, &log)
		if got := strings.Join(maker.Keys(), " "); got != want || len(f.Common) != len(maker.Keys()) {
			t.Errorf("%s: the keys are %q of %v, want %q", name, got, f.Common, want)
		}
		if hand, ok := f.Common["hand"]; ok && hand != "?,?,?" {
			t.Errorf("%s: the hand is %q", name, hand)
		}
		if got := fmt.Sprint(f.Events.All); strings.Contains(got, "deal") {
			t.Errorf("%s: the events are %s", name, got)
		}
	}
}
