package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/timba-arena/timba/referee/text"
	"github.com/timba-arena/timba/referee/tournament"
)

// writeStandings writes a line for each bot, the best first. What decides the order
// comes first: the match points of a Swiss tournament, the round that a bot was out
// in of a knockout, the rating of others.
func (r *Run) writeStandings(w io.Writer, results tournament.Results) {
	tab := text.Table(w)
	head, elo := table.Row{"bot"}, table.Row{"Elo", "± 95 %"}
	tail := table.Row{"games", "wins", "draws", "losses", "points", "points a game", "faults"}
	switch {
	case r.Format == tournament.Swiss:
		head = append(table.Row{"place", "match points"}, head...)
	case r.Format == tournament.Knockout:
		head = append(table.Row{"place", "out in"}, head...)
	}
	order := func(head, elo, tail table.Row) table.Row {
		switch {
		case len(r.Bots) <= 2:
			return append(head, tail...)
		case len(head) == 1:
			return append(append(elo, head...), tail...)
		}
		return append(append(head, tail...), elo...)
	}
	tab.AppendHeader(order(head, elo, tail))
	for i, s := range results.Standings {
		head := table.Row{s.Name}
		switch r.Format {
		case tournament.Swiss:
			head = table.Row{i + 1, fmt.Sprintf("%.2f", s.Match), s.Name}
		case tournament.Knockout:
			head = table.Row{i + 1, r.outIn(s, results), s.Name}
		}
		elo := table.Row{fmt.Sprintf("%+.0f", math.Round(s.Rating.Value)+0), plusMinus(s.Rating.PlusMinus(), 0)}
		tail := table.Row{s.Games, s.Wins, s.Draws, s.Losses, fmt.Sprintf("%g", s.Points), perGame(s.Score), r.faultsOf(s.Bot)}
		tab.AppendRow(order(head, elo, tail))
	}
	tab.Render()
}

// outIn says how far a bot has come in a knockout.
func (r *Run) outIn(s tournament.Standing, results tournament.Results) string {
	switch {
	case s.Bot == results.Champion:
		return "champion"
	case s.Out < 0:
		return "-"
	}
	return r.roundName(s.Out, results)
}

// roundName returns the name of a round, from 0.
func (r *Run) roundName(round int, results tournament.Results) string {
	matches := r.Matches()
	if r.Format == tournament.Knockout && results.Champion >= 0 && round == matches[len(matches)-1].Round {
		return "final"
	}
	return fmt.Sprintf("round %d", round+1)
}

// writeRounds writes who met whom in each round, with their match points, and who has
// won it all.
func (r *Run) writeRounds(w io.Writer, results tournament.Results) {
	fmt.Fprintln(w)
	tab := text.Table(w)
	header := table.Row{"round", "match points"}
	if r.Format == tournament.Knockout {
		header = append(header, "goes on")
	}
	tab.AppendHeader(header)
	last := -1
	for _, m := range r.Matches() {
		name := ""
		if m.Round != last {
			name, last = r.roundName(m.Round, results), m.Round
		}
		row := table.Row{name, r.matchPoints(m)}
		if r.Format == tournament.Knockout {
			winner := "-"
			if r.Finished(m) {
				winner = r.Bots[m.Winner()].Name
				if by := m.TieBreak(); by != "" {
					winner += " (after a tie: " + by + ")"
				}
			}
			row = append(row, winner)
		}
		tab.AppendRow(row)
	}
	tab.Render()
	if results.Champion >= 0 {
		fmt.Fprintf(w, "\nchampion: %s\n", r.Bots[results.Champion].Name)
	}
}

// matchPoints tells who plays in a match, with the points so far.
func (r *Run) matchPoints(m *tournament.Match) string {
	if len(m.Bots) == 1 {
		return r.Bots[m.Bots[0]].Name + " has a bye"
	}
	var bots []string
	for i, p := range m.Points() {
		bots = append(bots, fmt.Sprintf("%s %.2f", r.Bots[m.Bots[i]].Name, p))
	}
	return strings.Join(bots, " - ")
}
