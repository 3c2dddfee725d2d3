package match

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// A walk gives what playing the moves by the rules gives, position by position:
// the state, the events that led there, the move, and the faults before it.
func TestReplaysWalk(t *testing.T) {
	r := &threeHanded(t).Replay
	v := kit.Get[*rules.Variant](t)(r.Resolve(variant(t, "brisca", "").Game))
	stream := rules.NewStream(rules.Seed(r.Seed))
	state := v.Deal(&stream)
	var log, want rules.Log
	state.LogStart(&want)
	var faults []referee.Fault
	ply := 0
	for s, err := range r.Walk(v, &log) {
		kit.Must(t, err)
		if got, want := views(s.State, v), views(state, v); got != want || s.State.Ply() != ply {
			t.Fatalf("ply %d: the position is %s, want %s", ply, got, want)
		}
		if diff := cmp.Diff(want.OpenEvents(), log.OpenEvents()); diff != "" {
			t.Fatalf("ply %d: events differ: %s", ply, diff)
		}
		for _, f := range s.Faults {
			if f.Ply != ply {
				t.Errorf("ply %d has the fault of ply %d", ply, f.Ply)
			}
		}
		faults = append(faults, s.Faults...)
		if s.Next == nil {
			break
		}
		if s.Next != &r.Moves[ply] || string(state.MoveText(nil, s.Move)) != s.Next.Move {
			t.Fatalf("ply %d: the move is %d with the record %v", ply, s.Move, s.Next)
		}
		want.Reset()
		state.Apply(s.Move, &want)
		ply++
	}
	if ply != len(r.Moves) || state.Turn() != rules.Over {
		t.Errorf("the walk ends at ply %d of %d", ply, len(r.Moves))
	}
	if diff := cmp.Diff(r.Faults, faults); diff != "" || len(faults) != 2 {
		t.Errorf("faults: %s", diff)
	}
}

// views returns the views of all seats.
func views(s rules.State, v *rules.Variant) string {
	var text []byte
	for seat := range v.Players {
		text = append(s.View(text, seat), '\n')
	}
	return string(text)
}

// Faults that are out of order are given where they stand, those after the last move at the end.
func TestReplaysWalkFaults(t *testing.T) {
	r := oneGame(t, &Match{Variant: variant(t, "teeko", "limit=4"), Bots: named(2), Clock: patient, start: starter{}.start}).Replay
	for _, ply := range []int{1, 3, 2, 9, 4} {
		r.Faults = append(r.Faults, referee.Fault{Ply: ply, Code: protocol.Exit})
	}
	v := kit.Get[*rules.Variant](t)(r.Resolve(variant(t, "teeko", "").Game))
	var got [][]int
	for s, err := range r.Walk(v, nil) {
		kit.Must(t, err)
		plies := []int{}
		for _, f := range s.Faults {
			plies = append(plies, f.Ply)
		}
		got = append(got, plies)
	}
	if diff := cmp.Diff([][]int{{}, {1}, {}, {3, 2}, {9, 4}}, got); diff != "" {
		t.Error(diff)
	}
}

// The opening is in the replay's options, and the seed brings it back: the moves begin
// after it, and what is shown and fed to the bots has it.
func TestReplaysWithOpening(t *testing.T) {
	v := variant(t, "teeko", "start=drop limit=4 opening=3")
	r := oneGame(t, &Match{Variant: v, Bots: named(2), Clock: patient, start: starter{}.start}).Replay
	if differences := r.Verify(v.Game); len(differences) > 0 || r.Options["opening"] != "3" || len(r.Moves) != 4 || r.Moves[0].Seat != 1 {
		t.Fatal(differences, r.Options, r.Moves)
	}
	var log rules.Log
	for step, err := range r.Walk(v, &log) {
		if told := log.OpenEvents(); err != nil || step.State.Ply() != 0 || len(told) != 4 || told[0] != "opening 3" {
			t.Error(err, step.State.Ply(), told)
		}
		break
	}
	traffic := kit.Get[[]referee.Traffic](t)(r.Traffic(v.Game, 1))
	var lines []byte
	for _, block := range traffic {
		lines = append(lines, block.Lines...)
	}
	if want := "event opening 3\nevent " + log.OpenEvents()[1] + "\n"; !bytes.Contains(lines, []byte(want)) {
		t.Errorf("seat 1 is fed %q, without %q", lines, want)
	}
	r.Options["opening"] = "2"
	if len(r.Verify(v.Game)) == 0 {
		t.Error("the moves fit another opening")
	}
}

// A walk ends with the move that the rules do not allow, or when nobody wants more.
func TestReplaysWalkEnds(t *testing.T) {
	r := oneGame(t, &Match{Variant: variant(t, "teeko", "limit=6"), Bots: named(2), Clock: patient, start: starter{}.start}).Replay
	r.Moves = slices.Clone(r.Moves)
	r.Moves[3].Move = "24-24"
	v, err := r.Resolve(variant(t, "teeko", "").Game)
	kit.Must(t, err)
	steps := 0
	for _, err = range r.Walk(v, nil) {
		if err == nil {
			steps++
		}
	}
	if steps != 3 || err == nil || !strings.HasPrefix(err.Error(), "replay: move 3 of seat 1: \"24-24\" moves no piece") {
		t.Errorf("%d steps, then %v", steps, err)
	}
	for range r.Walk(v, nil) {
		break
	}
}
