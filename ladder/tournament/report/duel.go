package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/tournament"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/text"
)

// writeDuel tells what the deals say of two bots, in the words of docs/statistics.md.
func (r *Run) writeDuel(w io.Writer, results tournament.Results) {
	s, first := results.Pairs[0][1], results.Standings[0]
	if s.Deals == 0 {
		return
	}
	a, b := r.Bots[0].Name, r.Bots[1].Name
	fmt.Fprintf(w, "\n%s against %s, in %s:\n", a, b, text.Count(s.Deals, "deal"))
	fmt.Fprintf(w, "  Elo              %s  (95 %%: %s to %s)\n", eloText(s), bounded(s.Elo.Low), bounded(s.Elo.High))
	fmt.Fprintf(w, "  LOS              %.1f %%\n", 100*s.LOS)
	fmt.Fprintf(w, "  draw ratio       %.1f %%\n", 100*float64(first.Draws)/float64(first.Games))
	fmt.Fprintf(w, "  points a game    %+.2f ± %s\n", s.Points.Value, plusMinus(s.Points.PlusMinus(), 2))
	if five, ok := s.Pentanomial(); ok {
		fmt.Fprintf(w, "  pentanomial      %v\n", five)
	} else {
		var classes []string
		for _, c := range s.Classes {
			classes = append(classes, fmt.Sprintf("%.4g: %d", c.Score, c.Deals))
		}
		fmt.Fprintf(w, "  deals by score   %s\n", strings.Join(classes, ", "))
	}
	m := r.Matches()[0]
	if p := m.Progress; p != nil {
		fmt.Fprintf(w, "  SPRT             %s\n  LLR              %s: %s\n", r.SPRT, llrText(p), verdictText(m))
	}
}

// eloText returns the Elo of a pair.
func eloText(s rating.Summary) string {
	bound := ""
	if s.Swept {
		bound = " or more"
		if s.Score.Value < 0.5 {
			bound = " or less"
		}
	}
	return fmt.Sprintf("%+.1f%s", s.Elo.Value, bound)
}

// llrText returns the LLR of a sequential test with its bounds.
func llrText(p *rating.Progress) string {
	return fmt.Sprintf("%.2f (%.2f, %.2f)", p.LLR, p.Lower, p.Upper)
}

// verdictText says what a sequential test has come to.
func verdictText(m *tournament.Match) string {
	switch m.Progress.Verdict {
	case rating.AcceptH0:
		return "H0 accepted: the first bot is not that much stronger"
	case rating.AcceptH1:
		return "H1 accepted: the first bot is stronger"
	}
	if m.Exhausted > 0 {
		return fmt.Sprintf("no verdict: none of the last %d deals was new", m.Exhausted)
	}
	return "no verdict yet"
}

// writeRepeats tells that deals were repeated, and what can be done about it.
func (r *Run) writeRepeats(w io.Writer, results tournament.Results) {
	fmt.Fprintf(w, "\n%s among %d: the others repeat games that these bots have played, and count only once\n", text.Count(results.Distinct, "distinct deal"), results.Deals)
	if opening := rules.OpeningOption.Name; r.Variant.Settings.Map()[opening] == "0" {
		fmt.Fprintf(w, "for games that differ: --set %s=%d\n", opening, rules.DefaultOpening)
	}
}

// bounded returns an end of an interval.
func bounded(x float64) string {
	if math.Abs(x) > 1e6 {
		return "unbounded"
	}
	return fmt.Sprintf("%+.1f", x)
}

// plusMinus returns half of the width of an interval.
func plusMinus(x float64, digits int) string {
	if math.IsNaN(x) || x > 1e6 {
		return "unbounded"
	}
	return fmt.Sprintf("%.*f", digits, x)
}
