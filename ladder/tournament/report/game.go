package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/ladder/tournament"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/text"
)

// GameLine returns a finished game in one line: its place in the tournament, the bots by seat
// with their points, the result, whether it was adjudicated, and the fault of each seat that
// forfeited.
func (r *Run) GameLine(m *tournament.Match, g *referee.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "game %d/%d: ", r.Resumed()+r.Played, r.Games())
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

// winner returns who won a game.
func (r *Run) winner(g *referee.Result) string {
	var names []string
	sides := map[int]bool{} // of the first rank
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
