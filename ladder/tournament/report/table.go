package report

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/timba-arena/timba/ladder/tournament"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/check"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/text"
	"github.com/timba-arena/timba/sandbox"
)

// WriteTables writes the results as tables.
func (r *Run) WriteTables(w io.Writer) {
	results := r.Results()
	r.writeStandings(w, results)
	if r.Format == tournament.Swiss || r.Format == tournament.Knockout {
		r.writeRounds(w, results)
	}
	if len(r.Bots) > 2 {
		r.writePairs(w, results)
	} else if len(r.Bots) == 2 {
		r.writeDuel(w, results)
	}
	if results.Distinct < results.Deals {
		r.writeRepeats(w, results)
	}
	speed := ""
	switch {
	case r.Played == 0 && r.Early == nil:
		speed = ": there were none left to play"
	case r.Played > 0:
		speed = fmt.Sprintf(", %.1f games a second", float64(r.Played)/r.Took.Seconds())
	}
	fmt.Fprintf(w, "\n%s in %.1f s%s\n", text.Count(r.Played, "game"), r.Took.Seconds(), speed)
	if r.Early != nil {
		fmt.Fprintf(w, "missing: %s\n", r.missingText())
	}
	r.writeCredit(w, results)
	r.writeAdjudicated(w)
	r.writeFaults(w)
	if r.Dir.FaultsOnly {
		fmt.Fprintln(w, "to keep the replays: --out DIR")
	} else {
		fmt.Fprintf(w, "replays: %s\n", r.Dir.Path)
	}
	if n := len(r.Voids) - r.Starved; n > 0 {
		fmt.Fprintf(w, "%s void for a failure of timba's own, and played again\n", text.Count(n, "game"))
	}
	if r.Starved > 0 {
		fmt.Fprintf(w, "%s void because other programs used the cores while a bot thought, and played again\n", text.Count(r.Starved, "game"))
	}
}

// writeCredit says how long other programs held the cores while bots wanted them.
func (r *Run) writeCredit(w io.Writer, results tournament.Results) {
	var bots []string
	for _, s := range results.Standings {
		if s.Credit >= 50*time.Millisecond { // else it is 0.0 s
			bots = append(bots, fmt.Sprintf("%s %.1f s", s.Name, s.Credit.Seconds()))
		}
	}
	if len(bots) > 0 {
		fmt.Fprintf(w, "credit, for time in which other programs held the cores: %s\n", strings.Join(bots, ", "))
	}
}

// mostPairs is how many bots have a table of who did what against whom.
const mostPairs = 12

func (r *Run) writePairs(w io.Writer, results tournament.Results) {
	if len(results.Standings) > mostPairs {
		return
	}
	fmt.Fprintf(w, "\nshare of the duels, by deals:\n")
	tab := text.Table(w)
	header := table.Row{""}
	for i := range results.Standings {
		header = append(header, i+1)
	}
	tab.AppendHeader(header)
	for i, a := range results.Standings {
		row := table.Row{fmt.Sprintf("%d %s", i+1, a.Name)}
		for _, b := range results.Standings {
			s := results.Pairs[a.Bot][b.Bot]
			switch {
			case a.Bot == b.Bot:
				row = append(row, "")
			case s.Deals == 0:
				row = append(row, "-")
			default:
				row = append(row, fmt.Sprintf("%.0f%%", 100*s.Score.Value))
			}
		}
		tab.AppendRow(row)
	}
	tab.Render()
}

// shownFaults is how many different faults are told in full.
const shownFaults = 5

// writeFaults tells each fault of a bot once, with the first place where it
// happened.
func (r *Run) writeFaults(w io.Writer) {
	if len(r.Faults) == 0 {
		return
	}
	type kind struct{ name, seen string }
	var first []Fault
	times := map[kind]int{}
	for _, f := range r.Faults {
		k := kind{f.Name, f.Text}
		if times[k]++; times[k] == 1 {
			first = append(first, f)
		}
	}
	fmt.Fprintf(w, "\nfaults:\n")
	dir, matches := r.Dir, r.Matches()
	shown := 0
	for _, f := range first[:min(len(first), shownFaults)] {
		n := times[kind{f.Name, f.Text}]
		shown += n
		replay := text.Quote(dir.Replay(f.Match, f.Deal, f.Rotation))
		bot := r.Bots[matches[f.Match].Bots[f.Bot]]
		c, known := r.circumstances(f, bot)
		told := f.FaultAt
		told.Text = f.TextIn(c)
		fmt.Fprintf(w, "- %s\n", told)
		if n > 1 {
			fmt.Fprintf(w, "  and %s more\n", text.Count(n-1, "time"))
		}
		if known {
			fmt.Fprintf(w, "  change: %s\n", f.Reason.Advice(c)[0])
		}
		fmt.Fprintf(w, "  look: %s replay show %s\n  why: %s explain %s\n", r.Self, replay, r.Self, replay)
		if line := r.check(bot); line != "" && !f.Disqualified() {
			fmt.Fprintf(w, "  check: %s\n", line)
		}
		if log := dir.Log(f.Match, f.Deal, f.Rotation, f.Seat); log != "" {
			fmt.Fprintf(w, "  its log: %s\n", log)
		}
	}
	if more := len(r.Faults) - shown; more > 0 {
		fmt.Fprintf(w, "... and %d more; all of them: %s explain %s\n", more, r.Self, text.Quote(dir.Path))
	}
}

// circumstances returns those of a bot's fault; ok is false where its game cannot be read.
func (r *Run) circumstances(f Fault, bot referee.Bot) (c fault.Circumstances, ok bool) {
	data, err := os.ReadFile(r.Dir.Replay(f.Match, f.Deal, f.Rotation))
	if err != nil {
		return c, false
	}
	replay, err := referee.DecodeReplay(data)
	if err != nil {
		return c, false
	}
	log, _ := os.ReadFile(r.Dir.Log(f.Match, f.Deal, f.Rotation, f.Seat)) // most bots write none
	c, err = replay.Circumstances(r.Variant.Game, f.Fault, log)
	return bot.Describe(c, true), err == nil
}

// check returns the command that checks a bot as this tournament plays; "" for a house bot.
func (r *Run) check(b referee.Bot) string {
	if b.Line == "" || strings.HasPrefix(b.Line, "@") {
		return ""
	}
	var limit sandbox.Limit
	if b.Sandbox != nil {
		limit = b.Sandbox.Limit
	}
	line := []string{r.Self}
	for _, word := range check.Words(b.Line, r.Variant.Game.Name, r.Clock, limit) {
		line = append(line, text.Quote(word))
	}
	return strings.Join(line, " ")
}

// faultsOf counts a bot's faults by their codes, and the games that it forfeited
// unplayed because of them.
func (r *Run) faultsOf(bot int) string {
	n := map[protocol.Code]int{}
	unplayed := 0
	matches := r.Matches()
	for _, f := range r.Faults {
		switch {
		case matches[f.Match].Bots[f.Bot] != bot:
		case f.Disqualified():
			unplayed++
		default:
			n[f.Code]++
		}
	}
	var words []string
	for _, c := range protocol.Codes {
		if n[c] > 0 {
			words = append(words, fmt.Sprintf("%d %s", n[c], c))
		}
	}
	if unplayed > 0 {
		words = append(words, fmt.Sprintf("%d unplayed", unplayed))
	}
	if words == nil {
		return "0"
	}
	return strings.Join(words, ", ")
}

func perGame(s referee.Score) string {
	if s.Games == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", s.Points/float64(s.Games))
}
