package match

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// Clocks: each bot is told its own clock, at every seat, and has the time of that clock; the replay keeps it.
func TestOwnClocks(t *testing.T) {
	const ms = time.Millisecond
	v := variant(t, "teeko", "limit=12")
	own := referee.Clock{Bank: 40_000 * ms, Inc: 3 * ms, Margin: 70 * ms, Startup: time.Minute}
	common := referee.Clock{Move: 30_000 * ms, Margin: 50 * ms, Startup: time.Minute}
	want := map[string]string{"bot0": " bank=40000 inc=3\n", "bot1": " movetime=30000\n"}
	m := &Match{Variant: v, Bots: named(2), Deals: 2, Seed: rules.Seed{1}, Clock: common, start: starter{}.start}
	m.Bots[0].Clock = &own
	lines := map[string][]byte{} // by deal, rotation, seat
	m.Observer.Trace = func(p referee.Traffic) {
		if !p.FromBot {
			key := fmt.Sprint(p.Deal, p.Rotation, p.Seat)
			lines[key] = append(lines[key], p.Lines...)
		}
	}
	played := 0
	kit.Must(t, m.Play(t.Context(), func(g *referee.GameResult) error {
		played++
		valid(t, &g.Replay)
		for seat, s := range g.Seats {
			told := lines[fmt.Sprint(g.Match.Deal, g.Match.Rotation, seat)]
			begin, turn := between(told, "game "), between(told, "turn ")
			if !strings.HasSuffix(begin, want[s.Name]) {
				t.Errorf("%s at seat %d is told %q, want %q", s.Name, seat, begin, want[s.Name])
			}
			if clock := g.ClockOf(seat).Clock(); s.Name == "bot0" && clock != (referee.Clock{Bank: own.Bank, Inc: own.Inc, Margin: own.Margin}) || s.Name == "bot1" && s.Clock != nil {
				t.Errorf("%s at seat %d has the clock %+v in the replay", s.Name, seat, s.Clock)
			}
			if first := fmt.Sprintf(" %d ", map[string]int{"bot0": 40_000, "bot1": 30_000}[s.Name]); !strings.Contains(turn, first) {
				t.Errorf("%s at seat %d has the first turn %q, want%q", s.Name, seat, turn, first)
			}
			again, err := g.Traffic(v.Game, seat)
			if err != nil {
				t.Fatal(err)
			}
			var rebuilt []byte
			for _, p := range again {
				if !p.FromBot {
					rebuilt = append(rebuilt, p.Lines...)
				}
			}
			if game, turns := between(rebuilt, "game "), between(rebuilt, "turn "); game != begin || turns != turn {
				t.Errorf("seat %d: the replay gives %q and %q, want %q and %q", seat, game, turns, begin, turn)
			}
		}
		return nil
	}))
	if played != 4 {
		t.Errorf("%d games, want 4", played)
	}
}

// Clocks: a bot is late by its own clock, whatever the others have, and so is a replay.
func TestOwnClocksAreKept(t *testing.T) {
	short := referee.Clock{Move: 500 * time.Millisecond, Margin: 300 * time.Millisecond, Startup: time.Minute}
	for _, slow := range []string{"bot0", "bot1"} {
		synctest.Test(t, func(t *testing.T) {
			m := &Match{Variant: variant(t, "teeko", "limit=12"), Bots: named(2), Seed: rules.Seed{1}, Clock: patient}
			m.Bots[0].Clock = &short
			m.start = starter{slow: func() BotConn {
				return thinker(func(turn int) time.Duration {
					if turn == 1 {
						return 900 * time.Millisecond // longer than the time of one
					}
					return 0
				}, new([]int))
			}}.start
			g := oneGame(t, m)
			valid(t, &g.Replay)
			if slow == "bot1" {
				if slices.ContainsFunc(g.Faults, func(f referee.Fault) bool { return g.Seats[f.Seat].Name == slow }) {
					t.Errorf("%s has time and is late: %v", slow, g.Faults)
				}
				return
			}
			want := "no move within 500 ms and the margin of 300 ms"
			if len(g.Faults) != 1 || g.Faults[0].Code != protocol.Timeout || !strings.HasPrefix(g.Faults[0].Text, want) {
				t.Errorf("%s: %v, want %s", slow, g.Faults, want)
			}
			if c, err := g.Circumstances(m.Variant.Game, g.Faults[0], nil); err != nil || c.Turn.Movetime != 500 {
				t.Errorf("advice is for %d ms, %v", c.Turn.Movetime, err)
			}
			r := g.Replay
			for i := range r.Moves {
				if r.Moves[i].Seat == 0 {
					r.Moves[i].MS = 801
					break
				}
			}
			if got := r.Verify(m.Variant.Game); len(got) != 1 || !strings.Contains(got[0].Error(), "it took 801 ms where seat 0 had 800ms with the margin") {
				t.Errorf("a move that is too slow for its own clock: %v", got)
			}

		})
	}
}

// Clocks: a bot's own clock is checked as that of a match is.
func TestOwnClocksCheck(t *testing.T) {
	m := &Match{Variant: variant(t, "teeko", ""), Bots: named(2), Deals: 1, Clock: patient}
	m.Bots[1].Clock = &referee.Clock{Move: time.Second, Bank: time.Second, Startup: time.Second}
	if err := m.Check(); err == nil || err.Error() != `match: bot "bot1": clock: movetime and bank cannot both be set: choose one` {
		t.Error(err)
	}
}
