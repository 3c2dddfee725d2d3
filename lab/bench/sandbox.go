package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
	"github.com/timba-arena/timba/sample-bots/starters"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

// sandboxBench measures the cost of sandboxes. The ways alternate, so that the machine's load
// affects all of them.
type sandboxBench struct {
	Bench
	ctx  context.Context
	dir  string   // for the bots
	only []string // languages; nil for all
	ways []way
	rows []Cost
}

// way is how a bot runs: without a sandbox if sandbox is nil.
type way struct {
	name    string
	sandbox *referee.Sandbox
}

// Cost is a row of `timba-lab bench sandbox --json`. Its fields are a stable format.
type Cost struct {
	What   string  `json:"what"` // start, turn or twelve
	Bot    string  `json:"bot"`
	Way    string  `json:"way"` // bare, a level, or the best one with "frozen"
	Unit   string  `json:"unit"`
	Median float64 `json:"median"`
	Low    float64 `json:"low_quartile"`
	High   float64 `json:"high_quartile"`
	Ratio  float64 `json:"ratio"`          // of the median to that of bare
	Goal   float64 `json:"goal,omitempty"` // of the ratio, at most; 0 for none
	Over   float64 `json:"over"`           // the median less that of bare
}

// Sandbox measures the cost of sandboxes: the start of starters in some languages (nil for all),
// and turns.
func (b Bench) Sandbox(ctx context.Context, languages []string) ([]Cost, error) {
	s := sandboxBench{Bench: b, ctx: ctx, only: languages}
	err := s.run()
	return s.rows, err
}

func (b *sandboxBench) run() error {
	best := sandbox.Probe().Level
	if best < sandbox.Reduced {
		return fmt.Errorf("bench: the sandbox of this machine has only level %s: timba doctor shows what is missing", best)
	}
	b.ways = []way{{"bare", nil}}
	for level := best; level >= sandbox.Reduced; level-- {
		b.ways = append(b.ways, way{level.String(), &referee.Sandbox{Level: level, Limit: sandbox.DefaultLimit}})
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
		sandbox.Forget(b.dir)
	}()
	if err := b.turns(best); err != nil {
		return err
	}
	return b.starts()
}

// starts measures the start of each language's starter, and of twelve in Python at once.
func (b *sandboxBench) starts() error {
	var python *program.Program
	list := starters.Languages
	if b.only != nil {
		list = nil
		for _, word := range b.only {
			l, err := starters.Find(word)
			if err != nil {
				return err
			}
			list = append(list, l)
		}
	}
	for _, l := range list {
		if missing := l.Missing(); missing != nil {
			fmt.Fprintf(b.Log, "bench: %s is left out: %v is not installed\n", l.Title, missing)
			continue
		}
		dir := filepath.Join(b.dir, l.Name)
		if _, err := l.Write(dir); err != nil {
			return err
		}
		if err := os.Chmod(b.dir, 0o755); err != nil {
			return fmt.Errorf("bench: %w", err)
		}
		p, err := b.program(b.ctx, dir)
		if err != nil {
			fmt.Fprintf(b.Log, "bench: %s is left out: %v\n", l.Title, err)
			continue
		}
		// Not by the shim of a version manager, which sandboxes look behind.
		found, err := interpreter.Find(p.Command[0], p.Dir)
		if err != nil {
			return err
		}
		p.Command[0] = found.Path
		if l.Name == "python" {
			python = &p
		}
		if err := b.start("start", l.Title, p, 1); err != nil {
			return err
		}
	}
	if python == nil {
		return nil
	}
	return b.start("twelve", "Python", *python, 12)
}

// start measures the start of n bots at once.
func (b *sandboxBench) start(what, title string, p program.Program, n int) error {
	times := make([][]float64, len(b.ways))
	_, err := b.startOnce(p.Bot, n) // fills the disk cache
	for began := time.Now(); err == nil && (time.Since(began) < b.Time || len(times[0]) < 5); {
		for i, w := range b.ways {
			bot := p.Bot
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
		b.add(Cost{What: what, Bot: title, Way: w.name, Unit: "ms"}, times[i], times[0])
	}
	return nil
}

// startOnce starts n bots from one thread, whose end kills them, and waits until all are ready.
func (b *sandboxBench) startOnce(bot referee.Bot, n int) (took time.Duration, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		var bots []*referee.Process
		defer func() {
			for _, p := range bots {
				p.Close()
			}
		}()
		began := time.Now()
		for range n {
			p, startErr := referee.Start(b.ctx, bot, referee.Clock{Startup: time.Minute}, nil)
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

// turnGoal is the largest ratio of turn times with and without a sandbox.
const turnGoal = 1.1

// turns measures a turn of a card game and of a board game.
func (b *sandboxBench) turns(best sandbox.Level) error {
	bot, err := b.echo(b.ctx)
	if err != nil {
		return err
	}
	ways := slices.Clone(b.ways)
	if best == sandbox.Full {
		still := *b.ways[1].sandbox
		still.Freeze = true
		ways = append(ways, way{best.String() + ", frozen", &still})
	}
	for _, name := range []string{"brisca", "teeko"} {
		g, err := games.Find(name)
		if err != nil {
			return err
		}
		if err := b.turn(g, bot.Bot, ways); err != nil {
			return err
		}
	}
	return nil
}

func (b *sandboxBench) turn(g *rules.Game, bot referee.Bot, ways []way) error {
	m, err := newMatch(g, bot)
	if err != nil {
		return err
	}
	times := make([][]float64, len(ways))
	for began := time.Now(); time.Since(began) < b.Time || len(times[0]) < rounds; {
		for i, w := range ways {
			for j := range m.Bots {
				m.Bots[j].Sandbox = w.sandbox
			}
			moves, took, err := play(b.ctx, m)
			if err != nil {
				return err
			}
			times[i] = append(times[i], took.Seconds()/float64(moves)*1e6)
		}
	}
	for i, w := range ways {
		row := Cost{What: "turn", Bot: g.Name, Way: w.name, Unit: "µs"}
		if w.sandbox != nil && !w.sandbox.Freeze {
			row.Goal = turnGoal
		}
		b.add(row, times[i], times[0])
	}
	return nil
}

// add sets a row's figures; those of bare are from the same rounds. The ratio is the median of
// the ratios of the rounds, which does not depend on the machine's load.
func (b *sandboxBench) add(r Cost, times, bare []float64) {
	ratios := make([]float64, len(times))
	for i := range times {
		ratios[i] = times[i] / bare[i]
	}
	r.Median, r.Low, r.High = quantile(times, 0.5), quantile(times, 0.25), quantile(times, 0.75)
	r.Ratio, r.Over = quantile(ratios, 0.5), r.Median-quantile(bare, 0.5)
	b.rows = append(b.rows, r)
}
