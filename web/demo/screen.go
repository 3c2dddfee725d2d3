package demo

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/text"
)

// screen shows a competition. On a terminal it plays back a finished game and shows the standings
// of all ladders, page after page, with the last news below. Elsewhere it writes one game, a line
// for each match, and the standings every tableEvery matches.
type screen struct {
	w        io.Writer
	terminal *os.File // nil elsewhere
	store    *store.Store
	ladders  []string
	names    map[int64]string // of versions
	known    map[place]bool   // whose ratings are no longer provisional
	finished int
	last     int64 // the match that was finished last, 0 for none
	showing  page

	mu    sync.Mutex
	news  []string // the last lines, the newest at the end
	drawn int      // lines on the terminal that the next drawing replaces
}

// place is a bot on a ladder.
type place struct{ ladder, bot string }

const (
	newsLines  = 6   // lines of news under the page
	tableEvery = 100 // matches between two tables without a terminal
	redraw     = 500 * time.Millisecond
	// provisional is the uncertainty above which a rating is provisional, as package rating has it:
	// that of about ten matches.
	provisional = 0.1
)

// The size of a terminal that does not say its own.
const (
	normalWidth  = 80
	normalHeight = 24
)

func newScreen(w io.Writer, s *store.Store, c *config.Config) *screen {
	d := &screen{w: w, terminal: text.Terminal(w), store: s, names: map[int64]string{}, known: map[place]bool{}}
	for _, l := range c.Ladders {
		d.ladders = append(d.ladders, l.Name)
		d.known[place{l.Name, ladder.Anchor}] = true
	}
	d.showing.table = len(d.ladders) // the last part: a game is next
	return d
}

// watch shows the matches until the context ends, or until that many matches are finished and
// all starters are submitted. 0 matches: until the context ends.
func (d *screen) watch(ctx context.Context, finished <-chan events.Event, sent <-chan struct{}, matches int) error {
	tick := time.Tick(redraw)
	for sent != nil || matches == 0 || d.finished < matches {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-sent:
			sent = nil
		case e, ok := <-finished:
			if !ok {
				return nil
			}
			err = d.finish(ctx, e)
		case <-tick:
			if d.terminal != nil {
				err = d.draw(ctx)
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// finish shows a finished match and, without a terminal, from time to time the standings.
func (d *screen) finish(ctx context.Context, e events.Event) error {
	first := d.last == 0
	d.finished += 1 + e.Missed
	d.last = e.Match
	if d.terminal == nil && first {
		if err := d.example(ctx); err != nil {
			return err
		}
	}
	if err := d.report(ctx, e); err != nil {
		return err
	}
	if d.terminal != nil || d.finished%tableEvery != 0 {
		return nil
	}
	return d.standings(ctx)
}

// end shows the final standings.
func (d *screen) end() error {
	d.replace(nil)
	if err := d.standings(context.Background()); err != nil {
		return err
	}
	fmt.Fprintf(d.w, "\nmatches played: %d\n", d.finished)
	return nil
}

// standings writes the standings of all ladders.
func (d *screen) standings(ctx context.Context) error {
	t, err := d.table(ctx)
	if err != nil {
		return err
	}
	width, _ := d.size()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, ladders := range t.pages(width) {
		fmt.Fprintln(d.w, "\n"+strings.Join(t.lines(ladders, width), "\n"))
	}
	fmt.Fprintln(d.w, fit(legend, width))
	return nil
}

// say adds a line of news.
func (d *screen) say(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	if d.terminal == nil {
		fmt.Fprintln(d.w, line)
		return
	}
	d.news = append(d.news, line)
	d.news = d.news[max(0, len(d.news)-newsLines):]
}

// report shows the ratings that a match has changed, and by how much where they are no longer
// provisional.
func (d *screen) report(ctx context.Context, e events.Event) error {
	var parts []string
	for _, c := range e.Changes {
		if d.names[c.VersionID] == "" {
			v, err := d.store.Version(ctx, c.VersionID)
			if err != nil {
				return err
			}
			d.names[c.VersionID] = v.Bot
		}
		parts = append(parts, d.change(e.Ladder, d.names[c.VersionID], c))
	}
	width, _ := d.size()
	const margin = 20 // of the ladder's name
	for i, line := range text.Wrap(parts, width-margin) {
		name := e.Ladder
		if i > 0 {
			name = ""
		}
		d.say("%-*s %s", margin-1, name, strings.TrimRight(line, " "))
	}
	return nil
}

// change returns what a match has made of a bot's rating, and notes how certain that is.
func (d *screen) change(ladderName, bot string, c ladder.Change) string {
	at := place{ladderName, bot}
	if bot != ladder.Anchor {
		d.known[at] = c.Uncertainty <= provisional
	}
	switch {
	case bot == ladder.Anchor:
		return fmt.Sprintf("%s %.0f (fixed) ", bot, c.After)
	case !d.known[at]:
		return fmt.Sprintf("%s %.0f (provisional) ", bot, c.After)
	}
	return fmt.Sprintf("%s %.0f (%+.0f) ", bot, c.After, c.After-c.Before)
}

// size returns the columns and lines of the terminal.
func (d *screen) size() (width, height int) {
	if d.terminal != nil {
		width, height, _ = term.GetSize(int(d.terminal.Fd()))
	}
	return sized(width, height)
}

// sized returns a terminal's size, with the usual one for what it does not say.
func sized(width, height int) (int, int) {
	return cmp.Or(max(0, width), normalWidth), cmp.Or(max(0, height), normalHeight)
}

// draw shows the page on the terminal, and the news below it.
func (d *screen) draw(ctx context.Context) error {
	width, height := d.size()
	body, err := d.page(ctx, width)
	if err != nil {
		return err
	}
	d.mu.Lock()
	news := d.news
	d.mu.Unlock()
	d.replace(layOut(body, news, width, height))
	return nil
}

// replace draws lines over those that the last call has drawn.
func (d *screen) replace(lines []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.drawn > 0 {
		fmt.Fprintf(d.w, "\x1b[%dA\x1b[J", d.drawn)
	}
	for _, line := range lines {
		fmt.Fprintln(d.w, line)
	}
	d.drawn = len(lines)
}

// layOut returns the lines of a page with the latest news below it, as many as fit on a terminal
// with the cursor below them. Longer lines would wrap and shift the next drawing.
func layOut(body, news []string, width, height int) []string {
	lines := body[:min(len(body), max(0, height-1))]
	if room := height - 1 - len(lines) - 1; room > 0 && len(news) > 0 {
		lines = append(append(lines[:len(lines):len(lines)], ""), news[max(0, len(news)-room):]...)
	}
	cut := make([]string, len(lines))
	for i, line := range lines {
		cut[i] = fit(line, width)
	}
	return cut
}

// fit cuts a line without colours to so many columns.
func fit(line string, width int) string {
	runes := []rune(line)
	return strings.TrimRight(string(runes[:min(len(runes), max(0, width))]), " ")
}
