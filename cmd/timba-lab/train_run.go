package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/timba-arena/timba/cmd/internal/cli"
	learnrun "github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/referee/text"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// trainFlags are the flags that the trainings have in common.
type trainFlags struct {
	mode      string
	seed      uint64
	out       string
	resume    bool
	dry       bool
	workers   int
	published string
	defects   []learnrun.Defect
}

// add adds the flags to a command; the defects are those that --as-published can keep.
func (f *trainFlags) add(cmd *cobra.Command, defects []learnrun.Defect) {
	f.defects = defects
	flags := cmd.Flags()
	flags.StringVar(&f.mode, "mode", "brisca2", "the game and its seats: one of "+strings.Join(cards.ModeNames(), ", "))
	flags.Uint64Var(&f.seed, "seed", 1, "the seed of everything random")
	flags.StringVar(&f.out, "out", "", "the `DIR` of the run (default: the command and the mode)")
	flags.BoolVar(&f.resume, "resume", false, "go on with the run in --out, with the flags that it began with")
	flags.BoolVar(&f.dry, "dry-run", false, "print what it would cost, and stop")
	cli.NumberFlag(cmd, &f.workers, "workers", 0, 1, 256, "goroutines that work (default: one for each core); the result does not depend on it")
	if len(defects) > 0 {
		var names []string
		for _, d := range defects {
			names = append(names, d.Name+" ("+d.Help+")")
		}
		flags.StringVar(&f.published, "as-published", "", "keep defects of the study, a `LIST` joined by commas, or all: "+strings.Join(names, ", "))
		flags.Lookup("as-published").NoOptDefVal = learnrun.AllDefects
	}
	cmd.RegisterFlagCompletionFunc("mode", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return cards.ModeNames(), cobra.ShellCompDirectiveNoFileComp
	})
}

// parse returns the mode and the defects that the flags name.
func (f *trainFlags) parse() (cards.Mode, []string, error) {
	m, err := cards.ParseMode(f.mode)
	if err != nil {
		return m, nil, err
	}
	defects, err := learnrun.ParseDefects(f.published, f.defects)
	return m, defects, err
}

// cores returns the number of workers.
func (f *trainFlags) cores() int {
	if f.workers > 0 {
		return f.workers
	}
	return runtime.GOMAXPROCS(0)
}

// training is a training as its command runs it.
type training struct {
	config any    // that decides the result; it becomes config.json
	unit   string // of the progress, in the plural
	cost   func(context.Context) (learnrun.Cost, error)
	// train trains in the run's directory and tells its progress, a call at a time. When the
	// context ends, it writes a checkpoint and returns the context's error.
	train func(ctx context.Context, f *learnrun.Folder, done func(done, all int)) error
}

// trainer returns a training that goes step by step; report tells its result.
func trainer[R any](config any, unit string, start func(context.Context) (learnrun.Trainer[R], error), report func(R)) training {
	return training{
		config: config, unit: unit,
		cost: func(ctx context.Context) (learnrun.Cost, error) { return learnrun.Estimate(ctx, unit, start) },
		train: func(ctx context.Context, f *learnrun.Folder, done func(done, all int)) error {
			r, err := learnrun.Train(ctx, f, start, done)
			if err == nil {
				report(r)
			}
			return err
		},
	}
}

// run runs a training or prints its cost.
func (f *trainFlags) run(cmd *cobra.Command, t training) error {
	if f.dry {
		cost, err := t.cost(cmd.Context())
		if err == nil {
			cost.Write(cmd.OutOrStdout())
		}
		return err
	}
	if f.out == "" {
		f.out = cmd.Name() + "-" + f.mode
	}
	progress := cli.NewProgress(cmd.ErrOrStderr(), t.unit)
	began := time.Now()
	err := learnrun.Do(cmd.Context(), f.out, t.config, f.resume, func(folder *learnrun.Folder) error {
		return t.train(cmd.Context(), folder, progress.Set)
	})
	progress.Clear()
	if err != nil && errors.Is(err, cmd.Context().Err()) {
		fmt.Fprintf(cmd.ErrOrStderr(), "interrupted; this goes on: %s\n", f.again(cmd))
		return cli.ErrNoVerdict
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(f.out, learnrun.ModelFile)); err == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s in %s\n", text.Quote(filepath.Join(f.out, learnrun.ModelFile)), learnrun.Duration(time.Since(began)))
	}
	return nil
}

// again returns the command line that resumes the run.
func (f *trainFlags) again(cmd *cobra.Command) string {
	words := []string{cmd.CommandPath(), "--resume"}
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Name != "resume" && flag.Name != "out" {
			words = append(words, "--"+flag.Name+"="+text.Quote(flag.Value.String()))
		}
	})
	return strings.Join(append(words, "--out="+text.Quote(f.out)), " ")
}
