package demo

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/terminal/screen"
)

// display shows what happens in a competition. On a terminal it redraws the best bots of each ladder and the last
// news in the same place. Otherwise it writes the news line by line, and the standings from time to time.
type display struct {
	w               io.Writer
	store           *store.Store
	ladders         []string
	names           map[int64]string // maps the ID of a version to the name of its bot
	finishedMatches int              // number of finished matches

	mu   sync.Mutex
	live *screen.Live // nil if w is not a terminal
	news []string     // the last lines of news on a terminal, the newest at the end
}

const (
	newsLines      = 6                      // number of lines of news on a terminal
	standingsEvery = 100                    // number of matches between two standings without a terminal
	redraw         = 500 * time.Millisecond // time between two drawings

	// legend explains the "?" behind a rating.
	legend = "? is provisional: ±100 or few opponents"
)

func newDisplay(w io.Writer, s *store.Store, c *config.Config) *display {
	d := &display{w: w, store: s, names: map[int64]string{}, live: screen.NewLive(w)}
	for _, l := range c.Ladders {
		d.ladders = append(d.ladders, l.Name)
	}
	return d
}

// showMatches shows each match that is reported on the channel finished. It returns when ctx ends. If matches is
// not 0, it also returns when that number of matches is finished and sent is closed, which means that all example
// bots are submitted.
func (d *display) showMatches(ctx context.Context, finished <-chan events.Event, sent <-chan struct{}, matches int) error {
	tick := time.Tick(redraw)
	for sent != nil || matches == 0 || d.finishedMatches < matches {
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
			err = d.finishMatch(ctx, e)
		case <-tick:
			err = d.draw(ctx)
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

// finishMatch shows the finished match that e reports. Without a terminal it also writes the standings after every
// standingsEvery matches.
func (d *display) finishMatch(ctx context.Context, e events.Event) error {
	d.finishedMatches += 1 + e.MissedEvents
	if err := d.reportMatch(ctx, e); err != nil {
		return err
	}
	if d.live != nil || d.finishedMatches%standingsEvery != 0 {
		return nil
	}
	return d.writeStandings(ctx)
}

func (d *display) showEnd() error {
	d.live.Clear()
	if err := d.writeStandings(context.Background()); err != nil {
		return err
	}
	fmt.Fprintf(d.w, "\nmatches played: %d\n", d.finishedMatches)
	return nil
}

// writeStandings writes the standings of all ladders.
func (d *display) writeStandings(ctx context.Context) error {
	lines, err := d.ladderLines(ctx)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintln(d.w)
	for _, l := range lines {
		fmt.Fprintln(d.w, strings.Join(l, "\n"))
	}
	fmt.Fprintln(d.w, legend)
	return nil
}

// ladderLines returns the lines of each ladder: the bots that have played and their ratings, the strongest first.
func (d *display) ladderLines(ctx context.Context) (all [][]string, err error) {
	for _, name := range d.ladders {
		places, err := d.store.Ladders.Standings(ctx, name)
		if err != nil {
			return nil, err
		}
		var parts []string
		for _, s := range places {
			if s.Matches == 0 {
				continue
			}
			mark := ""
			if s.IsProvisional() {
				mark = "?"
			}
			parts = append(parts, fmt.Sprintf("%s %.0f%s ", s.Bot, s.Rating(), mark))
		}
		all = append(all, d.wrap(name, parts))
	}
	return all, nil
}

// wrap arranges parts of a text about a ladder in lines that fit the terminal. The first line begins with the
// ladder's name.
func (d *display) wrap(ladder string, parts []string) []string {
	const margin = 20 // width of the ladder's name
	lines := text.Wrap(parts, d.live.Columns()-margin)
	for i, line := range lines {
		if i > 0 {
			ladder = ""
		}
		lines[i] = fmt.Sprintf("%-*s %s", margin-1, ladder, strings.TrimRight(line, " "))
	}
	return lines
}

func (d *display) addNews(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	if d.live == nil {
		fmt.Fprintln(d.w, line)
		return
	}
	d.news = append(d.news, line)
	d.news = d.news[max(0, len(d.news)-newsLines):]
}

// reportMatch adds a line to the news: the new ratings of the bots in the finished match that e reports. Unless a
// rating is provisional, the line includes the difference to the old rating.
func (d *display) reportMatch(ctx context.Context, e events.Event) error {
	places, err := d.store.Ladders.Standings(ctx, e.Ladder)
	if err != nil {
		return err
	}
	var parts []string
	for _, c := range e.Changes {
		if d.names[c.VersionID] == "" {
			v, err := d.store.Versions.Find(ctx, c.VersionID)
			if err != nil {
				return err
			}
			d.names[c.VersionID] = v.Bot
		}
		provisional := slices.ContainsFunc(places, func(s ladder.Standing) bool {
			return s.VersionID == c.VersionID && s.IsProvisional()
		})
		parts = append(parts, change(d.names[c.VersionID], c, provisional))
	}
	for _, line := range d.wrap(e.Ladder, parts) {
		d.addNews("%s", line)
	}
	return nil
}

// change returns the name of a bot and its rating after a match. It adds the difference to the rating before, unless
// the rating is provisional or the bot's rating is fixed.
func change(bot string, c ladder.Change, provisional bool) string {
	switch {
	case bot == ladder.Anchor:
		return fmt.Sprintf("%s %.0f (fixed) ", bot, c.EloAfter)
	case provisional:
		return fmt.Sprintf("%s %.0f (provisional) ", bot, c.EloAfter)
	}
	return fmt.Sprintf("%s %.0f (%+.0f) ", bot, c.EloAfter, c.EloAfter-c.EloBefore)
}

// draw redraws the terminal: for each ladder a line with its best bots, and below them the last news. Without a
// terminal it does nothing.
func (d *display) draw(ctx context.Context) error {
	if d.live == nil {
		return nil
	}
	ladders, err := d.ladderLines(ctx)
	if err != nil {
		return err
	}
	lines := []string{"The best of each ladder by Elo; " + legend, ""}
	for _, l := range ladders {
		lines = append(lines, l[:min(1, len(l))]...)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	lines = append(append(lines, ""), d.news...)
	for i, line := range lines {
		lines[i] = cutLine(line, d.live.Columns())
	}
	d.live.Draw(lines)
	return nil
}

func cutLine(line string, columns int) string {
	runes := []rune(line)
	return string(runes[:min(len(runes), columns)])
}
