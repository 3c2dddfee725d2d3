package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/tournament"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
)

// contest is a tournament on its way: what is counted and shown.
type contest struct {
	tournament *tournament.Tournament
	bar        *progressbar.ProgressBar
	faults     []faultAt
	voids      []string
	played     int // games, in this run of the program
	took       time.Duration
}

// faultAt is a fault and the game that it happened in.
type faultAt struct {
	match int
	referee.FaultAt
}

func newContest(t *tournament.Tournament, errs io.Writer) *contest {
	r := &contest{tournament: t}
	r.bar = newProgress(errs, "games")
	t.Done = func(m *tournament.Match, g *referee.Game) {
		r.played++
		r.bar.ChangeMax(t.Games() - r.before())
		r.bar.Add(1)
	}
	t.Void = func(m *tournament.Match, deal, rotation int, err error) {
		r.bar.Clear()
		text := fmt.Sprintf("match %d, deal %d, rotation %d is void and played again: %v", m.Number, deal, rotation, err)
		r.voids = append(r.voids, text)
		fmt.Fprintln(errs, text)
	}
	return r
}

// newProgress shows how far work is and how long it will take, to people only
// and only when it takes longer than a blink.
func newProgress(w io.Writer, unit string) *progressbar.ProgressBar {
	file, ok := w.(*os.File)
	visible := ok && term.IsTerminal(int(file.Fd()))
	return progressbar.NewOptions(1,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetVisibility(visible),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString(unit),
		progressbar.OptionThrottle(200*time.Millisecond),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
	)
}

// before counts the games that an earlier run of the program has played.
func (r *contest) before() int {
	n := -r.played
	for _, m := range r.tournament.Matches() {
		n += m.Tally.Games
	}
	return n
}

func (r *contest) play(ctx context.Context) error {
	began := time.Now()
	err := r.tournament.Play(ctx)
	r.took = time.Since(began)
	r.bar.Clear()
	for _, m := range r.tournament.Matches() {
		for _, f := range m.Tally.Faults {
			r.faults = append(r.faults, faultAt{m.Number, f})
		}
	}
	slices.SortStableFunc(r.faults, func(a, b faultAt) int {
		return cmp.Or(a.match-b.match, a.Deal-b.Deal, a.Rotation-b.Rotation)
	})
	return err
}

// keep writes the result beside the games.
func (r *contest) keep(doc report) error {
	if r.tournament.Folder.FaultsOnly {
		return nil
	}
	var b bytes.Buffer
	if err := writeJSON(&b, doc); err != nil {
		return err
	}
	return r.tournament.Folder.Result(b.Bytes())
}

// print tells people how it went.
func (r *contest) print(w io.Writer) error {
	t := r.tournament
	results, err := t.Results()
	if err != nil {
		return err
	}
	rated := len(t.Bots) > 2
	header := table.Row{"bot", "games", "wins", "draws", "losses", "points", "points a game", "faults"}
	if rated {
		header = append(table.Row{"Elo", "± 95 %"}, header...)
	}
	tab := newTable(w)
	tab.AppendHeader(header)
	for _, s := range results.Standings {
		row := table.Row{s.Name, s.Games, s.Wins, s.Draws, s.Losses, number(s.Points), perGame(s.Score), r.faultsOf(s.Bot)}
		if rated {
			row = append(table.Row{fmt.Sprintf("%+.0f", math.Round(s.Rating.Value)+0), fmt.Sprintf("%.0f", s.Rating.PlusMinus())}, row...)
		}
		tab.AppendRow(row)
	}
	tab.Render()
	if rated {
		r.printPairs(w, results)
	} else if len(t.Bots) == 2 {
		r.printDuel(w, results.Pairs[0][1])
	}
	fmt.Fprintf(w, "\n%s in %.1f s, %.1f games a second\n", count(r.played, "game"), r.took.Seconds(), float64(r.played)/r.took.Seconds())
	r.printFaults(w)
	if t.Folder.FaultsOnly {
		fmt.Fprintln(w, "to keep the replays: --out FOLDER")
	} else {
		fmt.Fprintf(w, "replays: %s\n", t.Folder.Path)
	}
	if len(r.voids) > 0 {
		fmt.Fprintf(w, "%s void for a failure of timba's own, and played again\n", count(len(r.voids), "game"))
	}
	return nil
}

// printDuel tells what the deals say of two bots.
func (r *contest) printDuel(w io.Writer, s rating.Summary) {
	if s.Deals == 0 {
		return
	}
	a, b := r.tournament.Bots[0].Name, r.tournament.Bots[1].Name
	fmt.Fprintf(w, "\n%s against %s, in %s:\n", a, b, count(s.Deals, "deal"))
	bound := ""
	if s.Swept {
		bound = " or more"
		if s.Score.Value < 0.5 {
			bound = " or less"
		}
	}
	fmt.Fprintf(w, "  Elo difference   %+.1f%s  (95 %%: %s to %s)\n", s.Elo.Value, bound, bounded(s.Elo.Low), bounded(s.Elo.High))
	fmt.Fprintf(w, "  superiority      %.1f %% likely\n", 100*s.LOS)
	if s.Deals == 1 { // which tells nothing of how much deals differ
		fmt.Fprintf(w, "  points a game    %+.2f\n", s.Points.Value)
	} else {
		fmt.Fprintf(w, "  points a game    %+.2f ± %.2f\n", s.Points.Value, s.Points.PlusMinus())
	}
	var classes []string
	for _, c := range s.Classes {
		classes = append(classes, fmt.Sprintf("%.4g: %d", c.Score, c.Deals))
	}
	fmt.Fprintf(w, "  deals by score   %s\n", strings.Join(classes, ", "))
	if p := r.tournament.Matches()[0].Progress; p != nil {
		fmt.Fprintf(w, "  sprt %s: LLR %.2f (%.2f, %.2f): %s\n", r.tournament.SPRT, p.LLR, p.Lower, p.Upper, verdictText(p.Verdict))
	}
}

func verdictText(v rating.Verdict) string {
	switch v {
	case rating.AcceptH0:
		return "H0 accepted: the first bot is not as much stronger"
	case rating.AcceptH1:
		return "H1 accepted: the first bot is stronger"
	}
	return "no verdict yet"
}

// bounded is an end of an interval, which may be open.
func bounded(x float64) string {
	if x > 1e6 || x < -1e6 {
		return "open"
	}
	return fmt.Sprintf("%+.1f", x)
}

// mostPairs is how many bots have a table of who did what against whom.
const mostPairs = 12

func (r *contest) printPairs(w io.Writer, results tournament.Results) {
	if len(results.Standings) > mostPairs {
		return
	}
	fmt.Fprintf(w, "\nshare of the duels, by deals:\n")
	tab := newTable(w)
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

// printFaults tells each fault of a bot once, with the first place where it
// happened.
func (r *contest) printFaults(w io.Writer) {
	if len(r.faults) == 0 {
		return
	}
	type kind struct{ name, text string }
	var first []faultAt
	times := map[kind]int{}
	for _, f := range r.faults {
		k := kind{f.Name, f.Text}
		if times[k]++; times[k] == 1 {
			first = append(first, f)
		}
	}
	fmt.Fprintf(w, "\nfaults:\n")
	folder := r.tournament.Folder
	shown := 0
	for _, f := range first[:min(len(first), shownFaults)] {
		n := times[kind{f.Name, f.Text}]
		shown += n
		replay := quoted(folder.Replay(f.match, f.Deal, f.Rotation))
		fmt.Fprintf(w, "- %s\n", f)
		if n > 1 {
			fmt.Fprintf(w, "  and %s more\n", count(n-1, "time"))
		}
		fmt.Fprintf(w, "  look: %s replay show %s\n  why: %s explain %s\n", self(), replay, self(), replay)
		if log := folder.Log(f.match, f.Deal, f.Rotation, f.Seat); log != "" {
			fmt.Fprintf(w, "  its log: %s\n", log)
		}
	}
	if more := len(r.faults) - shown; more > 0 {
		fmt.Fprintf(w, "... and %d more; all of them: %s explain %s\n", more, self(), quoted(folder.Path))
	}
}

// faultsOf counts a bot's faults by their codes, and the games that it forfeited
// unplayed because of them.
func (r *contest) faultsOf(bot int) string {
	n := map[protocol.Code]int{}
	unplayed := 0
	matches := r.tournament.Matches()
	for _, f := range r.faults {
		switch {
		case matches[f.match].Bots[f.Bot] != bot:
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

func number(x float64) string { return fmt.Sprintf("%g", x) }

func perGame(s referee.Score) string {
	if s.Games == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", s.Points/float64(s.Games))
}
