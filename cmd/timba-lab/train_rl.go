package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/lab/train/rl"
	"github.com/timba-arena/timba/referee/text"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

func newTrainRL() *cobra.Command {
	var f trainFlags
	c := rl.Default("")
	cmd := &cobra.Command{
		Use:   "rl",
		Short: "Learn Brisca or Tute by Monte Carlo learning",
		Long: "Plays games of agents against themselves and keeps the mean return of each action in each state,\n" +
			"as a study of 2024 does. The variants differ in what a state is: os has all that a player knows; ms\n" +
			"has trump card, trick, hand, songs, cards seen and rules, and falls back on the commonest action\n" +
			"among states with the same first three; as has an abstraction: hand, those first three alone, or\n" +
			"kinds, which has kinds of cards instead of cards and needs little memory.\n\n" +
			"The tables never take more than --memory. When they are full, new states are turned away, and the\n" +
			"others go on learning. Play with the model as @rl:model=DIR/model.timba.\n\n" +
			"Exit status: 0 good, 2 wrong usage or an error of timba, 3 interrupted.",
		Example: "  timba-lab train rl --variant ms --dry-run\n" +
			"  timba-lab train rl --variant as --episodes 100000 --out run\n" +
			"  timba match brisca @rl:model=run/model.timba @greedy --deals 10",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runTrainRL(cmd, &f, c) },
	}
	f.add(cmd, rl.Defects)
	flags := cmd.Flags()
	flags.StringVar(&c.Variant, "variant", c.Variant, "what a state is: one of "+strings.Join(policy.Variants(), ", "))
	flags.StringVar(&c.Abstraction, "abstraction", policy.Kinds, "of variant as: one of "+strings.Join(policy.Abstractions(), ", "))
	flags.BoolVar(&c.Alike, "alike", false, "states are equal that differ only in the names of suits that are not trumps")
	flags.StringVar(&c.Reward, "reward", c.Reward, "what comes between two turns: one of "+strings.Join(rl.Rewards(), ", "))
	flags.StringVar(&c.Untried, "untried", c.Untried, untriedHelp)
	flags.StringVar(&c.Rules, "rules", c.Rules, "the optional rules: all combinations in turn, none, or one as `DIGITS` 0 or 1 for exchange, last10, blackhand and, with two players, hunt3")
	flags.BoolVar(&c.FirstVisit, "first-visit", false, "learn only from the first of equal decisions in a game")
	cli.NumberFlag(cmd, &c.Episodes, "episodes", c.Episodes, 1, rl.MaxEpisodes, "games to play")
	cli.NumberFlag(cmd, &c.Agents, "agents", c.Agents, 1, rl.MaxAgents, "agents that learn: 1 plays against itself, the seats go round among several")
	cli.NumberFlag(cmd, &c.Memory, "memory", c.Memory, rl.MinMiB, rl.MaxMiB, "MiB that the tables may take")
	cli.NumberFlag(cmd, &c.Batch, "batch", c.Batch, 1, rl.MaxBatch, "episodes between two updates of the tables")
	cli.NumberFlag(cmd, &c.Visits, "visits", c.Visits, 1, rl.MaxVisits, "the model has the states that were visited at least so often")
	cli.NumberFlag(cmd, &c.Epsilon, "epsilon", c.Epsilon, 0, 1, "how often an action is random, at first")
	cli.NumberFlag(cmd, &c.Fall, "fall", c.Fall, 0, 1, "how much epsilon falls with each episode")
	cli.NumberFlag(cmd, &c.Gamma, "gamma", c.Gamma, 0, 1, "what a reward is worth a turn earlier")
	cli.NumberFlag(cmd, &c.Step, "step", c.Step, 0, 1, "the least weight of a new return in a mean; 0 weighs all returns alike")
	return cmd
}

const untriedHelp = "what an action counts that was never tried in a known state: " + rl.Zero +
	", so that it is taken where all means are negative, or " + rl.Ignored + ", so that it is taken only at random"

func runTrainRL(cmd *cobra.Command, f *trainFlags, c rl.Config) error {
	mode, defects, err := f.parse()
	if err != nil {
		return err
	}
	c.Mode, c.Seed, c.Defects = mode.String(), f.seed, defects
	if c.Variant != policy.Abstract && !cmd.Flags().Changed("abstraction") {
		c.Abstraction = ""
	}
	if err := c.Check(); err != nil {
		return err
	}
	return f.run(cmd, trainer(c, "episodes", rl.Start(c, f.cores()), func(r rl.Report) { writeRLReport(cmd, c, r) }))
}

func writeRLReport(cmd *cobra.Command, c rl.Config, r rl.Report) {
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "%s of a state and an action, %s in the model\n", text.Count(r.Pairs, "pair"), text.Count(r.States, "state"))
	fmt.Fprintf(w, "against random players: %d won, %d lost, %d drawn\n", r.Tally.Won, r.Tally.Lost, r.Tally.Drawn)
	if r.Turned > 0 {
		fmt.Fprintf(w, "the tables were full: %d new pairs were turned away; give more than --memory %d, or --variant %s\n", r.Turned, c.Memory, policy.Abstract)
	}
}
