// Package seattest is the suite of conformance tests for the ways in which a seat can be filled:
// whatever carries the lines of a bot, its games, its faults and its clock are the same.
package seattest

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sample-bots/misbehave/faults"
)

// Way is one way to fill a seat.
type Way struct {
	Name string
	// Bot returns a bot whose lines are those of a command, for a match.
	Bot func(t testing.TB, command []string) referee.Bot
}

// acts are ways to misbehave that every seat tells apart. Those of pipes and of the limits of a
// sandbox are not among them.
var acts = []string{
	"exit-at-start", "banner", "move-first", "ready-twice", "silent", "late", "illegal", "illegal-syntax",
	"garbled-text", "debug-print", "two-moves", "empty-line", "not-ascii", "nul", "long-line", "unasked", "exit-0", "exit-3",
}

// Run plays the same games in every way, with the program of sample-bots/misbehave, and compares
// them with those of the first way.
func Run(t *testing.T, misbehave string, ways []Way) {
	for _, name := range acts {
		f, ok := faults.Find(name)
		if !ok {
			t.Fatalf("fault %q does not exist", name)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := []string{misbehave, "--fault", f.Name, "--at=4", "--late=1m"}
			want := play(t, ways[0].Bot(t, command))
			if len(want.Faults) != 1 || want.Faults[0].Code != f.Code {
				t.Fatalf("%s: faults %v, want %s", ways[0].Name, want.Faults, f.Code)
			}
			for _, w := range ways[1:] {
				compare(t, w.Name, play(t, w.Bot(t, command)), want)
			}
		})
	}
}

// play plays one game of the bot at seat 0 against one that plays the first legal moves.
func play(t *testing.T, b referee.Bot) *referee.Game {
	t.Helper()
	var game *referee.Game
	b.Name = "tested"
	m := referee.Match{
		Variant: refereetest.Variant(t, "tebes", "size=4"), Deals: 1, Only: []int{0},
		Clock: referee.Clock{Move: 3 * time.Second, Margin: time.Second, Startup: time.Minute},
		Bots:  []referee.Bot{b, {Name: "first", Serve: first, Untimed: true}},
		Done:  func(g *referee.Game) error { game = g; return nil },
	}
	if err := m.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	return game
}

// compare compares all that does not depend on how lines travel: how a process has ended is told
// by its exit status in one way, and by its client in another.
func compare(t *testing.T, way string, got, want *referee.Game) {
	t.Helper()
	if len(got.Faults) != len(want.Faults) {
		t.Errorf("%s: faults %v, want %v", way, got.Faults, want.Faults)
		return
	}
	for i, f := range got.Faults {
		w := want.Faults[i]
		if f.Seat != w.Seat || f.Ply != w.Ply || f.Code != w.Code || f.Code != protocol.Exit && f.Code != protocol.Startup && f.Text != w.Text {
			t.Errorf("%s: %v at ply %d, want %v at ply %d", way, &f, f.Ply, &w, w.Ply)
		}
	}
	if !slices.Equal(got.Ranks, want.Ranks) || !slices.EqualFunc(got.Moves, want.Moves, func(a, b referee.ReplayMove) bool {
		return a.Seat == b.Seat && a.Move == b.Move && a.StandIn == b.StandIn
	}) {
		t.Errorf("%s: ranks %v, moves %v, want %v, %v", way, got.Ranks, got.Moves, want.Ranks, want.Moves)
	}
}

func first(in io.Reader, out io.Writer) error {
	b, err := house.Find("first")
	if err != nil {
		return err
	}
	return protocol.Serve(in, out, "", "", b.Answer)
}
