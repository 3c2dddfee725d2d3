package main

import (
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/lab/bench"
	"github.com/timba-arena/timba/referee"
)

func newBenchOpenings() *cobra.Command {
	var deals int
	var seed string
	cmd := &cobra.Command{
		Use:   "openings",
		Short: "Measure how varied and how even openings are",
		Long: "Counts, for every game without chance in its deal and every length of an opening, how\n" +
			"many distinct openings there are, how many distinct deals two deterministic bots play,\n" +
			"what the first player scores between equal bots, and how many openings favour one side\n" +
			"by far. The table is Markdown, as in docs/statistics.md.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := referee.ParseSeed(seed)
			if err != nil {
				return err
			}
			return bench.Openings(cmd.Context(), cmd.OutOrStdout(), deals, s)
		},
	}
	cli.NumberFlag(cmd, &deals, "deals", 1000, 1, 1_000_000, "deals of each game")
	cmd.Flags().StringVar(&seed, "seed", "1", "seed: 64 hexadecimal digits or a number")
	return cmd
}
