package main

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/ladder/tournament"
	"github.com/timba-arena/timba/ladder/tournament/report"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/text"
)

// scoreFlags say what a match shows while it is played.
type scoreFlags struct {
	interval       string
	quiet, verbose bool

	deals int           // the interval, 0 for one of time
	every time.Duration // the interval
}

func (f *scoreFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.interval, "score-interval", "10s", "where stderr is no terminal, a score after so many deals or so much time: `100|10s`")
	flags.BoolVar(&f.quiet, "quiet", false, "show no running score")
	flags.BoolVar(&f.verbose, "verbose", false, "show each game when it ends, in a line")
}

// The most and the least often that the score is written.
const (
	redraw   = 250 * time.Millisecond // on a terminal
	shortest = 100 * time.Millisecond
	longest  = 24 * time.Hour
)

// parse reads the interval.
func (f *scoreFlags) parse() (err error) {
	if f.deals, err = strconv.Atoi(f.interval); err == nil && f.deals >= 1 {
		return nil
	}
	f.deals = 0
	if f.every, err = time.ParseDuration(f.interval); err == nil && f.every >= shortest && f.every <= longest {
		return nil
	}
	return fmt.Errorf("score-interval cannot be %q: give a number of deals, as 100, or a time from 100ms to 24h, as 10s", f.interval)
}

// scoreboard shows the running score and the games of a match on stderr: on a terminal the score
// in place, elsewhere a line from time to time.
type scoreboard struct {
	run            *report.Run
	w              io.Writer
	live           *text.Live // nil where the score is written line by line
	quiet, verbose bool
	deals          int           // a line after so many, 0 for one after every
	every          time.Duration // between two scores
	next           time.Time     // of the next score by time
	last           int           // deals played before the last game
}

// shareOfScore is the part of the time, one in so many, that the score may take at most: the
// ratings of large tournaments take long.
const shareOfScore = 20

// board returns the scoreboard of a run. traced is whether the lines of bots go to stdout, which
// is no place for a score then.
func (f *scoreFlags) board(r *report.Run, w io.Writer, traced bool) *scoreboard {
	b := &scoreboard{run: r, w: w, quiet: f.quiet, verbose: f.verbose, deals: f.deals, every: f.every}
	if !traced && !f.quiet {
		b.live = text.NewLive(w)
	}
	if b.live != nil {
		b.deals, b.every = 0, redraw
	} else {
		b.next = time.Now().Add(b.every)
	}
	return b
}

// game shows a finished game.
func (b *scoreboard) game(m *tournament.Match, g *referee.Result) {
	if b.verbose {
		b.say(b.run.GameLine(m, g))
	}
	if b.quiet || !b.due() {
		return
	}
	began := time.Now()
	b.score()
	b.next = time.Now().Add(max(b.every, shareOfScore*time.Since(began)))
}

// due reports whether it is time for a score. On a terminal it also is when there are figures for
// the first time, after the first deal.
func (b *scoreboard) due() bool {
	n, last := b.run.DealsPlayed(), b.last
	b.last = n
	switch {
	case b.deals > 0:
		return n != last && n%b.deals == 0
	case b.live != nil && last == 0 && n > 0:
		return true
	}
	return !time.Now().Before(b.next)
}

// score writes the score.
func (b *scoreboard) score() {
	if b.live != nil {
		b.live.Draw(b.run.Score(b.live.Columns()))
		return
	}
	fmt.Fprintln(b.w, b.run.ScoreLine())
}

// say writes a line above the score.
func (b *scoreboard) say(line string) { b.live.Above(b.w, line) }
