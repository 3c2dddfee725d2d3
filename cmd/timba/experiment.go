package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/experiment"
	"github.com/timba-arena/timba/ladder/tournament"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/text"
	"github.com/timba-arena/timba/sandbox"
)

// experimentFlags are the flags of an experiment, as users write them.
type experimentFlags struct {
	scale, timeScale float64
	seed             string
	concurrency      int
	out              string
	json             bool
}

func newExperiment() *cobra.Command {
	var f experimentFlags
	cmd := &cobra.Command{
		Use:   "experiment [EXPERIMENT]",
		Short: "Play a study's experiment again and compare the figures",
		Long: "Plays an experiment of one of the studies behind the house bots again, and prints its figures\n" +
			"beside the published ones, both with 95 % intervals. Two figures agree if their intervals have\n" +
			"a point in common. Without a name it lists the experiments, with the time that a whole run takes.\n\n" +
			"--scale plays fewer games or more. Where the clock limits bots, --time-scale changes the time\n" +
			"that they have for a move. The seed decides all games, unless the clock does.\n\n" +
			"After Ctrl-C the figures are those of the games that have ended.\n\n" +
			"Exit status: 0 good, also where figures differ, 2 wrong usage or an error of timba, 3 interrupted.",
		Example: "  timba experiment\n" +
			"  timba experiment teeko-5\n" +
			"  timba experiment tebes-depth-4 --scale 0.1 --out results\n" +
			"  timba experiment tebes-methods --scale 0.1 --time-scale 0.05",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeExperiment,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return f.list(cmd)
			}
			return f.run(cmd, args[0])
		},
	}
	flags := cmd.Flags()
	factorFlag(cmd, &f.scale, "scale", experiment.MinScale, experiment.MaxScale, "how many times the study's games to play")
	factorFlag(cmd, &f.timeScale, "time-scale", experiment.MinTimeScale, experiment.MaxTimeScale, "how many times the study's time for a move the bots have")
	flags.StringVar(&f.seed, "seed", "1", "seed: 64 hexadecimal digits or a number")
	numberFlag(cmd, &f.concurrency, "concurrency", 0, 1, 1024, "games at the same time (default: one for each core)")
	flags.StringVar(&f.out, "out", "", "write the figures as CSV, and the plots, into this `DIR`")
	jsonFlag(cmd, &f.json)
	return cmd
}

func (f *experimentFlags) list(cmd *cobra.Command) error {
	list, err := experiment.List()
	if err != nil {
		return err
	}
	if f.json {
		return writeJSON(cmd.OutOrStdout(), experiment.Summaries(list))
	}
	experiment.WriteList(cmd.OutOrStdout(), list)
	fmt.Fprintln(cmd.OutOrStdout(), "\nThe times are those of a whole run on two cores. timba experiment EXPERIMENT runs one.")
	return nil
}

func (f *experimentFlags) run(cmd *cobra.Command, name string) error {
	e, err := experiment.Find(name)
	if err != nil {
		return err
	}
	o := experiment.Options{Scale: f.scale, TimeScale: f.timeScale, Resolver: resolver(cmd, sandbox.None)}
	if o.Seed, err = referee.ParseSeed(f.seed); err != nil {
		return err
	}
	if o.Workers, err = tournament.Workers(f.concurrency, "auto"); err != nil {
		return err
	}
	if f.out != "" {
		if err := os.MkdirAll(f.out, 0o755); err != nil {
			return err
		}
	}
	bar := newProgress(cmd.ErrOrStderr(), "games")
	o.Done = func(games, all int) {
		bar.ChangeMax(all)
		bar.Set(games)
	}
	r, err := e.Run(cmd.Context(), o)
	bar.Clear()
	if r == nil {
		return err
	}
	if f.json {
		err = writeJSON(cmd.OutOrStdout(), r)
	} else {
		r.Write(cmd.OutOrStdout())
		err = nil
	}
	if err == nil && f.out != "" {
		err = f.save(cmd, r)
	}
	if err == nil && r.Interrupted {
		fmt.Fprintf(cmd.ErrOrStderr(), "interrupted after %s of %d\n", text.Count(r.Games, "game"), r.All)
		return errNoVerdict
	}
	return err
}

func (f *experimentFlags) save(cmd *cobra.Command, r *experiment.Report) error {
	files, err := r.Save(f.out)
	for _, file := range files {
		fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s\n", text.Quote(file))
	}
	return err
}

// completeExperiment completes the name of an experiment.
func completeExperiment(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if list, err := experiment.List(); err == nil && len(args) == 0 {
		for _, e := range list {
			names = append(names, e.Name+"\t"+e.Title)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
