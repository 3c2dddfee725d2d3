package check

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sample-bots/misbehave/faults"
	"github.com/timba-arena/timba/sandbox"
)

// resolve returns the program of a BOT.
func resolve(t testing.TB, bot string) program.Program {
	t.Helper()
	p, err := program.Resolver{}.Resolve(t.Context(), bot)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// checkup is a bot to check, and the options of the check. Its times are long, unless change makes them short.
type checkup struct {
	name string
	bot  string
	// serve, if not nil, is the bot in place of a process: the check is in a bubble, where only what
	// the bot and the check wait for takes time.
	serve  func(in io.Reader, out, err io.Writer) error
	change func(*Options)
}

// checked runs the checkups and returns the reports by name.
func checked(t *testing.T, list []checkup) map[string]*Report {
	t.Helper()
	kit.Slow(t)
	sandbox.RemoveAtEnd("none") // the cleaner runs from now on, outside of bubbles
	sandbox.CancelRemoveAtEnd("none")
	reports := map[string]*Report{}
	for _, c := range list {
		p := resolve(t, c.bot)
		o := Defaults()
		o.Clock.Move, o.Clock.Startup = time.Minute, time.Minute
		o.Quick, o.Waits.Pause, o.Time = true, 10*time.Millisecond, time.Hour
		o.OnGame = func(g *referee.GameResult) {
			for _, d := range g.Verify(kit.Get[*rules.Game](t)(games.Find(g.Game))) {
				t.Errorf("%s: the replay of game %d: %v", c.name, g.Match.Deal, d)
			}
		}
		if c.change != nil {
			c.change(&o)
		}
		if c.serve == nil {
			o.Waits.Grace = time.Hour
			reports[c.name] = kit.Get[*Report](t)(Run(t.Context(), p, o))
		} else {
			synctest.Test(t, func(t *testing.T) {
				reports[c.name] = kit.Get[*Report](t)(examine(t.Context(), startInside(c.serve), p, o))
				time.Sleep(2 * time.Hour) // until the bot has ended, too
			})
		}
	}
	return reports
}

// inside is a bot that is part of the test and has a stderr.
type inside struct {
	match.BotConn
	mu  sync.Mutex
	err []byte
}

// startInside starts bots that run in the test by Serve, and that may exit.
func startInside(serve func(in io.Reader, out, err io.Writer) error) startFunc {
	return func(ctx context.Context, b match.Contestant, clock referee.Clock, around func(match.BotConn) match.BotConn) (*match.BotProcess, error) {
		p := new(inside)
		b.Serve = func(in io.Reader, out io.Writer) (err error) {
			defer func() {
				switch v := recover().(type) {
				case nil:
				case exit:
					err = fault.Reason{Kind: fault.Exited, Status: int(v)}
				default:
					fmt.Fprintf(p, "panic: %v\n\ngoroutine 1 [running]:\n", v)
					err = fault.Reason{Kind: fault.Exited, Status: 2}
				}
			}()
			return serve(in, out, p)
		}
		return match.Start(ctx, b, clock, func(c match.BotConn) match.BotConn {
			p.BotConn = c
			return around(p)
		})
	}
}

// exit is a panic by which a bot in the test ends as by os.Exit.
type exit int

func (p *inside) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = append(p.err, data...)
	return len(data), nil
}

func (p *inside) Stderr() (data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	data, p.err = p.err, nil
	return data
}

// playHouse returns a house bot for a checkup.
func playHouse(spec string) func(in io.Reader, out, err io.Writer) error {
	return func(in io.Reader, out, _ io.Writer) error { return house.Run(spec, in, out) }
}

// misbehave returns a bot with this fault for a checkup.
func misbehave(fault string, change func(*faults.Bot)) func(in io.Reader, out, err io.Writer) error {
	return func(in io.Reader, out, err io.Writer) error {
		f, ok := faults.Find(fault)
		if !ok {
			return fmt.Errorf("there is no fault %q", fault)
		}
		b := faults.Bot{Input: io.NopCloser(in), Output: writeCloser{out}, Log: err, Fault: f, Game: 1, Exit: func(status int) { panic(exit(status)) }}
		if change != nil {
			change(&b)
		}
		return b.Run()
	}
}

// writeCloser is a writer that is not closed.
type writeCloser struct{ io.Writer }

func (writeCloser) Close() error { return nil }

// summary returns a report in the form that people see.
func summary(r *Report) string {
	var b bytes.Buffer
	for _, c := range r.Checks {
		c.WriteLine(&b)
	}
	r.WriteSummary(&b)
	return b.String()
}

// hasNodes reports whether the option "nodes" can limit how long a house bot thinks.
func hasNodes(b house.Bot) bool {
	return slices.ContainsFunc(b.Options(), func(o house.BotOption) bool { return o.Name == "nodes" })
}

func oneGame(t testing.TB, name string) []*rules.Game {
	t.Helper()
	g, err := games.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return []*rules.Game{g}
}

// slow is a bot that thinks for some time before each answer.
func slow(b *beginner) {
	b.answer = func(b *beginner, moves []string) string {
		time.Sleep(30 * time.Millisecond)
		return first(b, moves)
	}
}

// deaf is a bot that does not read its input after the first turn.
func deaf(b *beginner) {
	b.answer = func(b *beginner, moves []string) string {
		io.WriteString(b.out, first(b, moves))
		time.Sleep(time.Hour)
		return ""
	}
}

// The time that other programs take from a bot does not count as time of the check: no game is left out
// because of it, and the start is not reported as slow. Yield gets the time without it.
func TestCreditTakesNoTime(t *testing.T) {
	const hold = 20 * time.Second
	var own time.Duration
	reports := checked(t, []checkup{{"held", "@first", func(in io.Reader, out, _ io.Writer) error {
		held := func() {
			out.(match.Holder).Hold(true)
			time.Sleep(hold)
			out.(match.Holder).Hold(false)
		}
		held()
		return protocol.Serve(in, out, "held", "1", func(turn *protocol.Turn) protocol.Answer {
			if turn.Ply < 2 {
				held()
			}
			return protocol.Answer{Move: turn.Moves.Token(0)}
		})
	}, func(o *Options) {
		o.Clock, o.Time = referee.DefaultClock, hold
		o.Yield = func(d time.Duration) error {
			own = d
			return nil
		}
	}}})
	if r := reports["held"]; r.Verdict != OK || own > hold/10 {
		t.Errorf("the check has taken %v:\n%s", own, summary(r))
	}
}

// A check ends at the next line for the bot if Yield returns an error.
func TestYield(t *testing.T) {
	kit.Slow(t)
	over := errors.New("over")
	o := Defaults()
	o.Time, o.Waits.Grace = time.Hour, time.Hour
	o.Yield = func(time.Duration) error { return over }
	synctest.Test(t, func(t *testing.T) {
		if _, err := examine(t.Context(), startInside(playHouse("first")), resolve(t, "@first"), o); !errors.Is(err, over) {
			t.Errorf("the check ends with %v", err)
		}
	})
}

// An answer that comes while the check waits, but too late even with credit, is reported as late and not as
// missing.
func TestLateWithCredit(t *testing.T) {
	reports := checked(t, []checkup{{"late", "@first", func(in io.Reader, out, _ io.Writer) error {
		return protocol.Serve(in, out, "late", "1", func(turn *protocol.Turn) protocol.Answer {
			time.Sleep(time.Second)
			out.(match.Holder).Hold(true)
			time.Sleep(60 * time.Millisecond)
			out.(match.Holder).Hold(false)
			time.Sleep(55 * time.Millisecond)
			return protocol.Answer{Move: turn.Moves.Token(0)}
		})
	}, func(o *Options) { o.Clock = referee.DefaultClock }}})
	verdict{FirstGame, Failed, []string{"no move of ply 0 within 1000 ms and the margin: it came 5 ms later"}, "think for less"}.compare(t, reports["late"])
}

// starving is a connection of a bot that loses all its time to other programs.
type starving struct{ match.BotConn }

func (starving) Line(now, _ time.Time) ([]byte, time.Time, error) {
	return nil, now, &match.StarvedError{Bot: "mine"}
}

// If the machine is too busy for a bot, the check ends without a verdict.
func TestStarved(t *testing.T) {
	kit.Slow(t)
	o := Defaults()
	o.Time, o.Waits.Grace = time.Hour, time.Hour
	serve := startInside(playHouse("first"))
	start := func(ctx context.Context, b match.Contestant, c referee.Clock, around func(match.BotConn) match.BotConn) (*match.BotProcess, error) {
		return serve(ctx, b, c, func(c match.BotConn) match.BotConn { return around(starving{c}) })
	}
	synctest.Test(t, func(t *testing.T) {
		r, err := examine(t.Context(), start, resolve(t, "@first"), o)
		if _, ok := errors.AsType[*match.StarvedError](err); !ok || r != nil {
			t.Errorf("the check ends with %v, %v", r, err)
		}
	})
}

// reluctant is a connection of a bot that reads lines in parts and slowly, because of other programs.
type reluctant struct {
	match.BotConn
	held bool
	sent int
}

func (c *reluctant) Send(lines []byte, deadline time.Time) (int, error) {
	if c.sent++; c.sent%2 == 0 {
		return c.BotConn.Send(lines, deadline)
	}
	c.held = true
	n, err := c.BotConn.Send(lines[:len(lines)/2], deadline)
	return n, cmp.Or(err, error(fault.Reason{Kind: fault.NotReading}))
}

func (c *reluctant) Loss(since, now time.Time, answered bool) fairclock.Loss {
	loss := c.BotConn.Loss(since, now, answered)
	if c.held && !answered {
		loss.Possible += time.Minute
	}
	return loss
}

// busy is a connection for which nothing was measured in the first part of a turn, which counts as lost.
type busy struct {
	match.BotConn
	first time.Time // when the measuring began
}

func (b busy) Loss(since, _ time.Time, _ bool) fairclock.Loss {
	return fairclock.Loss{}.Plus(max(0, b.first.Sub(since)))
}

// The pauses of a check before it has sent a turn are not the bot's time, and are not counted again as credit.
func TestPausesCountOnce(t *testing.T) {
	const ms = time.Millisecond
	began := time.Now()
	s := &session{run: new(run), watch: stopwatch{pauses: 40 * ms}, BotConn: busy{first: began.Add(50 * ms)}}
	if loss := s.Loss(began, began.Add(100*ms), true); loss != (fairclock.Loss{}).Plus(50*ms) {
		t.Errorf("lost %+v, want the 40 ms of the pauses and 10 ms behind them", loss)
	}
}

// If a bot cannot read lines in time because of other programs, it still gets them once and in order, in
// every style.
func TestLinesInParts(t *testing.T) {
	kit.Slow(t)
	o := Defaults()
	o.Quick, o.Time, o.Waits.Grace = true, time.Hour, time.Hour
	serve := startInside(playHouse("first"))
	start := func(ctx context.Context, b match.Contestant, c referee.Clock, around func(match.BotConn) match.BotConn) (*match.BotProcess, error) {
		return serve(ctx, b, c, func(c match.BotConn) match.BotConn { return around(&reluctant{BotConn: c}) })
	}
	synctest.Test(t, func(t *testing.T) {
		if r := kit.Get[*Report](t)(examine(t.Context(), start, resolve(t, "@first"), o)); r.Verdict != OK {
			t.Error(summary(r))
		}
	})
}

// The checks after the games are made also for a bot that fails in a variant of its only game.
func TestOneGameThatFails(t *testing.T) {
	report := checked(t, []checkup{{"fails", "@first", begin(crashes(func(_ *beginner, line string, words []string) string {
		if words[0] == "novelty" || words[0] == "game" && !strings.Contains(line, " players=2 ") {
			return "ValueError: " + words[0]
		}
		return ""
	})), func(o *Options) { o.Games = oneGame(t, "brisca") }}})["fails"]
	for name, want := range map[string]CheckStatus{"brisca": Failed, ManyGames: Skipped, Verbs: Failed, Keys: OK, Faults: OK} {
		if c := report.Find(name); c.Status != want {
			t.Errorf("%q is %s, want %s: %s %q", name, c.Status, want, c.Note, c.Warnings)
		}
	}
}

// A game that fails in a process that has played others counts as failed if there is no time to repeat it in
// a new process.
func TestRepetitionTakesTooLong(t *testing.T) {
	failed := false
	report := checked(t, []checkup{{"slow", "@first", begin(func(b *beginner) {
		b.other = func(b *beginner, line string, words []string) string {
			if words[0] == "game" && b.games > 1 && strings.Contains(line, " players=3 ") {
				failed = true
				b.crash("IndexError: seat 2")
			}
			return ""
		}
		b.answer = func(b *beginner, moves []string) string {
			if failed && b.games == 1 {
				time.Sleep(50 * time.Second)
			}
			return first(b, moves)
		}
	}), func(o *Options) { o.Games, o.Time = oneGame(t, "brisca"), time.Minute }}})["slow"]
	verdict{"brisca", Failed, []string{"exited"}, ""}.compare(t, report)
	if c := report.Find(ManyGames); c.Failure != nil {
		t.Errorf("%q says %q", c.Name, c.Failure.Text)
	}
}

// "bye" is tested after games also if the check before it has ended the process.
func TestByeAfterGames(t *testing.T) {
	report := checked(t, []checkup{{"stays", "@first", begin(func(b *beginner) {
		b.other = func(b *beginner, line string, words []string) string {
			switch {
			case words[0] == "game" && strings.Contains(line, " bank="):
				b.crash("KeyError: movetime")
			case words[0] == "bye" && b.games > 0:
				return "#\n"
			}
			return ""
		}
	}), func(o *Options) { o.Games = oneGame(t, "teeko") }}})["stays"]
	if bank, bye := report.Find(Bank), report.Find(Bye); bank.Status != Failed || bye.Status != Failed {
		t.Errorf("%q is %s, %q is %s: %s", bank.Name, bank.Status, bye.Name, bye.Status, bye.Note)
	}
}
