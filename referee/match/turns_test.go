package match

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// thinker returns the connection of a bot in a bubble that thinks for some time in each of its turns, and
// appends the milliseconds of its turn lines to told.
func thinker(think func(turn int) time.Duration, told *[]int) BotConn {
	turn := -1
	return &slowed{
		talker: talker{answer: func(l protocol.RefLine) string {
			*told = append(*told, l.MS)
			return firstMove(l)
		}},
		think: func(int) time.Duration {
			turn++
			return think(turn)
		},
		share: func() float64 { return 0 },
	}
}

// Clocks: what a turn line tells, and when time is up.
func TestClocksOfTurns(t *testing.T) {
	const ms = time.Millisecond
	steady := func(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }
	for _, c := range []struct {
		name   string
		clock  referee.Clock
		think  func(turn int) time.Duration
		late   int // the turn whose answer is too late, -1 if none is
		reason string
	}{
		{"movetime", referee.Clock{Move: 20 * time.Second}, steady(ms), -1, ""},
		{"within the margin", referee.Clock{Move: ms, Margin: 20 * time.Second}, steady(3 * ms), -1, ""},
		{"too late", referee.Clock{Move: 150 * ms, Margin: 100 * ms}, func(turn int) time.Duration { return max(0, time.Duration(turn-2)) * time.Minute }, 3, "no move within 150 ms and the margin of 100 ms: answer within"},
		{"bank", referee.Clock{Bank: 20 * time.Second}, steady(2 * ms), -1, ""},
		{"bank and inc", referee.Clock{Bank: 20 * time.Second, Inc: 5 * ms}, steady(2 * ms), -1, ""},
		{"an empty bank and the margin", referee.Clock{Bank: ms, Margin: 20 * time.Second}, steady(3 * ms), -1, ""},
		{"an empty bank", referee.Clock{Bank: 300 * ms, Margin: 0}, func(turn int) time.Duration {
			if turn == 1 {
				return time.Minute
			}
			return 0
		}, 1, "no move within the rest of its bank and the margin of 0 ms: answer within"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told []int
				c.clock.Startup = time.Minute
				m := &Match{Variant: variant(t, "brisca", ""), Bots: named(2), Seed: rules.Seed{1}, Clock: c.clock}
				m.start = starter{"bot0": func() BotConn { return thinker(c.think, &told) }}.start
				g := oneGame(t, m)
				valid(t, &g.Replay)
				checkTold(t, c.clock, g, told)
				if c.late < 0 {
					if len(g.Faults) > 0 {
						t.Errorf("faults: %v", g.Faults)
					}
					return
				}
				if len(g.Faults) != 1 || g.Faults[0].Code != protocol.Timeout || g.Faults[0].Seat != 0 || !strings.HasPrefix(g.Faults[0].Text, c.reason) {
					t.Fatalf("faults: %v, want a timeout: %s", g.Faults, c.reason)
				}
				if len(told) != c.late+1 {
					t.Errorf("the time was up at turn %d, want %d", len(told)-1, c.late)
				}
			})
		})
	}
}

// checkTold computes from the times of a replay the turn lines that seat 0 must have got. Times are rounded
// up to a microsecond, so a difference of a millisecond is possible.
func checkTold(t *testing.T, c referee.Clock, g *referee.GameResult, told []int) {
	t.Helper()
	bank := c.Bank.Seconds() * 1e3
	turn := 0
	for _, m := range g.Moves {
		if m.Seat != 0 {
			continue
		}
		if c.Bank == 0 {
			if told[turn] != int(c.Move.Milliseconds()) {
				t.Errorf("turn %d: told %d ms, want %v", turn, told[turn], c.Move)
			}
		} else {
			if told[turn] < int(bank) || told[turn] > int(bank)+1 {
				t.Errorf("turn %d: told %d ms, want %.3f rounded down", turn, told[turn], bank)
			}
			bank = max(0, bank-(m.MS-m.Credit)) + c.Inc.Seconds()*1e3
		}
		turn++
	}
	if turn == 0 {
		t.Error("there are no turns")
	}
}
