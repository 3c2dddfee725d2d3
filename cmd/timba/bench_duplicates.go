package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
)

func newBenchDuplicates() *cobra.Command {
	var deals int
	var seed string
	cmd := &cobra.Command{
		Use:   "duplicates",
		Short: "Measure what duplicate deals are worth",
		Long: "Plays two bots of slightly different strength, @greedy and @greedy:noise=20, at every\n" +
			"card game, and at two board games for comparison. Says how many deals it takes to tell\n" +
			"them apart with 80 % certainty by a 95 % interval, with duplicate deals and with as many\n" +
			"single games on deals of their own. The table is Markdown, as in docs/statistics.md.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := referee.ParseSeed(seed)
			if err != nil {
				return err
			}
			if deals < 2 {
				return fmt.Errorf("bench: deals cannot be %d: try 2 or more", deals)
			}
			return benchDuplicates(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), deals, referee.Hex(s).String())
		},
	}
	cmd.Flags().IntVar(&deals, "deals", 1000, "deals of each game")
	cmd.Flags().StringVar(&seed, "seed", "1", "seed: 64 hexadecimal digits or a number")
	return cmd
}

// duplicateCases are the card games, and board games without luck or nearly so.
var duplicateCases = []struct {
	title, game string
	set         []string
}{
	{"Brisca, 2 players", "brisca", nil},
	{"Brisca, 2 players, all rules", "brisca", []string{"exchange=yes", "last10=yes", "blackhand=yes", "hunt3=yes"}},
	{"Brisca, teams", "brisca", []string{"players=4", "teams=yes"}},
	{"Tute, 2 players", "tute", nil},
	{"Tute, teams", "tute", []string{"players=4", "teams=yes"}},
	{"La Podrida, 4 players", "podrida", []string{"players=4"}},
	{"Tebes, random board", "tebes", []string{"board=random"}},
	{"Teeko, random start", "teeko", nil},
}

func benchDuplicates(ctx context.Context, w, log io.Writer, deals int, seed string) error {
	programs, err := program.ResolveAll([]string{"@greedy", "@greedy:noise=20"}, log)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "| game | by | mean of @greedy | duplicate deals needed | games in them | single games needed | worth |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|")
	for _, c := range duplicateCases {
		f := matchFlags{set: c.set, affinity: "auto", seed: seed}
		v, err := settle(c.game, c.set, len(programs))
		if err != nil {
			return err
		}
		m := &referee.Match{Variant: v, Deals: deals, Clock: referee.DefaultClock}
		if m.Seed, err = referee.ParseSeed(f.seed); err != nil {
			return err
		}
		if m.Lanes, err = f.lanes(); err != nil {
			return err
		}
		for _, p := range programs {
			m.Bots = append(m.Bots, p.Bot)
		}
		scores, points, err := playDuplicates(ctx, m)
		if err != nil {
			return err
		}
		for _, row := range []struct {
			by    string
			deals [][]float64
		}{{"wins", scores}, {"points", points}} {
			if err := printWorth(w, c.title, row.by, row.deals); err != nil {
				return err
			}
		}
	}
	return nil
}

// playDuplicates gives the first bot's edge by deal and rotation: in wins (+0.5
// for all, -0.5 for none) and in points a seat.
func playDuplicates(ctx context.Context, m *referee.Match) (scores, points [][]float64, err error) {
	for range m.Deals {
		scores = append(scores, make([]float64, m.Rotations()))
		points = append(points, make([]float64, m.Rotations()))
	}
	m.Done = func(g *referee.Game) error {
		var seats []rating.Seat
		for seat, bot := range g.Bots {
			seats = append(seats, rating.Seat{Bot: bot, Side: m.Variant.Side(seat), Rank: g.Ranks[seat], Points: g.Points[seat]})
		}
		var sheet rating.Sheet
		if err := sheet.Add(seats); err != nil {
			return err
		}
		duel := sheet.Deal()[0]
		scores[g.Match.Deal][g.Match.Rotation] = duel.Score - 0.5
		points[g.Match.Deal][g.Match.Rotation] = duel.Points
		return nil
	}
	return scores, points, m.Play(ctx)
}

// power is the chance with which the tests of the table find the difference.
const power = 0.8

func printWorth(w io.Writer, title, by string, deals [][]float64) error {
	worth, err := rating.MeasureWorth(deals)
	if err != nil {
		return err
	}
	budget, err := worth.Budget(worth.Mean.Value, power)
	if err != nil { // the two are equal as far as can be seen
		fmt.Fprintf(w, "| %s | %s | %+.3f ± %.3f | - | - | - | %.1f |\n", title, by, worth.Mean.Value, worth.Mean.PlusMinus(), worth.Factor())
		return nil
	}
	_, err = fmt.Fprintf(w, "| %s | %s | %+.3f ± %.3f | %d | %d | %d | %.1f |\n", title, by, worth.Mean.Value, worth.Mean.PlusMinus(),
		budget.Deals, budget.DuplicateGames, budget.SingleGames, worth.Factor())
	return err
}
