package main

import (
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/ladder/rating/worth"
	"github.com/timba-arena/timba/ladder/tournament"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sandbox"
)

func newBenchDuplicates() *cobra.Command {
	var deals int
	var seed string
	cmd := &cobra.Command{
		Use:   "duplicates",
		Short: "Measure the benefit of duplicate deals",
		Long: "Plays two bots of slightly different strength, @greedy and @greedy:noise=20, at every\n" +
			"card game, and at two board games for comparison. Prints how many deals are needed to\n" +
			"tell them apart with a probability of 80 % by a 95 % interval: with duplicate deals, and\n" +
			"with as many single games on different deals. The table is Markdown, as in\n" +
			"docs/statistics.md.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := referee.ParseSeed(seed)
			if err != nil {
				return err
			}
			return benchDuplicates(cmd, deals, s)
		},
	}
	cli.NumberFlag(cmd, &deals, "deals", 1000, 2, 1_000_000, "deals of each game")
	cmd.Flags().StringVar(&seed, "seed", "1", "seed: 64 hexadecimal digits or a number")
	return cmd
}

func benchDuplicates(cmd *cobra.Command, deals int, seed rules.Seed) error {
	programs, err := cli.Resolver(cmd, sandbox.None).ResolveAll(cmd.Context(), []string{"@greedy", "@greedy:noise=20"})
	if err != nil {
		return err
	}
	var bots []referee.Bot
	for _, p := range programs {
		bots = append(bots, p.Bot)
	}
	workers, err := tournament.Workers(0, "auto")
	if err != nil {
		return err
	}
	return worth.Table(cmd.Context(), cmd.OutOrStdout(), bots, deals, seed, workers)
}
