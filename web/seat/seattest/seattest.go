// Package seattest is the suite of conformance tests for the ways in which a seat can be filled:
// whatever carries the lines of a bot, its games, its faults and its clock are the same.
package seattest

import (
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit/bubble"
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
	Bot func(t *testing.T, command []string) referee.Bot
}

// Serve is a program in this process, as that of a referee.Bot.
type Serve = func(lines io.Reader, answers io.Writer) error

// acts are ways to misbehave that every seat tells apart. Those of pipes and of the limits of a
// sandbox are not among them; those of lateness are those of RunLate.
var acts = []string{
	"exit-at-start", "banner", "move-first", "ready-twice", "illegal", "illegal-syntax",
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
			command := []string{misbehave, "--fault", f.Name, "--at=4"}
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

// RunLate plays, in a bubble, the same games of a bot that answers too late, and of one that does
// not answer, in all ways, and compares them with those of the first way.
func RunLate(t *testing.T, ways []func(t *testing.T, serve Serve) referee.Bot) {
	for name, thinks := range map[string]time.Duration{"late": 2 * time.Minute, "silent": 1000 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble.Run(t, func(t *testing.T) {
				ended := make(chan struct{})
				defer close(ended)
				serve := func(in io.Reader, out io.Writer) error {
					turns := 0
					return protocol.Serve(in, out, "", "", func(turn *protocol.Turn) protocol.Answer {
						if turns++; turns == 3 {
							select {
							case <-time.After(thinks):
							case <-ended:
							}
						}
						return protocol.Answer{Move: []byte(turn.Moves.Strings()[0])}
					})
				}
				var want *referee.Game
				for i, way := range ways {
					b := way(t, serve)
					began := time.Now()
					got := play(t, b)
					if i == 0 {
						want = got
					}
					if len(got.Faults) != 1 || got.Faults[0].Code != protocol.Timeout || time.Since(began) < time.Minute+time.Second {
						t.Fatalf("way %d: faults %v after %v", i, got.Faults, time.Since(began))
					}
					compare(t, fmt.Sprintf("way %d", i), got, want)
				}
			})
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
		Clock: referee.Clock{Move: time.Minute, Margin: time.Second, Startup: time.Minute},
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
