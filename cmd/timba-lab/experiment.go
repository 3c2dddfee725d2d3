package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/lab/experiment"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/tournament"
)

// experimentFlags are the flags of an experiment as the user writes them.
type experimentFlags struct {
	experiment.Options
	seed        string
	concurrency int
	out         string
	json        bool
	study       string
	hours       float64
}

func newExperiment() *cobra.Command {
	f := experimentFlags{Options: experiment.DefaultOptions}
	cmd := &cobra.Command{
		Use:   "experiment [EXPERIMENT]",
		Short: "Play a study's experiment again and compare the figures",
		Long: "Repeats an experiment of one of the studies behind the house bots, and prints its figures beside the\n" +
			"published ones, both with 95 % intervals. Two figures agree if their intervals have a point in common.\n" +
			"For each table it prints how well the published figures fit ours, how well they fit equal bots, and whether\n" +
			"a study of this size can tell the two apart.\n" +
			"Without a name it lists the experiments with the time of a complete run.\n\n" +
			"--scale plays fewer or more games. If the clock limits bots, --time-scale changes their time for a move,\n" +
			"and --nodes-per-second replaces the time by nodes, so that neither the speed nor the load of the machine\n" +
			"matters. The seed decides all games, unless the clock limits bots.\n\n" +
			"Some experiments train models first, as timba-lab train does. The models are stored in the directory\n" +
			"--models, which all experiments share. --train-scale trains them with less than the study's games, episodes\n" +
			"or generations; the default is --scale, at most 1.\n\n" +
			"After Ctrl-C the figures are those of the games that have ended. The same command resumes the training. With\n" +
			"--out it also resumes the games: EXPERIMENT-games.jsonl in that directory stores their results, and a game in\n" +
			"this file is not played again.\n\n" +
			"--study NAME tests what a study concludes. Each claim has a fixed sample and a smallest effect that matters: the\n" +
			"claim holds if the interval of the effect is above it, and does not hold if it is below. The intervals are so\n" +
			"wide that with 95 % probability no claim of any study gets a wrong verdict by chance (Holm). power is the\n" +
			"probability that the claim holds, if the study's effect is the true one.\n\n" +
			"Exit status: 0 good, also where figures differ, 2 wrong usage or an error of timba, 3 interrupted.",
		Example: "  timba-lab experiment\n" +
			"  timba-lab experiment teeko-5\n" +
			"  timba-lab experiment tebes-depth-4 --scale 0.1 --out results\n" +
			"  timba-lab experiment tebes-methods --scale 0.1 --time-scale 0.05\n" +
			"  timba-lab experiment tebes-times --scale 0.1 --nodes-per-second 2500\n" +
			"  timba-lab experiment thesis-fig28 --scale 10 --train-scale 0.1\n" +
			"  timba-lab experiment --study teeko --out results",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.study != "" && len(args) > 0:
				return fmt.Errorf("experiment: --study is for no EXPERIMENT, and there is %q: give one of the two", args[0])
			case f.study != "":
				return f.runStudy(cmd)
			case len(args) == 0:
				return f.list(cmd)
			}
			return f.run(cmd, args[0])
		},
	}
	flags := cmd.Flags()
	addParams(cmd, f.Params())
	flags.StringVar(&f.seed, "seed", "1", "seed: 64 hexadecimal digits or a number")
	cli.NumberFlag(cmd, &f.concurrency, "concurrency", 0, 1, 1024, "games at the same time (default: one for each core)")
	flags.StringVar(&f.out, "out", "", "write the figures as CSV, the plots and the results of games into this `DIR`")
	flags.StringVar(&f.study, "study", "", "test the claims of this study instead: thesis, podrida, tebes, brisca-levels or teeko")
	cli.NumberFlag(cmd, &f.hours, "hours", 1000, 0, 10000, "with --study, test the first claims that take this time on two idle cores, by estimate")
	cli.JSONFlag(cmd, &f.json)
	return cmd
}

func (f *experimentFlags) list(cmd *cobra.Command) error {
	list, err := experiment.List()
	if err != nil {
		return err
	}
	if f.json {
		return cli.WriteJSON(cmd.OutOrStdout(), experiment.Summaries(list))
	}
	experiment.WriteList(cmd.OutOrStdout(), list)
	fmt.Fprintln(cmd.OutOrStdout(), "\nThe times are those of a whole run on two idle cores; if models are trained, that of one training times their number.\n"+
		"timba-lab experiment EXPERIMENT runs one experiment.")
	return nil
}

func (f *experimentFlags) run(cmd *cobra.Command, name string) error {
	e, err := experiment.Find(name)
	if err != nil {
		return err
	}
	o, err := f.options(cmd, e)
	if err != nil {
		return err
	}
	shown := progress{cmd: cmd, knownModels: map[string]bool{}}
	o.Progress = shown.set
	r, err := e.Run(cmd.Context(), o)
	shown.end()
	if r == nil {
		return err
	}
	if f.json {
		err = cli.WriteJSON(cmd.OutOrStdout(), r)
	} else {
		r.Write(cmd.OutOrStdout())
		err = nil
	}
	if err == nil && f.out != "" {
		err = f.save(cmd, r)
	}
	if err == nil && r.Interrupted {
		if r.TotalGames > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "interrupted after %s of %d\n", text.Count(r.Games, "game"), r.TotalGames)
		}
		if len(e.Matches) > 0 && f.out != "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "the same command goes on with the games; their results are in %s\n", text.Quote(o.GamesFile))
		}
		if len(e.Models) > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "the same command goes on with the training; the models are in %s\n", text.Quote(o.ModelsDir))
		}
		return cli.ErrNoVerdict
	}
	return err
}

// options returns the options with which the experiment e runs, as the user's flags say. It creates the directory of
// --out. It prints a warning if --concurrency is above the number of cores.
func (f *experimentFlags) options(cmd *cobra.Command, e *experiment.Experiment) (o experiment.Options, err error) {
	o = f.Options
	o.Resolver = cli.Resolver(cmd, sandbox.LevelNone)
	if o.Seed, err = referee.ParseSeed(f.seed); err != nil {
		return o, err
	}
	if o.Workers, err = tournament.Workers(f.concurrency, "auto"); err != nil {
		return o, err
	}
	if notice := tournament.CrowdingNotice(f.concurrency); notice != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "notice: %s\n", notice)
	}
	if f.out != "" {
		if err := os.MkdirAll(f.out, 0o755); err != nil {
			return o, err
		}
		o.GamesFile = filepath.Join(f.out, e.Name+"-games.jsonl")
	}
	if o.ModelsDir == "" && len(e.Models) > 0 {
		if o.ModelsDir, err = program.CacheDir("models"); err != nil {
			return o, err
		}
	}
	return o, nil
}

// progress shows how far an experiment is: first the training of models, and then the number of games played. It prints
// the name of each model whose training begins. The line of progress is that of the model which began last.
type progress struct {
	cmd         *cobra.Command
	model       string // "" while games are played
	knownModels map[string]bool
	bar         *cli.ProgressLine
}

func (p *progress) set(model, unit string, done, all int) {
	switch {
	case p.bar == nil || p.model != model && !p.knownModels[model]:
		p.end()
		if model != "" {
			fmt.Fprintf(p.cmd.ErrOrStderr(), "learning: %s\n", model)
			p.knownModels[model] = true
		}
		p.model, p.bar = model, cli.NewProgress(p.cmd.ErrOrStderr(), unit)
	case p.model != model:
		return
	}
	p.bar.Set(done, all)
}

func (p *progress) end() {
	if p.bar != nil {
		p.bar.Clear()
	}
}

func (f *experimentFlags) save(cmd *cobra.Command, r *experiment.Findings) error {
	files, err := r.Save(f.out)
	for _, file := range files {
		fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s\n", text.Quote(file))
	}
	return err
}

// complete returns the completions that a shell proposes for an argument. placeholder is what usage lines call the
// argument, such as EXPERIMENT. args are the arguments before it.
func complete(cmd *cobra.Command, args []string, placeholder string) (words []string, directive cobra.ShellCompDirective) {
	if placeholder != "EXPERIMENT" {
		return cli.CompleteShared(cmd, args, placeholder), cobra.ShellCompDirectiveNoFileComp
	}
	list, _ := experiment.List()
	for _, e := range list {
		words = append(words, e.Name+"\t"+e.Title)
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
