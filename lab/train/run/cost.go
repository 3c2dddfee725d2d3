package run

import (
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize"
)

// Cost is what a training costs, as --dry-run prints it.
type Cost struct {
	Work   int64  // games, rows, episodes or generations
	Unit   string // of Work, in the plural
	Time   time.Duration
	Memory int64 // bytes
	Disk   int64 // bytes
}

// Write prints the cost.
func (c Cost) Write(w io.Writer) {
	fmt.Fprintf(w, "%-7s %s\n", c.Unit, humanize.Comma(c.Work))
	fmt.Fprintf(w, "%-7s about %s, as a short sample took on this machine now\n", "time", Duration(c.Time))
	fmt.Fprintf(w, "%-7s about %s\n", "memory", humanize.IBytes(uint64(c.Memory)))
	fmt.Fprintf(w, "%-7s about %s\n", "disk", humanize.IBytes(uint64(c.Disk)))
}

// Duration returns a time for people, with two units at most.
func Duration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// Progress prints, every interval, how much is done and how much time is left, a line each. It
// is for output that is no terminal.
type Progress struct {
	w        io.Writer
	unit     string
	interval time.Duration
	began    time.Time
	first    int // done when the progress began
	last     time.Time
}

// NewProgress returns a progress; the unit is a plural, as in games.
func NewProgress(w io.Writer, unit string, interval time.Duration) *Progress {
	return &Progress{w: w, unit: unit, interval: interval, first: -1}
}

// Done tells how much is done, at the time now. The calls must not overlap.
func (p *Progress) Done(now time.Time, done, all int) {
	if p.first < 0 {
		p.first, p.began, p.last = done, now, now
		return
	}
	if now.Sub(p.last) < p.interval && done < all {
		return
	}
	p.last = now
	left := ""
	if done < all && done > p.first {
		spent := now.Sub(p.began)
		left = ", " + Duration(time.Duration(float64(spent)*float64(all-done)/float64(done-p.first))) + " left"
	}
	fmt.Fprintf(p.w, "%s of %s %s%s\n", humanize.Comma(int64(done)), humanize.Comma(int64(all)), p.unit, left)
}
