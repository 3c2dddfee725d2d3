package check

import (
	"fmt"
	"io"

	"github.com/dustin/go-humanize/english"

	"github.com/timba-arena/timba/rules/text"
)

// width is the width in columns of the text of a paragraph, without the label before it.
const width = 100

// maxShown is the largest number of bytes of a protocol line that are shown.
const maxShown = 180

// WriteLine writes a line for the check, and one for each warning. It writes nothing for a skipped check; the summary
// says how many checks were skipped.
func (c Check) WriteLine(w io.Writer) {
	status := string(c.Status)
	switch c.Status {
	case Skipped:
		return
	case Failed:
		status = "FAIL"
	}
	fmt.Fprintf(w, "%-8s %-16s %s\n", status, c.Name, c.Note)
	for _, text := range c.Warnings {
		fmt.Fprintf(w, "%-8s %-16s - %s\n", "", "", text)
	}
}

// WriteSummary writes what comes after the lines of the checks: details of each failure, the times of moves, and the
// verdict.
func (r *Report) WriteSummary(w io.Writer) {
	numbers := map[CheckStatus]int{}
	for _, c := range r.Checks {
		numbers[c.Status]++
		if c.Failure != nil {
			fmt.Fprintf(w, "\nFAIL %s\n", c.Name)
			c.Failure.write(w)
		}
	}
	if len(r.Times) > 0 {
		fmt.Fprintln(w)
		r.writeTimes(w)
	}
	switch {
	case r.Verdict == Failed:
		fmt.Fprintf(w, "\n%s fails %d of %d checks", r.Bot.Name, numbers[Failed], len(r.Checks))
		if n := numbers[Skipped]; n > 0 {
			fmt.Fprintf(w, "; %d %s skipped until this is fixed", n, english.PluralWord(n, "is", "are"))
		}
		fmt.Fprintln(w)
	case numbers[Warning] > 0:
		fmt.Fprintf(w, "\n%s passes, with warnings from %d of %d checks\n", r.Bot.Name, numbers[Warning], len(r.Checks))
	default:
		fmt.Fprintf(w, "\n%s passes all %d checks\n", r.Bot.Name, len(r.Checks))
	}
}

func (f *Failure) write(w io.Writer) {
	paragraph(w, "what", f.Error())
	if f.Place != "" {
		paragraph(w, "where", f.Place)
	}
	for i, line := range f.Lines {
		label, arrow := "", "<"
		if i == 0 {
			label = "lines"
		}
		if line.FromBot {
			arrow = ">"
		}
		fmt.Fprintf(w, "  %-7s %s %s\n", label, arrow, shorten(line.Text))
	}
	for i, line := range f.Stderr {
		label := ""
		if i == 0 {
			label = "stderr"
		}
		fmt.Fprintf(w, "  %-7s %s\n", label, shorten(line))
	}
	paragraph(w, "change", f.Change.String())
	for _, command := range f.Commands {
		fmt.Fprintf(w, "  %-7s %s\n", "again", command)
	}
}

func paragraph(w io.Writer, label, body string) {
	fmt.Fprintln(w, text.Paragraph(fmt.Sprintf("  %-7s ", label), body, len("  label   ")+width))
}

func shorten(line string) string {
	if len(line) <= maxShown {
		return line
	}
	return line[:maxShown-40] + " [...] " + line[len(line)-30:]
}

func (r *Report) writeTimes(w io.Writer) {
	fmt.Fprintf(w, "%-8s %6s %6s %10s %10s\n", "game", "games", "moves", "median ms", "worst ms")
	for _, t := range r.Times {
		fmt.Fprintf(w, "%-8s %6d %6d %10.2f %10.2f\n", t.Game, t.Games, t.Moves, t.MedianMS, t.WorstMS)
	}
}
