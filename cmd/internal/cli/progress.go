package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// lineInterval is the time between two lines of progress where there is no terminal.
const lineInterval = 10 * time.Second

// Progress shows how much of a long work is done, and how long the rest takes: by a bar on a terminal,
// else by a line every ten seconds. Its calls must not overlap.
type Progress struct {
	w     io.Writer
	unit  string                   // in the plural
	bar   *progressbar.ProgressBar // nil where there is no terminal
	first int                      // done when the first call came
	began time.Time                // the time of the first call
	next  time.Time                // when a line is due
}

// NewProgress returns a progress of so many units, named in the plural.
func NewProgress(w io.Writer, unit string) *Progress {
	p := &Progress{w: w, unit: unit}
	if Terminal(w) {
		p.bar = progressbar.NewOptions(1,
			progressbar.OptionSetWriter(w),
			progressbar.OptionShowCount(),
			progressbar.OptionShowIts(),
			progressbar.OptionSetItsString(unit),
			progressbar.OptionThrottle(200*time.Millisecond),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionClearOnFinish(),
		)
	}
	return p
}

// Set tells how much is done of all, 0 where that is not known.
func (p *Progress) Set(done, all int) {
	if p.bar != nil {
		if all == 0 {
			all = done + 1 // it would end at its maximum
		}
		p.bar.ChangeMax(all)
		p.bar.Set(done)
		return
	}
	now := time.Now()
	if p.began.IsZero() {
		p.first, p.began, p.next = done, now, now.Add(lineInterval)
	}
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(lineInterval)
	line := humanize.Comma(int64(done))
	if all > 0 {
		line += " of " + humanize.Comma(int64(all))
	}
	line += " " + p.unit
	if done > p.first && done < all {
		left := float64(now.Sub(p.began)) * float64(all-done) / float64(done-p.first)
		line += fmt.Sprintf(", %v left", time.Duration(left).Round(time.Second))
	}
	fmt.Fprintln(p.w, line)
}

// Clear removes the bar, so that other output can follow in its place.
func (p *Progress) Clear() {
	if p.bar != nil {
		p.bar.Clear()
	}
}

// Terminal reports whether what is written to w is shown on a terminal.
func Terminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
