package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/lab/train/ga"
	"github.com/timba-arena/timba/lab/train/rl"
	"github.com/timba-arena/timba/lab/train/sl"
	"github.com/timba-arena/timba/referee/text"
	"github.com/timba-arena/timba/sample-bots/learned/features"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

func newTrainGA() *cobra.Command {
	var f trainFlags
	c := ga.Default("")
	var layers, crossovers, mutations string
	cmd := &cobra.Command{
		Use:   "ga",
		Short: "Search for a net or an agent by a genetic algorithm",
		Long: "Breeds nets that rank all moves in one pass (xn), or agents that learn by Monte Carlo from the games that they\n" +
			"play (rl), as a study of 2024 does: the best of a generation, by games won and then by points, have\n" +
			"children by crossover and mutation. All pairings of a generation play the same deals, each once in every\n" +
			"rotation. Play with the model as @ga:model=DIR/model.timba.\n\n" +
			"Exit status: 0 good, 2 wrong usage or an error of timba, 3 interrupted.",
		Example: "  timba-lab train ga --dry-run\n" +
			"  timba-lab train ga --generations 20 --out run\n" +
			"  timba-lab train ga --rival @greedy --policy custom --crossover 0.9 --mutation 0.5 --mutations noise,swap --out bred\n" +
			"  timba-lab train ga --variant rl --generations 20 --out agents\n" +
			"  timba match brisca @ga:model=run/model.timba @greedy --deals 10",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.defects = ga.DefectsOf(c.Variant)
			m, defects, err := f.parse()
			if err != nil {
				return err
			}
			if c.Layers, err = sl.ParseHidden(layers, m, features.Genetic); err != nil {
				return err
			}
			c.Mode, c.Seed, c.Defects = m.String(), f.seed, defects
			c.Crossovers, c.Mutations = list(crossovers), list(mutations)
			if err := ofVariant(cmd, &c); err != nil {
				return err
			}
			if err := c.Check(); err != nil {
				return err
			}
			return f.run(cmd, trainer(c, "generations", ga.Start(c, f.cores()), func(r ga.Report) { writeGAReport(cmd, c, r) }))
		},
	}
	agents := ga.DefaultAgents("")
	f.add(cmd, ga.Defects)
	flags := cmd.Flags()
	flags.StringVar(&c.Variant, "variant", c.Variant, "what individuals are: "+ga.Nets+" for nets, "+ga.Agents+" for agents that learn by Monte Carlo")
	flags.StringVar(&layers, "layers", "50-25", "the units of the hidden `LAYERS`, or thirds: 1/2, 1/4 and 1/6 of the inputs")
	flags.StringVar(&c.Rules, "rules", c.Rules, "the optional rules: all combinations by chance, none, or one as `DIGITS` 0 or 1 for exchange, last10, blackhand and, with two players, hunt3")
	flags.StringVar(&c.Rival, "rival", "", "a house `BOT` that all play against, or random (default: each other)")
	flags.BoolVar(&c.Elite, "elite", c.Elite, "the best stay in the next generation")
	flags.BoolVar(&c.Double, "double", false, "the best are chosen from twice as many that play a second time")
	flags.StringVar(&c.Policy, "policy", c.Policy, "how likely crossover and mutation are: one of "+strings.Join(ga.PolicyNames, ", "))
	flags.StringVar(&crossovers, "crossovers", strings.Join(c.Crossovers, ","), "the crossovers, a `LIST` joined by commas")
	flags.StringVar(&mutations, "mutations", strings.Join(c.Mutations, ","), "the mutations, a `LIST` joined by commas of "+strings.Join(ga.MutationNames(), ", "))
	cli.NumberFlag(cmd, &c.Crossover, "crossover", 0, 0, 1, "how likely crossover is with --policy custom")
	cli.NumberFlag(cmd, &c.Mutation, "mutation", 0, 0, 1, "how likely mutation is with --policy custom")
	flags.StringVar(&c.Keys, "keys", agents.Keys, "of variant rl: what a state is, as of timba-lab train rl: one of "+strings.Join(policy.KeyNames(), ", "))
	flags.StringVar(&c.Untried, "untried", agents.Untried, "of variant rl: "+untriedHelp)
	cli.NumberFlag(cmd, &c.Epsilon, "epsilon", agents.Epsilon, 0, 1, "of variant rl: how often an action is random")
	cli.NumberFlag(cmd, &c.Memory, "memory", agents.Memory, rl.MinMiB, rl.MaxMiB, "of variant rl: MiB that all tables together may take")
	cli.NumberFlag(cmd, &c.Population, "population", c.Population, 2, ga.MaxPopulation, fmt.Sprintf("nets of a generation; %d agents by default", agents.Population))
	cli.NumberFlag(cmd, &c.Best, "best", c.Best, 2, ga.MaxPopulation, fmt.Sprintf("nets that have children; %d agents by default", agents.Best))
	cli.NumberFlag(cmd, &c.Games, "games", c.Games, 1, ga.MaxGames, "games of a pairing")
	cli.NumberFlag(cmd, &c.Generations, "generations", c.Generations, 1, ga.MaxGenerations, "how many generations to breed")
	cli.NumberFlag(cmd, &c.Positions, "positions", 0, 0, ga.MaxPositions, "judge nets by their moves in so many positions, not by games")
	flags.StringVar(&c.Value, "value", c.Value, "what a move in a position is worth: "+ga.ValueGame+" plays to the end of the game, "+ga.ValueTrick+" to that of the trick and adds the study's heuristic value")
	cli.NumberFlag(cmd, &c.Playouts, "playouts", c.Playouts, 1, ga.MaxPlayouts, "random games by which each move of a position is valued")
	cli.NumberFlag(cmd, &c.Final, "final", c.Final, 0, ga.MaxGames, "games by which the model is chosen from the last best individuals")
	return cmd
}

// The flags that only one of the variants has.
var (
	netFlags   = []string{"layers", "positions", "playouts", "value"}
	agentFlags = []string{"keys", "epsilon", "memory", "untried"}
)

// ofVariant gives the parameters that were not named the defaults of the variant, and returns an
// error for a flag that only the other has.
func ofVariant(cmd *cobra.Command, c *ga.Config) error {
	others := agentFlags
	if c.Variant == ga.Agents {
		others = netFlags
	}
	for _, name := range others {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s is not for variant %s: leave it out", name, c.Variant)
		}
	}
	if c.Variant != ga.Agents {
		c.Keys, c.Epsilon, c.Untried, c.Memory = "", 0, "", 0
		return nil
	}
	d := ga.DefaultAgents(c.Mode)
	c.Layers, c.Playouts, c.Value = d.Layers, d.Playouts, d.Value
	if !cmd.Flags().Changed("population") {
		c.Population = d.Population
	}
	if !cmd.Flags().Changed("best") {
		c.Best = min(d.Best, c.Population)
	}
	if !cmd.Flags().Changed("mutations") {
		c.Mutations = d.Mutations
	}
	return nil
}

func writeGAReport(cmd *cobra.Command, c ga.Config, r ga.Report) {
	w := cmd.OutOrStdout()
	if c.Variant == ga.Agents {
		fmt.Fprintf(w, "%s of a state and an action, %s in the model\n", text.Count(r.Pairs, "pair"), text.Count(r.States, "state"))
	} else {
		fmt.Fprintf(w, "%s in the last generation\n", text.Count(r.Nets, "different net"))
	}
	if r.Turned > 0 {
		fmt.Fprintf(w, "tables were full: %d new pairs were turned away; give more than --memory %d, or --keys %s\n", r.Turned, c.Memory, policy.Kinds)
	}
	fmt.Fprintf(w, "against random players: %.1f %% of %s won, %.1f points a game\n", 100*r.Random.Share(), text.Count(r.Random.Games, "game"), r.Random.Mean())
}

// list returns the words of a list joined by commas.
func list(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
