package bench

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/stats"
	"github.com/timba-arena/timba/tournament"
)

// measuredGames are the games for which Duplicates measures the benefit of duplicate deals: card games, and board
// games in which luck is small or absent.
var measuredGames = []struct {
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

// Duplicates measures the benefit of duplicate deals. A duplicate deal is played once in each rotation of the bots
// over the seats. The results are the numbers of duplicate deals and of single games that are needed to distinguish
// two bots.
type Duplicates struct {
	Deals int    // number of deals for each game
	Seed  string // in the form that referee.ParseSeed reads
}

func (b Duplicates) Run(ctx context.Context, log io.Writer) (*Report, error) {
	seed, err := referee.ParseSeed(b.Seed)
	if err != nil {
		return nil, err
	}
	var bots []match.Contestant
	for _, name := range []string{"@greedy", "@greedy:noise=20"} {
		bot, err := findBot(ctx, name)
		if err != nil {
			return nil, err
		}
		bots = append(bots, bot)
	}
	workers, err := tournament.Workers(0, "auto")
	if err != nil {
		return nil, err
	}
	t := newTable(fmt.Sprintf("game|by|mean of %s|duplicate deals needed|games in them|single games needed|worth", bots[0].Name))
	for _, c := range measuredGames {
		fmt.Fprintf(log, "measuring %s\n", c.title)
		v, err := resolve(c.game, c.options)
		if err != nil {
			return nil, err
		}
		m := &match.Match{Variant: v, Bots: bots, Deals: b.Deals, Seed: seed, Clock: referee.DefaultClock, Resources: match.Resources{Workers: workers}}
		scores, points, err := playDeals(ctx, m)
		if err != nil {
			return nil, err
		}
		t.add(worthRow(c.title, "wins", scores)...)
		t.add(worthRow(c.title, "points", points)...)
	}
	return newReport(t), nil
}

// playDeals plays a match and returns the scores of the first bot, and its points minus those of its opponents.
// Both are indexed by deal, then by rotation (seating). A score goes from -0.5 if the bot loses to +0.5 if it wins;
// a tie is 0.
func playDeals(ctx context.Context, m *match.Match) (scores, points [][]float64, err error) {
	for range m.Deals {
		scores = append(scores, make([]float64, m.Rotations()))
		points = append(points, make([]float64, m.Rotations()))
	}
	err = m.Play(ctx, func(g *referee.GameResult) error {
		var result stats.DealResult
		result.Add(stats.Seats(g.Bots, m.Variant.Side, g.Ranks, g.Points))
		duel := result.Deal()[0]
		scores[g.Match.Deal][g.Match.Rotation] = duel.Score - 0.5
		points[g.Match.Deal][g.Match.Rotation] = duel.Points
		return nil
	})
	return scores, points, err
}

// power is the probability that the numbers of games in the table suffice to distinguish two bots (statistical
// power).
const power = 0.8

// worthRow returns a row of the table for one game. deals has the results of the first bot, by deal and rotation
// (seating). by says what they are: "wins" or "points". Cells are nil if the results do not allow an estimate.
func worthRow(title, by string, deals [][]float64) []any {
	w := newWorth(deals)
	row := []any{title, by, fmt.Sprintf("%+.3f ± %.3f", w.mean.Value, w.mean.PlusMinus()), nil, nil, nil, nil}
	if budget, ok := w.budget(w.mean.Value, power); ok {
		row[3], row[4], row[5] = budget.deals, budget.duplicateGames, budget.singleGames
	}
	if f := w.factor(); !math.IsInf(f, 0) {
		row[6] = oneDecimal(f)
	}
	return row
}
