package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/lab/chart"
	"github.com/timba-arena/timba/lab/simulation"
	"github.com/timba-arena/timba/lab/simulation/curves"
)

func newBenchLadder() *cobra.Command {
	c := simulation.Config{}
	var plotFile string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ladder",
		Short: "Measure how fast a ladder finds the order of its bots",
		Long: "Plays simulated ladders with bots of known strength: with timba's matchmaking and ratings,\n" +
			"and for comparison with plain Elo and random pairing. Prints how well the ratings agree\n" +
			"with the true strengths after a number of matches per bot, and how fast newcomers to an\n" +
			"established ladder reach their Elo. The tables are Markdown, as in docs/ladder.md.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.Check(); err != nil {
				return err
			}
			if err := chart.Check(plotFile); err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			if asJSON {
				w = io.Discard
			}
			r, err := simulation.Measure(cmd.Context(), w, c)
			if err != nil {
				return err
			}
			if plotFile != "" {
				if err := curves.Draw(r, plotFile); err != nil {
					return err
				}
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), r)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.IntVar(&c.Bots, "bots", 500, "bots on the ladder")
	f.IntVar(&c.Deals, "deals", 10, "deals of a match")
	f.IntVar(&c.Matches, "matches", 100, "matches of each bot, on average")
	f.IntVar(&c.Runs, "runs", 10, "ladders played by each method")
	f.Uint64Var(&c.Seed, "seed", 1, "seed of the simulation")
	f.StringVar(&plotFile, "plot", "", "write the curves to this file, .svg, .png or .pdf")
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}
