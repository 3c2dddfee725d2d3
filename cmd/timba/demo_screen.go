package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/runner"
	"github.com/timba-arena/timba/ladder/store"
)

// demoScreen shows the standings of all ladders: on a terminal a table that is
// drawn again as they move, elsewhere a line for each match and a table now and
// then.
type demoScreen struct {
	w        io.Writer
	terminal *os.File // nil elsewhere
	store    *store.Store
	ladders  []string
	names    map[int64]string // of versions
	finished int

	mu    sync.Mutex
	news  []string // the last lines, the newest at the end
	drawn int      // lines on the terminal that the next drawing replaces
}

const (
	demoNews  = 6   // lines of news under the table
	demoEvery = 100 // matches between two tables where there is no terminal
	redraw    = time.Second
)

func newDemoScreen(w io.Writer, s *store.Store, c *ladder.Config) *demoScreen {
	d := &demoScreen{w: w, store: s, names: map[int64]string{}}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		d.terminal = f
	}
	for _, l := range c.Ladders {
		d.ladders = append(d.ladders, l.Name)
	}
	return d
}

// watch shows what happens until the context ends, or so many matches are played
// and all starters sent.
func (d *demoScreen) watch(ctx context.Context, events <-chan runner.Event, sent <-chan struct{}, matches int) error {
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	moved := true
	for sent != nil || matches == 0 || d.finished < matches {
		select {
		case <-ctx.Done():
			return nil
		case <-sent:
			sent = nil
		case e, ok := <-events:
			if !ok {
				return nil
			}
			if e.Kind != runner.MatchFinished {
				continue
			}
			moved = true
			d.finished += 1 + e.Missed
			if err := d.tell(ctx, e); err != nil {
				return ignoreEnd(ctx, err)
			}
			if d.terminal == nil && d.finished%demoEvery == 0 {
				if err := d.draw(ctx); err != nil {
					return ignoreEnd(ctx, err)
				}
			}
		case <-tick.C:
			if moved && d.terminal != nil {
				if err := d.draw(ctx); err != nil {
					return ignoreEnd(ctx, err)
				}
				moved = false
			}
		}
	}
	return nil
}

// ignoreEnd: what fails because all ends is no failure.
func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// end shows the standings a last time.
func (d *demoScreen) end() error {
	if err := d.draw(context.Background()); err != nil {
		return err
	}
	fmt.Fprintf(d.w, "\nmatches played: %d\n", d.finished)
	return nil
}

// say adds a line of news.
func (d *demoScreen) say(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	if d.terminal == nil {
		fmt.Fprintln(d.w, line)
		return
	}
	d.news = append(d.news, line)
	d.news = d.news[max(0, len(d.news)-demoNews):]
}

// tell says what a match has moved.
func (d *demoScreen) tell(ctx context.Context, e runner.Event) error {
	var parts []string
	for _, c := range e.Changes {
		if d.names[c.VersionID] == "" {
			v, err := d.store.Version(ctx, c.VersionID)
			if err != nil {
				return err
			}
			d.names[c.VersionID] = v.Bot
		}
		parts = append(parts, fmt.Sprintf("%s %.0f (%+.0f)", d.names[c.VersionID], c.After, c.After-c.Before))
	}
	d.say("%-18s  %s", e.Ladder, strings.Join(parts, "  "))
	return nil
}

// draw shows the table, and the news under it.
func (d *demoScreen) draw(ctx context.Context) error {
	table, err := d.table(ctx)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.terminal == nil {
		fmt.Fprintln(d.w, "\n"+strings.Join(table, "\n"))
		return nil
	}
	lines := append(append(table, ""), d.news...)
	width, height, err := term.GetSize(int(d.terminal.Fd()))
	if err == nil { // what is longer would break the place to draw at
		lines = lines[max(0, len(lines)-height+1):]
		for i, line := range lines {
			lines[i] = line[:min(len(line), width)]
		}
	}
	if d.drawn > 0 {
		fmt.Fprintf(d.w, "\x1b[%dA\x1b[J", d.drawn)
	}
	fmt.Fprintln(d.w, strings.Join(lines, "\n"))
	d.drawn = len(lines)
	return nil
}

// table is the Elo of each bot on each ladder, the strongest first.
func (d *demoScreen) table(ctx context.Context) ([]string, error) {
	elo := map[string]map[string]float64{} // by bot and ladder
	for _, l := range d.ladders {
		places, err := d.store.Standings(ctx, l)
		if err != nil {
			return nil, err
		}
		for _, s := range places {
			if elo[s.Bot] == nil {
				elo[s.Bot] = map[string]float64{}
			}
			elo[s.Bot][l] = s.Elo
		}
	}
	mean := func(bot string) float64 {
		sum := 0.0
		for _, l := range d.ladders { // in their order: the same sum each time
			sum += elo[bot][l]
		}
		return sum / float64(len(elo[bot]))
	}
	bots := slices.SortedFunc(maps.Keys(elo), func(a, b string) int {
		return cmp.Or(cmp.Compare(mean(b), mean(a)), strings.Compare(a, b))
	})
	return demoTable(d.ladders, bots, elo), nil
}

// demoTable sets the columns; the names of ladders stand one word below another.
func demoTable(ladders, bots []string, elo map[string]map[string]float64) []string {
	first := len("Elo")
	for _, b := range bots {
		first = max(first, len(b))
	}
	heads := make([][]string, len(ladders))
	widths := make([]int, len(ladders))
	tall := 0
	for i, l := range ladders {
		heads[i] = strings.Split(l, "-")
		widths[i] = 4
		for _, word := range heads[i] {
			widths[i] = max(widths[i], len(word))
		}
		tall = max(tall, len(heads[i]))
	}
	var lines []string
	row := func(name string, cell func(int) string) {
		line := fmt.Sprintf("%-*s", first, name)
		for i := range ladders {
			line += fmt.Sprintf(" %*s", widths[i], cell(i))
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	for n := range tall {
		name := ""
		if n == tall-1 {
			name = "Elo"
		}
		row(name, func(i int) string {
			if n < len(heads[i]) {
				return heads[i][n]
			}
			return ""
		})
	}
	for _, b := range bots {
		row(b, func(i int) string {
			if e, ok := elo[b][ladders[i]]; ok {
				return fmt.Sprintf("%.0f", e)
			}
			return "-"
		})
	}
	return lines
}
