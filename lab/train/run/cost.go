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
