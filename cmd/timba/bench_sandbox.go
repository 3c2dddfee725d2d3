package main

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

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
	"github.com/timba-arena/timba/sample-bots/starters"
	"github.com/timba-arena/timba/sandbox"
)

// sandboxBench measures what holding bots costs: ways take turns, so that the
// machine's moods fall on all of them.
type sandboxBench struct {
	ctx      context.Context
	log      io.Writer
	duration time.Duration // of each row's measurements, about
	folder   string        // for the bots
	only     []string      // languages; nil for all
	ways     []way
	rows     []costRow
}

// way is how a bot runs: bare where hold is nil.
type way struct {
	name string
	hold *referee.Hold
}

// costRow is a figure of `timba bench sandbox --json`; its fields stay.
type costRow struct {
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

func newBenchSandbox() *cobra.Command {
	var asJSON bool
	b := sandboxBench{}
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Measure what holding bots costs",
		Long: "Measures bots without a sandbox and in one, at each level of this machine with\n" +
			"namespaces and, where that can be, stopped between turns. Ways take turns; medians\n" +
			"and quartiles are shown, and the ratio to the bot without a sandbox.\n\n" +
			"  start     from the start of a bot to its ready, for the starters of timba init in each\n" +
			"            language that this machine has\n" +
			"  turn      one turn through the referee, with two bots that answer at once\n" +
			"  twelve    from the start of twelve bots in Python at once to the last one's ready",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if b.duration <= 0 {
				return fmt.Errorf("bench: time cannot be %v: try 2s", b.duration)
			}
			b.ctx, b.log = cmd.Context(), cmd.ErrOrStderr()
			if err := b.run(); err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), b.rows)
			}
			b.print(cmd.OutOrStdout())
			return nil
		},
	}
	cmd.Flags().DurationVar(&b.duration, "time", 2*time.Second, "about how long each row is measured")
	cmd.Flags().StringSliceVar(&b.only, "languages", nil, "start only bots in these `languages` (default: all that this machine has)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the figures as JSON")
	return cmd
}

func (b *sandboxBench) run() error {
	best := sandbox.Probe().Level
	if best < sandbox.Reduced {
		return fmt.Errorf("bench: this machine holds bots at %s only: timba doctor tells what would help", best)
	}
	b.ways = []way{{"bare", nil}}
	for level := best; level >= sandbox.Reduced; level-- {
		b.ways = append(b.ways, way{level.String(), &referee.Hold{Level: level, Most: level, Limit: sandbox.DefaultLimit}})
	}
	cache, err := program.CacheDir("bench")
	if err != nil {
		return err
	}
	if b.folder, err = os.MkdirTemp(cache, "bots-"); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	sandbox.Guard(b.folder)
	defer func() {
		os.RemoveAll(b.folder)
		sandbox.Unguard(b.folder)
	}()
	if err := b.turns(best); err != nil {
		return err
	}
	return b.starts()
}

// starts measures each language's starter, and twelve of Python's at once.
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
			fmt.Fprintf(b.log, "bench: no %s here: %v is missing\n", l.Title, missing)
			continue
		}
		dir := filepath.Join(b.folder, l.Name)
		if _, err := l.Write(dir); err != nil {
			return err
		}
		if err := os.Chmod(b.folder, 0o755); err != nil {
			return fmt.Errorf("bench: %w", err)
		}
		p, err := program.ResolveHeld(b.ctx, dir, b.log, sandbox.None)
		if err != nil {
			fmt.Fprintf(b.log, "bench: no %s here: %v\n", l.Title, err)
			continue
		}
		// Not by the shim of a version manager, which sandboxes look behind.
		if p.Command[0], err = sandbox.Program(p.Command[0], p.Dir); err != nil {
			return err
		}
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

// start measures how long some bots take that are started at once.
func (b *sandboxBench) start(what, title string, p program.Program, n int) error {
	times := make([][]float64, len(b.ways))
	_, err := b.startOnce(p.Bot, n) // what is read from disk for the first time
	for began := time.Now(); err == nil && (time.Since(began) < b.duration || len(times[0]) < 5); {
		for i, w := range b.ways {
			bot := p.Bot
			bot.Hold = w.hold
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
		b.add(costRow{What: what, Bot: title, Way: w.name, Unit: "ms"}, times[i], times[0])
	}
	return nil
}

// startOnce starts bots from one thread, which they die with, and waits for all.
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
		deadline := began.Add(time.Minute)
		for range n {
			p, startErr := referee.Start(b.ctx, bot)
			if startErr != nil {
				err = startErr
				return
			}
			bots = append(bots, p)
			if err = p.Send(protocol.AppendGreeting(nil), deadline); err != nil {
				return
			}
		}
		for _, p := range bots {
			if _, _, err = p.Line(deadline); err != nil {
				err = errors.Join(err, fmt.Errorf("it says %q", p.Stderr()))
				return
			}
		}
		took = time.Since(began)
	}()
	<-done
	return took, err
}

// turnGoal is what holding may cost a turn.
const turnGoal = 1.1

// turns measures a turn of a card game and of a board game.
func (b *sandboxBench) turns(best sandbox.Level) error {
	bot, err := echoBot(b.log)
	if err != nil {
		return err
	}
	ways := slices.Clone(b.ways)
	if best == sandbox.Full {
		still := *b.ways[1].hold
		still.Still = true
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

func (b *sandboxBench) turn(g rules.Game, bot referee.Bot, ways []way) error {
	m, err := benchMatch(g, bot)
	if err != nil {
		return err
	}
	times := make([][]float64, len(ways))
	for began := time.Now(); time.Since(began) < b.duration || len(times[0]) < turnRounds; {
		for i, w := range ways {
			for j := range m.Bots {
				m.Bots[j].Hold = w.hold
			}
			moves, took, err := playOnce(b.ctx, m)
			if err != nil {
				return err
			}
			times[i] = append(times[i], took.Seconds()/float64(moves)*1e6)
		}
	}
	for i, w := range ways {
		row := costRow{What: "turn", Bot: g.Name(), Way: w.name, Unit: "µs"}
		if w.hold != nil && !w.hold.Still {
			row.Goal = turnGoal
		}
		b.add(row, times[i], times[0])
	}
	return nil
}

// add takes a row's figures; those of bare are from the same rounds. The ratio is
// the median of the rounds', which a mood of the machine does not change.
func (b *sandboxBench) add(r costRow, times, bare []float64) {
	ratios := make([]float64, len(times))
	for i := range times {
		ratios[i] = times[i] / bare[i]
	}
	r.Median, r.Low, r.High = quantile(times, 0.5), quantile(times, 0.25), quantile(times, 0.75)
	r.Ratio, r.Over = quantile(ratios, 0.5), r.Median-quantile(bare, 0.5)
	b.rows = append(b.rows, r)
}

// quantile is the value that a part of some have at most.
func quantile(xs []float64, part float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	return xs[min(len(xs)-1, int(part*float64(len(xs))))]
}

func (b *sandboxBench) print(w io.Writer) {
	fmt.Fprintf(w, "%s %s/%s, %d cores\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	t := newTable(w)
	t.AppendHeader(table.Row{"what", "bot", "way", "median", "quartiles", "over bare", "ratio", "goal"})
	for _, r := range b.rows {
		goal := ""
		if r.Goal > 0 {
			goal = fmt.Sprintf("%.2f", r.Goal)
			if r.Ratio > r.Goal {
				goal += " missed"
			}
		}
		over, ratio := "", ""
		if r.Way != "bare" {
			over, ratio = fmt.Sprintf("%+.2f", r.Over), fmt.Sprintf("%.2f", r.Ratio)
		}
		t.AppendRow(table.Row{r.What, r.Bot, r.Way, fmt.Sprintf("%.2f %s", r.Median, r.Unit), fmt.Sprintf("%.2f %.2f", r.Low, r.High), over, ratio, goal})
	}
	t.Render()
}
