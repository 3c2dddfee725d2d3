package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/lab/experiment"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/lab/train/tebesfit"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/tournament"
)

// newTrainTebes returns the command "timba-lab train tebes-weights". The command searches for weights of the bot
// @tebes-minimax such that the results of its games match the published tables of a study as closely as possible.
func newTrainTebes() *cobra.Command {
	c := tebesfit.Search{Games: 4, Evaluations: 60, Finalists: 4, Seed: 1, Play: experiment.DefaultOptions}
	out, concurrency := "", 0
	cmd := &cobra.Command{
		Use:   "tebes-weights",
		Short: "Fit the weights of the bots for Tebes to the study's tables",
		Long: "Searches the weights of @tebes-minimax with which its games fit the study's tables 5.1 and 5.2 and the rows of\n" +
			"alpha-beta in table 5.5 best, and writes all trials as CSV. The last rows are the finalists, which play four\n" +
			"times as many games; the first of them is the fit. A trial of 4 games a cell takes about half a minute.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			c.Play.Resolver = cli.Resolver(cmd, sandbox.LevelNone)
			if c.Play.Workers, err = tournament.Workers(concurrency, "auto"); err != nil {
				return err
			}
			progress := cli.NewProgress(cmd.ErrOrStderr(), "trials")
			c.Progress = progress.Set
			trials, err := tebesfit.Fit(cmd.Context(), c)
			progress.Clear()
			if err != nil {
				return err
			}
			return cli.WriteFile(cmd, out, func(w io.Writer) error { return c.Write(w, trials) })
		},
	}
	addParams(cmd, []run.Param{
		{Name: "games", Target: &c.Games, Min: 1, Max: 1000, Help: "games for each of the 36 cells in a trial"},
		{Name: "evaluations", Target: &c.Evaluations, Min: 1, Max: 100, Help: "trials of the search"},
		{Name: "finalists", Target: &c.Finalists, Max: 100, Help: "how many of the best trials are played again"},
		{Name: "seed", Target: &c.Seed, Help: "the seed of everything random"},
		{Name: "out", Target: &out, Help: "write the trials to this `FILE`"},
	})
	cli.NumberFlag(cmd, &concurrency, "concurrency", 0, 1, 1024, "games at the same time (default: one for each core)")
	return cmd
}
