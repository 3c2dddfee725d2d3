// Package worth measures the worth of duplicate deals: how many deals it takes to
// distinguish two bots with them, and without.
package worth

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
)

// cases are the card games, and board games without luck or nearly so.
var cases = []struct {
	title, game string
	options     map[string]string
}{
	{"Brisca, 2 players", "brisca", nil},
	{"Brisca, 2 players, all rules", "brisca", map[string]string{"exchange": "yes", "last10": "yes", "blackhand": "yes", "hunt3": "yes"}},
	{"Brisca, teams", "brisca", map[string]string{"players": "4", "teams": "yes"}},
	{"Tute, 2 players", "tute", nil},
	{"Tute, teams", "tute", map[string]string{"players": "4", "teams": "yes"}},
	{"La Podrida, 4 players", "podrida", map[string]string{"players": "4"}},
	{"Tebes, random board", "tebes", map[string]string{"board": "random"}},
	{"Teeko, random start", "teeko", nil},
}

// Table plays two bots in every case, deals deals each, on the cores of workers, and
// writes a Markdown table.
func Table(ctx context.Context, w io.Writer, bots []referee.Bot, deals int, seed rules.Seed, workers []int) error {
	fmt.Fprintf(w, "| game | by | mean of %s | duplicate deals needed | games in them | single games needed | worth |\n", bots[0].Name)
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|")
	for _, c := range cases {
		g, err := games.Find(c.game)
		if err != nil {
			return err
		}
		v, err := rules.Resolve(g, c.options)
		if err != nil {
			return err
		}
		scores, points, err := play(ctx, &referee.Match{Variant: v, Bots: bots, Deals: deals, Seed: seed, Clock: referee.DefaultClock, Workers: workers})
		if err != nil {
			return err
		}
		for _, row := range []struct {
			by    string
			deals [][]float64
		}{{"wins", scores}, {"points", points}} {
			if err := writeRow(w, c.title, row.by, row.deals); err != nil {
				return err
			}
		}
	}
	return nil
}

// play returns the first bot's results by deal and rotation: in wins (+0.5 for
// all, -0.5 for none) and in points per seat.
func play(ctx context.Context, m *referee.Match) (scores, points [][]float64, err error) {
	for range m.Deals {
		scores = append(scores, make([]float64, m.Rotations()))
		points = append(points, make([]float64, m.Rotations()))
	}
	m.Done = func(g *referee.Result) error {
		var seats []rating.Seat
		for seat, bot := range g.Bots {
			seats = append(seats, rating.Seat{Bot: bot, Side: m.Variant.Side(seat), Rank: g.Ranks[seat], Points: g.Points[seat]})
		}
		var sheet rating.Sheet
		sheet.Add(seats)
		duel := sheet.Deal()[0]
		scores[g.Match.Deal][g.Match.Rotation] = duel.Score - 0.5
		points[g.Match.Deal][g.Match.Rotation] = duel.Points
		return nil
	}
	return scores, points, m.Play(ctx)
}

// power is the power of the tests in the table.
const power = 0.8

func writeRow(w io.Writer, title, by string, deals [][]float64) error {
	worth, err := rating.MeasureWorth(deals)
	if err != nil {
		return err
	}
	budget, err := worth.Budget(worth.Mean.Value, power)
	if err != nil { // no difference can be seen
		fmt.Fprintf(w, "| %s | %s | %+.3f ± %.3f | - | - | - | %s |\n", title, by, worth.Mean.Value, worth.Mean.PlusMinus(), factorText(worth))
		return nil
	}
	_, err = fmt.Fprintf(w, "| %s | %s | %+.3f ± %.3f | %d | %d | %d | %s |\n", title, by, worth.Mean.Value, worth.Mean.PlusMinus(),
		budget.Deals, budget.DuplicateGames, budget.SingleGames, factorText(worth))
	return err
}

// factorText returns the worth, a dash where too few deals were played to tell.
func factorText(w rating.Worth) string {
	if f := w.Factor(); !math.IsInf(f, 0) {
		return fmt.Sprintf("%.1f", f)
	}
	return "-"
}
