package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/lab/bench"
)

// measurement is implemented by the struct of each command that measures something. The command's flags set the
// fields of the struct. Run measures and writes its progress to log.
type measurement interface {
	Run(ctx context.Context, log io.Writer) (*bench.Report, error)
}

// measure makes cmd run the measurement m and print the report, with the flag --json as JSON. It returns cmd.
func measure(cmd *cobra.Command, m measurement) *cobra.Command {
	return cli.Result(cmd, func(cmd *cobra.Command, _ []string) (*bench.Report, error) {
		return m.Run(cmd.Context(), cmd.ErrOrStderr())
	}, func(w io.Writer, r *bench.Report) { r.Write(w) })
}

func timeFlag(cmd *cobra.Command, to *time.Duration, value, least time.Duration, usage string) {
	cli.NumberFlag(cmd, to, "time", value, least, 24*time.Hour, usage)
}

// dealsFlags adds the flags --deals and --seed to cmd, the command of a measurement. --deals is the number of deals
// (starting positions) of each game; least is its smallest value.
func dealsFlags(cmd *cobra.Command, deals *int, seed *string, least int) {
	cli.NumberFlag(cmd, deals, "deals", 1000, least, 1_000_000, "deals of each game")
	cmd.Flags().StringVar(seed, "seed", "1", "seed: 64 hexadecimal digits or a number")
}

// newBench returns the command bench, which measures the speed of timba itself and has a command for each other
// measurement.
func newBench() *cobra.Command {
	b := new(bench.Speed)
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure this machine",
		Long: "Measures the speed of timba on this machine. Where a lower bound exists, it is measured\n" +
			"in the same run:\n\n" +
			"  turn      one turn through the referee, with two bots that answer at once, compared\n" +
			"            with a bare program that exchanges the same bytes with the same bots\n" +
			"  games     whole games between @random processes, on all cores",
	}
	timeFlag(cmd, &b.Time, time.Second, time.Millisecond, "about how long each figure is measured")
	cmd.AddCommand(newBenchDuplicates(), newBenchEnv(), newBenchLadder(), newBenchOpenings(), newBenchSandbox())
	return measure(cmd, b)
}

// newBenchDuplicates returns the command that measures what is gained by playing each deal with every seating of the
// bots: how many fewer deals are then needed to tell two bots apart.
func newBenchDuplicates() *cobra.Command {
	b := new(bench.Duplicates)
	cmd := &cobra.Command{
		Use:   "duplicates",
		Short: "Measure the benefit of duplicate deals",
		Long: "Plays two bots of slightly different strength, @greedy and @greedy:noise=20, at every\n" +
			"card game, and at two board games for comparison. Prints how many deals are needed to\n" +
			"tell them apart with a probability of 80 % by a 95 % interval: with duplicate deals, and\n" +
			"with as many single games on different deals. lab/results has the table as CSV.",
	}
	dealsFlags(cmd, &b.Deals, &b.Seed, 2)
	return measure(cmd, b)
}

func newBenchEnv() *cobra.Command {
	b := new(bench.Env)
	cmd := &cobra.Command{
		Use:   "env",
		Short: "Measure random games through the client of timba-lab env in Python",
		Long: "Plays random games through timba-lab env and its client in Python, both on one core. Prints how many\n" +
			"games a second are played, by the clock and by the processor time. The client chooses the actions with\n" +
			"numpy, from the lists or from the masks of legal actions, or without numpy. Brisca is compared with the\n" +
			"environment of a study.",
	}
	timeFlag(cmd, &b.Time, 2*time.Second, time.Millisecond, "about how long each figure is measured")
	return measure(cmd, b)
}

func newBenchLadder() *cobra.Command {
	b := new(bench.Ladder)
	cmd := &cobra.Command{
		Use:   "ladder",
		Short: "Measure how fast a ladder finds the order of its bots",
		Long: "Plays simulated ladders with bots of known strength: with timba's matchmaking and ratings,\n" +
			"and for comparison with plain Elo and random pairing. Prints how well the ratings agree\n" +
			"with the true strengths after a number of matches per bot, and how fast newcomers to an\n" +
			"established ladder reach their Elo. Then simulates ladders like those of competitions, small and\n" +
			"with teams, equal bots and new versions, and prints the errors of Elo and of the fit.\n" +
			"lab/experiments.md explains the tables.",
	}
	cli.NumberFlag(cmd, &b.Bots, "bots", 500, 4, 5000, "bots on the ladder")
	cli.NumberFlag(cmd, &b.Deals, "deals", 10, 1, 1000, "deals of a match")
	cli.NumberFlag(cmd, &b.Matches, "matches", 100, 1, 1000, "matches of each bot, on average")
	cli.NumberFlag(cmd, &b.Runs, "runs", 10, 1, 1000, "ladders played by each method")
	cmd.Flags().Uint64Var(&b.Seed, "seed", 1, "seed of the simulation")
	cmd.Flags().StringVar(&b.Plot, "plot", "", "write the curves to this file, .svg, .png or .pdf")
	return measure(cmd, b)
}

// newBenchOpenings returns the command that counts, for games that always begin in the same position, how varied
// and how even random first moves make them.
func newBenchOpenings() *cobra.Command {
	b := new(bench.Openings)
	cmd := &cobra.Command{
		Use:   "openings",
		Short: "Measure how varied and how even openings are",
		Long: "Counts, for every game without chance in its deal and every length of an opening, how\n" +
			"many distinct openings there are, how many distinct deals two deterministic bots play,\n" +
			"what the first player scores between equal bots, and how many openings favour one side\n" +
			"by far. lab/results has the table as CSV.",
	}
	dealsFlags(cmd, &b.Deals, &b.Seed, 1)
	return measure(cmd, b)
}

func newBenchSandbox() *cobra.Command {
	b := new(bench.Sandbox)
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Measure the cost of sandboxes",
		Long: "Measures bots without a sandbox and in one: at each level with namespaces that this\n" +
			"machine has and, where possible, with the bot stopped between turns. The measurements\n" +
			"alternate. The table shows medians, quartiles and the ratio to the bot without a\n" +
			"sandbox.\n\n" +
			"  start     from the start of a bot to its ready, for the starters of timba init in each\n" +
			"            language that this machine has\n" +
			"  turn      one turn through the referee, with two bots that answer at once\n" +
			"  twelve    from the simultaneous start of twelve Python bots to the last one's ready",
	}
	timeFlag(cmd, &b.Time, 2*time.Second, time.Millisecond, "about how long each row is measured")
	cmd.Flags().StringSliceVar(&b.Languages, "languages", nil, "start only bots in these `languages` (default: all that this machine has)")
	return measure(cmd, b)
}
