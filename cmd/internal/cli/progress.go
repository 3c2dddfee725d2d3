package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/timba-arena/timba/terminal/screen"
)

// ProgressLine shows how much of a long task is done, and how long the rest takes. A terminal shows one line
// that changes; any other output gets a line every ten seconds. Calls must not overlap.
type ProgressLine struct {
	w        io.Writer
	live     *screen.Live // nil without a terminal
	unit     string       // name of what is counted, in the plural
	interval time.Duration
	first    int       // the number done at the first call of Set
	began    time.Time // time of the first call of Set
	next     time.Time // time of the next output
}

// NewProgress returns a ProgressLine that writes to w. The unit names what is counted, in the plural.
func NewProgress(w io.Writer, unit string) *ProgressLine {
	p := &ProgressLine{w: w, live: screen.NewLive(w), unit: unit, interval: 10 * time.Second}
	if p.live != nil {
		p.interval = 200 * time.Millisecond
	}
	return p
}

// Set records how much is done, and shows it from time to time. If all is 0, the total is unknown.
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

// Clear removes the line from a terminal, so that other output can follow in its place.
func (p *ProgressLine) Clear() { p.live.Clear() }
