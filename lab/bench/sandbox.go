package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/sample-bots/starters"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

// Sandbox measures how much more time bots need in a sandbox: to start, and for each turn.
type Sandbox struct {
	Time      time.Duration // approximate time for each row
	Languages []string      // languages of the starter bots to start; nil means all
}

// Run runs the measurement. If a language is not installed, Run leaves it out and says so in log.
func (b Sandbox) Run(ctx context.Context, log io.Writer) (*Report, error) {
	s := sandboxBench{
		Sandbox: b, ctx: ctx, log: log,
		table: newTable("what|bot|way|unit|median|low quartile|high quartile|over bare|ratio"),
	}
	err := s.run()
	return newReport(s.table), err
}

// sandboxBench is a Sandbox measurement in progress. In each round it runs bots without a sandbox and in
// sandboxes of every strictness, so that the load of the machine affects all of them equally.
type sandboxBench struct {
	Sandbox
	ctx   context.Context
	log   io.Writer
	dir   string // directory of the bots
	ways  []way  // without a sandbox first
	table Table
}

// way is a way to run a bot: in a sandbox, or without one if sandbox is nil.
type way struct {
	name    string
	sandbox *match.Sandbox
}

func (b *sandboxBench) run() error {
	best := sandbox.Probe().Level
	if best < sandbox.LevelReduced {
		return fmt.Errorf("bench: the sandbox of this machine has only level %s: timba doctor shows what is missing", best)
	}
	b.ways = []way{{"bare", nil}}
	for level := best; level >= sandbox.LevelReduced; level-- {
		b.ways = append(b.ways, way{level.String(), &match.Sandbox{Level: level, Limit: sandbox.DefaultLimit}})
	}
	cache, err := program.CacheDir("bench")
	if err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp(cache, "bots-"); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	sandbox.RemoveAtEnd(b.dir)
	defer func() {
		os.RemoveAll(b.dir)
		sandbox.CancelRemoveAtEnd(b.dir)
	}()
	if err := b.measureTurns(best); err != nil {
		return err
	}
	return b.measureStarts()
}

// measureStarts measures the start of the starter bot in each language, and of twelve bots in Python at once.
func (b *sandboxBench) measureStarts() error {
	var python *match.Contestant
	list := starters.Languages
	if b.Languages != nil {
		list = nil
		for _, word := range b.Languages {
			l, err := starters.Find(word)
			if err != nil {
				return err
			}
			list = append(list, l)
		}
	}
	for _, l := range list {
		if missing := l.MissingPrograms(); missing != nil {
			fmt.Fprintf(b.log, "bench: %s is left out: %v is not installed\n", l.Title, missing)
			continue
		}
		dir := filepath.Join(b.dir, l.Name)
		if _, err := l.Write(dir); err != nil {
			return err
		}
		if err := os.Chmod(b.dir, 0o755); err != nil {
			return fmt.Errorf("bench: %w", err)
		}
		bot, err := findBot(b.ctx, dir)
		if err != nil {
			fmt.Fprintf(b.log, "bench: %s is left out: %v\n", l.Title, err)
			continue
		}
		// Start the interpreter itself, as sandboxes do, and not the shim of a version manager.
		found, err := interpreter.Find(bot.Command[0], bot.Dir)
		if err != nil {
			return err
		}
		bot.Command[0] = found.Path
		if l.Name == "python" {
			python = &bot
		}
		if err := b.measureStart("start", l.Title, bot, 1); err != nil {
			return err
		}
	}
	if python == nil {
		return nil
	}
	return b.measureStart("twelve", "Python", *python, 12)
}

func (b *sandboxBench) measureStart(what, title string, bot match.Contestant, n int) error {
	times := make([][]float64, len(b.ways))
	_, err := b.startOnce(bot, n) // fills the disk cache
	for began := time.Now(); err == nil && (time.Since(began) < b.Time || len(times[0]) < 5); {
		for i, w := range b.ways {
			bot.Sandbox = w.sandbox
			var took time.Duration
			if took, err = b.startOnce(bot, n); err != nil {
				break
			}
			times[i] = append(times[i], took.Seconds()*1e3)
		}
	}
	if err != nil {
		return fmt.Errorf("bench: starting the bot in %s: %w", title, err)
	}
	for i, w := range b.ways {
		b.addRow(what, title, w, "ms", times[i], times[0])
	}
	return nil
}

// startOnce starts n processes of a bot from one thread. It returns the time until all have answered the greeting,
// and stops the processes before it returns.
func (b *sandboxBench) startOnce(bot match.Contestant, n int) (took time.Duration, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		var bots []*match.BotProcess
		defer func() {
			for _, p := range bots {
				p.Close()
			}
		}()
		began := time.Now()
		for range n {
			p, startErr := match.Start(b.ctx, bot, referee.Clock{Startup: time.Minute}, nil)
			if startErr != nil {
				err = startErr
				return
			}
			bots = append(bots, p)
		}
		for _, p := range bots {
			if _, err = p.Greet(); err != nil {
				err = errors.Join(err, fmt.Errorf("its stderr is %q", p.Stderr()))
				return
			}
		}
		took = time.Since(began)
	}()
	<-done
	return took, err
}

func (b *sandboxBench) measureTurns(best sandbox.Level) error {
	bot, err := echoBot(b.ctx, b.log)
	if err != nil {
		return err
	}
	ways := slices.Clone(b.ways)
	if best == sandbox.LevelFull {
		still := *b.ways[1].sandbox
		still.Freeze = true
		ways = append(ways, way{best.String() + ", frozen", &still})
	}
	for _, name := range []string{"brisca", "teeko"} {
		g, err := games.Find(name)
		if err != nil {
			return err
		}
		if err := b.measureTurn(g, bot, ways); err != nil {
			return err
		}
	}
	return nil
}

func (b *sandboxBench) measureTurn(g *rules.Game, bot match.Contestant, ways []way) error {
	m, err := newMatch(g, bot)
	if err != nil {
		return err
	}
	times := make([][]float64, len(ways))
	for began := time.Now(); time.Since(began) < b.Time || len(times[0]) < measureRounds; {
		for i, w := range ways {
			for j := range m.Bots {
				m.Bots[j].Sandbox = w.sandbox
			}
			moves, took, err := playMatch(b.ctx, m)
			if err != nil {
				return err
			}
			times[i] = append(times[i], took.Seconds()/float64(moves)*1e6)
		}
	}
	for i, w := range ways {
		b.addRow("turn", g.Name, w, "µs", times[i], times[0])
	}
	return nil
}

// addRow adds a row to the report. what is the name of the measurement, and w says how the bot was run. The row
// has the quartiles of times, in the given unit. bare has the times in the same rounds without a sandbox. The last
// cell is the median of the ratios times/bare, which does not depend on the load of the machine.
func (b *sandboxBench) addRow(what, bot string, w way, unit string, times, bare []float64) {
	median, low, high := quantile(times, 0.5), quantile(times, 0.25), quantile(times, 0.75)
	row := []any{what, bot, w.name, unit, twoDecimals(median), twoDecimals(low), twoDecimals(high)}
	if w.sandbox != nil {
		row = append(row, figure{"%+.2f", median - quantile(bare, 0.5)}, twoDecimals(quantile(ratios(times, bare), 0.5)))
	}
	b.table.add(row...)
}
