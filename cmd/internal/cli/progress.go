package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/timba-arena/timba/terminal/screen"
)

// ProgressLine shows how much of a long work is done, and how long the rest takes: in a line that a terminal
// draws again and again, else by a line every ten seconds. Its calls must not overlap.
type ProgressLine struct {
	w        io.Writer
	live     *screen.Live // nil where there is no terminal
	unit     string       // in the plural
	interval time.Duration
	first    int       // done when the first call came
	began    time.Time // the time of the first call
	next     time.Time // when a line is due
}

// NewProgress returns a progress of so many units, named in the plural.
func NewProgress(w io.Writer, unit string) *ProgressLine {
	p := &ProgressLine{w: w, live: screen.NewLive(w), unit: unit, interval: 10 * time.Second}
	if p.live != nil {
		p.interval = 200 * time.Millisecond
	}
	return p
}

// Set tells how much is done of all, 0 where that is not known.
func (p *ProgressLine) Set(done, all int) {
	now := time.Now()
	if p.began.IsZero() {
		p.first, p.began, p.next = done, now, now.Add(p.interval)
	}
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(p.interval)
	line := humanize.Comma(int64(done))
	if all > 0 {
		line += " of " + humanize.Comma(int64(all))
	}
	line += " " + p.unit
	if done > p.first && done < all {
		left := float64(now.Sub(p.began)) * float64(all-done) / float64(done-p.first)
		line += fmt.Sprintf(", %v left", time.Duration(left).Round(time.Second))
	}
	if p.live != nil {
		p.live.Draw([]string{line})
	} else {
		fmt.Fprintln(p.w, line)
	}
}

// Clear removes what a terminal shows, so that other output can follow in its place.
func (p *ProgressLine) Clear() { p.live.Clear() }
