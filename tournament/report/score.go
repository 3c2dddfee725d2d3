package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/stats"
	"github.com/timba-arena/timba/tournament"
)

// part is one element of the running score, such as "Elo +12.3". If a line has no room for all parts, those with the
// highest ranks are left out.
type part struct {
	text string
	rank int
}

// Score returns the running score for a terminal with the given number of columns, in up to two lines. The first line
// says who is stronger; it is missing until a deal has finished. The second line says how much has been played. If a
// line is too narrow, the least important figures are left out. While Play runs, call Score only in the functions
// that Play calls.
func (r *Run) Score(columns int) []string {
	results := r.Results()
	var lines []string
	for _, parts := range [][]part{r.strength(results), r.progress(results, time.Since(r.startedAt))} {
		if line := fitParts(parts, columns); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// ScoreLine returns the running score in a single line of any length, with all figures.
func (r *Run) ScoreLine() string {
	return strings.Join(r.Score(math.MaxInt), ", ")
}

// fitParts joins as many parts as fit into the given number of columns. It prefers parts with low ranks, and does not
// change the order of parts.
func fitParts(parts []part, columns int) string {
	join := func(parts []part) string {
		var words []string
		for _, p := range parts {
			words = append(words, p.text)
		}
		return strings.Join(words, ", ")
	}
	kept := slices.Clone(parts)
	slices.SortStableFunc(kept, func(a, b part) int { return a.rank - b.rank })
	n := 0
	for _, p := range kept {
		kept[n] = p
		if text.Width(join(kept[:n+1])) <= columns {
			n++
		}
	}
	kept = kept[:n]
	return join(slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return !slices.Contains(kept, p) }))
}

// strength returns the parts of the running score that say who is stronger.
func (r *Run) strength(results tournament.Results) (parts []part) {
	if results.Distinct == 0 || len(r.Bots) < 2 {
		return nil
	}
	if len(r.Bots) > 2 {
		for i, s := range results.Standings {
			parts = append(parts, part{fmt.Sprintf("%d %s %s", i+1, s.Name, r.standing(s)), i})
		}
		return parts
	}
	s := results.Pairs[0][1]
	elo := "Elo " + eloText(s)
	if !s.Swept {
		elo += " ± " + halfWidthText(s.Elo.PlusMinus(), 1)
	}
	parts = []part{{elo, 1}, {fmt.Sprintf("LOS %.1f %%", 100*s.LOS), 2}}
	if p := r.Matches()[0].Progress; p != nil {
		parts = append(parts, part{"LLR " + llrText(p), 0})
	}
	return parts
}

// standing returns the number that decides a bot's place in the standings, as text. In a Swiss tournament this is its
// match points, otherwise its rating.
func (r *Run) standing(s tournament.Standing) string {
	if r.Format == tournament.Swiss {
		return fmt.Sprintf("%.2f points", s.MatchPoints)
	}
	return fmt.Sprintf("%+.0f ± %s", math.Round(s.Rating.Value)+0, halfWidthText(s.Rating.PlusMinus(), 0))
}

// progress returns the parts of the running score that say how much has been played. took is the time since Play
// began.
func (r *Run) progress(results tournament.Results, took time.Duration) (parts []part) {
	matches := r.Matches()
	deals, all := r.Total()
	if r.Format.InRounds() {
		round := 0
		if len(matches) > 0 {
			round = matches[len(matches)-1].Round
		}
		parts = append(parts, part{fmt.Sprintf("round %d", round+1), 1})
	}
	parts = append(parts, part{fmt.Sprintf("%d/%d deals", results.Deals, deals), 0})
	if results.Distinct < results.Deals {
		parts = append(parts, part{fmt.Sprintf("%d distinct", results.Distinct), 2})
	}
	if tests, over := r.countTests(); tests > 1 {
		parts = append(parts, part{fmt.Sprintf("%d/%d tests", over, tests), 1})
	}
	_, played := r.PlayedCounts()
	parts = append(parts, part{fmt.Sprintf("%d/%d games", played, all), 6})
	faults := 0
	for _, s := range results.Standings {
		faults += s.Faults
	}
	if faults > 0 {
		parts = append(parts, part{text.Count(faults, "fault"), 3})
	}
	if r.Games == 0 || took <= 0 {
		return parts
	}
	seconds := min(float64(all-played)*took.Seconds()/float64(r.Games), 1e9)
	left := (time.Duration(math.Round(seconds)) * time.Second).String() + " left"
	if r.SPRT != nil {
		left = "at most " + left
	}
	rate := float64(r.Games) / took.Seconds() * float64(deals) / float64(all)
	return append(parts, part{fmt.Sprintf("%.1f deals/s", rate), 5}, part{left, 4})
}

// countTests returns the number of sequential tests in the run, one for each match, and how many of them are over
// because they have reached a decision. If the run has no sequential tests, both results are 0.
func (r *Run) countTests() (tests, over int) {
	if r.SPRT == nil {
		return 0, 0
	}
	for _, m := range r.Matches() {
		if m.Progress != nil && m.Progress.Verdict != stats.Continue {
			over++
		}
	}
	return len(r.Matches()), over
}

// GameLine describes the finished game g of the match m in one line: its number, the bots by seat with their points,
// the winner, whether the bots' scores ended it early, and all faults.
func (r *Run) GameLine(m *tournament.Match, g *referee.GameResult) string {
	var b strings.Builder
	_, played := r.PlayedCounts()
	_, all := r.Total()
	fmt.Fprintf(&b, "game %d/%d: ", played, all)
	if r.Format != tournament.Single {
		fmt.Fprintf(&b, "match %d, ", m.Number)
	}
	fmt.Fprintf(&b, "deal %d, rotation %d:", g.Match.Deal, g.Match.Rotation)
	for seat, s := range g.Seats {
		if seat > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " %d %s %s", seat, s.Name, strconv.FormatFloat(g.Points[seat], 'f', -1, 64))
	}
	fmt.Fprintf(&b, ": %s, %s, %.2f s", r.winner(g), text.Count(len(g.Moves), "ply"), g.Took.Seconds())
	if ending := g.Ending(); ending != "" {
		b.WriteString("; " + ending)
	}
	for _, f := range g.Faults {
		fmt.Fprintf(&b, "; %s (seat %d) forfeits at ply %d: %s: %s", g.Seats[f.Seat].Name, f.Seat, f.Ply, f.Code, f.Text)
	}
	return b.String()
}

func (r *Run) winner(g *referee.GameResult) string {
	var names []string
	sides := map[int]bool{} // sides with the first rank
	drawn := true
	for seat, rank := range g.Ranks {
		if rank > 1 {
			drawn = false
			continue
		}
		sides[r.Variant.Side(seat)] = true
		name := g.Seats[seat].Name
		if len(r.Bots) == 1 {
			name = fmt.Sprintf("seat %d", seat)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch who := strings.Join(names, " and "); {
	case drawn:
		return "draw"
	case len(names) == 1:
		return who + " wins"
	case len(sides) == 1:
		return who + " win"
	default:
		return who + " tie for the first rank"
	}
}
