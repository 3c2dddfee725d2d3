package match

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/sample-bots/house"
)

// slowed is the connection of a bot that thinks for some time, and loses a share of the time of its turn to others.
type slowed struct {
	talker
	think  func(ply int) time.Duration
	share  func() float64
	answer time.Time
}

func (c *slowed) Send(data []byte, deadline time.Time) (int, error) {
	for line := range strings.Lines(string(data)) {
		if l, err := protocol.ParseReferee([]byte(strings.TrimSuffix(line, "\n"))); err == nil && l.Verb == protocol.RefTurn {
			c.answer = time.Now().Add(c.think(l.Ply))
		}
	}
	return c.talker.Send(data, deadline)
}

func (c *slowed) Line(now, deadline time.Time) ([]byte, time.Time, error) {
	if now.Before(deadline) && len(c.lines) > 0 {
		if c.answer.After(deadline) {
			time.Sleep(time.Until(deadline))
			return nil, time.Now(), ErrLate
		}
		time.Sleep(time.Until(c.answer))
	}
	if time.Now().Before(c.answer) {
		return nil, time.Now(), ErrLate
	}
	return c.talker.Line(time.Now(), deadline)
}

func (c *slowed) Loss(since, now time.Time, _ bool) fairclock.Loss {
	return fairclock.Loss{}.Plus(time.Duration(float64(now.Sub(since)) * c.share()).Round(time.Microsecond))
}

// slow returns a match whose first bot is slowed.
func slow(t testing.TB, clock referee.Clock, think func(ply int) time.Duration, share func() float64) *Match {
	t.Helper()
	m := &Match{Variant: variant(t, "brisca", ""), Bots: named(2), Deals: 1, Clock: clock, OnlyRotations: []int{0}}
	m.start = starter{"bot0": func() BotConn { return &slowed{talker: talker{answer: firstMove}, think: think, share: share} }}.start
	return m
}

// Clocks: a late bot gets exactly the time that others took, and the replay has it.
func TestClocksCredit(t *testing.T) {
	const ms = time.Millisecond
	clock := referee.Clock{Move: 100 * ms, Margin: 10 * ms, Startup: time.Second}
	for _, c := range []struct {
		think  time.Duration
		credit float64
		late   bool
	}{
		{100 * ms, 0, false},
		{440 * ms, 330, false}, // 110 of its own
		{444 * ms, 333, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := slow(t, clock, func(ply int) time.Duration { return c.think }, func() float64 { return .75 })
			g := playAll(t, m)[0]
			if c.late {
				if len(g.Faults) != 1 || g.Faults[0].Code != protocol.Timeout || g.Faults[0].Credit < 329 || g.Faults[0].Credit > c.credit {
					t.Errorf("%v: faults %+v, want a credit of %v", c.think, g.Faults, c.credit)
				}
				return
			}
			if len(g.Faults) > 0 {
				t.Fatalf("%v: faults %v", c.think, g.Faults)
			}
			for ply, mv := range g.Moves {
				if mv.Seat == 0 && (mv.Credit != c.credit || mv.MS != float64(c.think.Milliseconds())) {
					t.Fatalf("%v: move %d took %v ms with a credit of %v, want %v", c.think, ply, mv.MS, mv.Credit, c.credit)
				}
			}
		})
	}
}

// filler is the connection of a bot that does not answer, and uses more memory each second.
type filler struct {
	talker
	since  time.Time
	second int64 // bytes
	limit  int64
}

func (c *filler) Memory() (used, limit int64) {
	return int64(time.Since(c.since).Seconds() * float64(c.second)), c.limit
}

func (c *filler) Line(now, deadline time.Time) ([]byte, time.Time, error) {
	if len(c.lines) > 0 && strings.HasPrefix(string(c.lines[0]), "ready") {
		c.since = now
		return c.talker.Line(now, deadline)
	}
	time.Sleep(time.Until(deadline))
	if used, _ := c.Memory(); c.limit > 0 && used > c.limit {
		return nil, time.Now(), fault.Reason{Kind: fault.OutOfMemory, Limit: c.limit >> 20}
	}
	return nil, time.Now(), ErrLate
}

// Clocks: a bot that fills its memory has gone beyond its limit, whatever the clock says before.
func TestClocksMemory(t *testing.T) {
	clock := referee.Clock{Move: 100 * time.Millisecond, Startup: time.Second}
	for _, c := range []struct {
		second, limit int64
		want          protocol.Code
		after         time.Duration
	}{
		{64 << 20, 512 << 20, protocol.Memory, 9 * time.Second},
		{16 << 20, 512 << 20, protocol.Timeout, 2 * time.Second}, // not soon
		{64 << 20, 0, protocol.Timeout, 2 * time.Second},         // not known
	} {
		synctest.Test(t, func(t *testing.T) {
			m := &Match{Variant: variant(t, "brisca", ""), Bots: named(2), Deals: 1, Clock: clock, OnlyRotations: []int{0}, Patience: LatePatience}
			m.start = starter{"bot0": func() BotConn { return &filler{talker: talker{answer: firstMove}, second: c.second, limit: c.limit} }}.start
			began := time.Now()
			g := playAll(t, m)[0]
			if len(g.Faults) != 1 || g.Faults[0].Code != c.want || time.Since(began) > c.after {
				t.Errorf("%d of %d bytes a second: faults %+v after %v, want %s", c.second, c.limit, g.Faults, time.Since(began), c.want)
			}
		})
	}
}

// heldBack is the connection of a bot whose answers are read late, because the referee had no core.
type heldBack struct{ talker }

func (c *heldBack) Line(now, deadline time.Time) ([]byte, time.Time, error) {
	if len(c.lines) > 1 {
		time.Sleep(400 * time.Millisecond)
	}
	return c.talker.Line(time.Now(), deadline)
}

// Loss returns a loss only with an answer, which may have been there for long.
func (c *heldBack) Loss(since, now time.Time, answered bool) (l fairclock.Loss) {
	if answered {
		l = l.Plus(now.Sub(since))
	}
	return l
}

// Clocks: where the referee was late to read, no bot is blamed for the infos that stand before its move.
func TestClocksInfosBeforeMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &Match{Variant: variant(t, "brisca", ""), Bots: named(2), Deals: 1, OnlyRotations: []int{0}}
		m.Clock = referee.Clock{Move: 100 * time.Millisecond, Startup: time.Second}
		m.start = func(ctx context.Context, b Contestant, w *fairclock.Monitor) (BotConn, error) {
			return &heldBack{talker{answer: func(l protocol.RefLine) string { return "info score=1\n" + firstMove(l) }}}, nil
		}
		g := playAll(t, m)[0]
		if len(g.Faults) > 0 || len(g.Moves) == 0 || g.Moves[0].Info == nil {
			t.Errorf("the moves are %+v, the faults %v", g.Moves, g.Faults)
		}
	})
}

// Clocks: a bank pays the bot's own time alone, whether it is late or not, and the replay says how.
func TestClocksCreditOfBanks(t *testing.T) {
	const ms = time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		m := slow(t, referee.Clock{Bank: 500 * ms, Inc: 5 * ms, Startup: time.Second}, func(int) time.Duration { return 80 * ms }, func() float64 { return .75 })
		g := playAll(t, m)[0] // verified with its bank: 20 moves of 20 ms of its own
		if len(g.Faults) > 0 {
			t.Fatalf("faults %v", g.Faults)
		}
		traffic, err := g.Traffic(m.Variant.Game, 0)
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, block := range traffic {
			if turn := between(block.Lines, "turn"); turn != "" {
				left = append(left, strings.Fields(turn)[2])
			}
		}
		if want := []string{"500", "485", "470"}; !slices.Equal(left[:3], want) {
			t.Errorf("the bot was told of %v ms left, want %v", left[:3], want)
		}
		g.Moves[slices.IndexFunc(g.Moves, func(m referee.ReplayMove) bool { return m.Seat == 0 })].Credit = 81
		if err := g.Verify(m.Variant.Game); len(err) != 1 || !strings.Contains(err[0].Error(), "others cannot have taken 81 ms of that") {
			t.Errorf("too much credit: %v", err)
		}
	})
}

// between returns the first line that begins with a verb.
func between(lines []byte, verb string) string {
	for line := range bytes.Lines(lines) {
		if bytes.HasPrefix(line, []byte(verb)) {
			return string(line)
		}
	}
	return ""
}

// Clocks: a game is void only when its bot needs more than ten times its time. It is played again after
// the others, with pauses that grow while the machine is as busy, and nothing ends the match.
func TestClocksPlayedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := map[int]int{0: 8, 2: 2} // by deal, how often the machine is too busy
		deal := 0
		m := slow(t, referee.Clock{Move: time.Second, Startup: time.Second}, func(ply int) time.Duration {
			if ply < 2 && busy[deal] > 0 {
				return time.Hour
			}
			return time.Millisecond
		}, func() float64 { return .999 })
		m.Deals = 4
		m.Observer.Watch = func(p *referee.Game) { deal = p.Record.Match.Deal }
		var told []string
		began := time.Now()
		m.Observer.Trouble = func(err error) {
			v, ok := errors.AsType[*VoidError](err)
			if !ok {
				return
			}
			s, ok := errors.AsType[*StarvedError](err)
			if !ok || s.Bot != "bot0" || s.TurnTime < 11*time.Second || s.LostTime < 10*time.Second {
				t.Errorf("void for %+v", err)
			}
			busy[v.Deal]--
			told = append(told, fmt.Sprintf("void %d at %d s", v.Deal, time.Since(began)/time.Second))
		}
		kit.Must(t, m.Play(t.Context(), func(g *referee.GameResult) error {
			if len(g.Faults) > 0 {
				t.Errorf("faults %v", g.Faults)
			}
			told = append(told, fmt.Sprintf("done %d", g.Match.Deal))
			return nil
		}))
		want := []string{
			"void 0 at 11 s", "done 1", "void 2 at 22 s", "done 3", // the others first
			"void 0 at 33 s", "void 2 at 44 s", // their pauses of a second are over
			"void 0 at 55 s", "done 2", // after pauses of 2 s, which are over, too
			"void 0 at 70 s", "void 0 at 89 s", "void 0 at 116 s", "void 0 at 159 s", "void 0 at 230 s", // 4, 8, 16, 32, 60 s
			"done 0",
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// Clocks: a match that is called off while a game waits to be played again ends at once.
func TestClocksPlayedAgainCalledOff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := slow(t, patient, func(int) time.Duration { return 0 }, func() float64 { return 0 })
	start := m.start
	m.start = func(ctx context.Context, b Contestant, w *fairclock.Monitor) (BotConn, error) {
		made, err := start(ctx, b, w)
		return &broken{made, 2, &StarvedError{Bot: b.Name}}, err
	}
	m.Observer.Trouble = func(error) { cancel() }
	if err := m.Play(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the match ends with %v", err)
	}
}

// Clocks: in a game with a person, who has no clock, the bot is waited for without end: the game does not
// begin anew.
func TestClocksOfPeoplesGames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := slow(t, referee.Clock{Move: time.Second, Startup: time.Second}, func(ply int) time.Duration {
			if ply < 2 {
				return time.Hour
			}
			return 0
		}, func() float64 { return .9999 })
		m.Bots[1].Serve = func(in io.Reader, out io.Writer) error { return nil } // in place of which there is a talker
		g := playAll(t, m)[0]
		if len(g.Faults) > 0 {
			t.Errorf("faults %v", g.Faults)
		}
	})
}

// Clocks: while its clock is held, a bot without a process is waited for; the time is credit of its turn.
func TestClocksHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &Match{Variant: variant(t, "brisca", ""), Bots: named(2), Deals: 1, OnlyRotations: []int{0}, Clock: referee.Clock{Move: time.Second, Startup: time.Second}}
		m.Bots[0].Serve = func(in io.Reader, out io.Writer) error {
			hold := out.(Holder).Hold
			return protocol.Serve(in, out, "held", "1", func(turn *protocol.Turn) protocol.Answer {
				if turn.Ply < 2 {
					time.Sleep(900 * time.Millisecond)
					hold(true)
					time.Sleep(time.Minute)
					hold(false)
				}
				return protocol.Answer{Move: turn.Moves.Token(0)}
			})
		}
		m.Bots[1].Serve = func(in io.Reader, out io.Writer) error { return house.Run("first", in, out) }
		g := playAll(t, m)[0]
		if len(g.Faults) > 0 {
			t.Fatalf("faults %v", g.Faults)
		}
		first := g.Moves[slices.IndexFunc(g.Moves, func(m referee.ReplayMove) bool { return m.Seat == 0 })]
		if first.MS != 60900 || first.Credit != 60000 {
			t.Errorf("the first move took %v ms, %v of them credit", first.MS, first.Credit)
		}
	})
}

// Clocks: a match says once a minute that the machine is busy, while it is.
func TestClocksBusyIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		began := time.Now()
		r := reports{onTrouble: func(err error) {
			told = append(told, fmt.Sprint(time.Since(began), err.(*BusyError).OthersCPU))
		}}
		for range 100 {
			time.Sleep(time.Second)
			r.reportBusy(68*time.Millisecond, 200*time.Millisecond)
		}
		time.Sleep(10 * time.Minute)
		r.reportBusy(0, 0) // no bot was late
		if want := []string{"1s 340ms", "1m1s 340ms"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		r.reportBusy(time.Second, time.Second)
		if len(told) != 3 || told[2] != "11m40s 415ms" {
			t.Errorf("told %q", told)
		}
	})
}

// slowWaker is the connection of a bot that takes long to resume.
type slowWaker struct{ *talker }

func (c slowWaker) BeginTurn(time.Time, time.Duration) error {
	time.Sleep(20 * time.Millisecond)
	return nil
}

// lossConn is the connection of a bot that has lost a fixed time.
type lossConn struct {
	BotConn
	loss fairclock.Loss
}

func (c lossConn) Loss(time.Time, time.Time, bool) fairclock.Loss { return c.loss }

// Clocks: the error of a void game names the bot, and the time without a core by which the game was judged.
func TestClocksStarvedText(t *testing.T) {
	const ms = time.Millisecond
	start := time.Now()
	for _, c := range []struct {
		loss     fairclock.Loss
		answered bool
		want     string
	}{
		{fairclock.Loss{Certain: 2200 * ms, Possible: 2200 * ms}, true, `the machine is too busy: "mine" had no core for 2200 of the 2239 ms of a turn`},
		{fairclock.Loss{Certain: 2200 * ms, Possible: 2200 * ms}, false, `the machine is too busy: "mine" had no core for 2200 of the 2239 ms of a turn`},
		{fairclock.Loss{Certain: 8 * ms, Possible: 2235 * ms}, false, `the machine is too busy: "mine" may have had no core for 2235 of the 2239 ms of a turn`},
	} {
		s := &seat{Contestant: Contestant{Name: "mine"}, table: &table{reportBusy: func() {}}, session: &session{conn: lossConn{loss: c.loss}}}
		_, err := s.judge(fairclock.NewAllowance(start, 100*ms, 5*ms), start.Add(2239*ms), c.answered, fault.Reason{})
		if err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
