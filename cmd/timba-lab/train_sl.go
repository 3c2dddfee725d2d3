package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/lab/train/dataset"
	"github.com/timba-arena/timba/lab/train/fit"
	learnrun "github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/lab/train/sl"
	"github.com/timba-arena/timba/sample-bots/learned/features"
)

func newTrainSL() *cobra.Command {
	var f trainFlags
	c := sl.Config{Train: "sl"}
	var data, layers string
	cmd := &cobra.Command{
		Use:   "sl",
		Short: "Train a net by supervised learning on a data set",
		Long: "Trains a net to tell what a move comes to, on the decisions of a data set that timba-lab train data has made:\n" +
			"the points of its trick (p), these and a heuristic value (ph), whether the game is won (wl), or the points to the\n" +
			"end of the game (rest). Eight rows in ten train, one validates after each epoch, one tests at the end. Play with the model as @sl:model=FILE.",
		Example: "  timba-lab train data --mode brisca2 --out data\n" +
			"  timba-lab train sl --mode brisca2 --data data --out sl\n" +
			"  timba-lab train sl --mode brisca2 --data data --variant wl --layers thirds --encoding unscaled --out sl-wl",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, defects, err := f.parse()
			if err != nil {
				return err
			}
			if c.Hidden, err = sl.ParseHidden(layers, m, c.Encoding); err != nil {
				return err
			}
			if data == "" {
				return fmt.Errorf("--data is missing: make a data set with timba-lab train data --mode %v --out DIR, and name its DIR", m)
			}
			set, err := openData(data, c.Games)
			if err != nil {
				return err
			}
			c.Mode, c.Seed, c.Defects = m.String(), f.seed, defects
			c.Use(set)
			if err := c.Check(); err != nil {
				return err
			}
			return f.run(cmd, slTraining(cmd, &f, &c, set))
		},
	}
	f.add(cmd, sl.Defects)
	flags := cmd.Flags()
	flags.StringVar(&data, "data", "", "the data set: its `FILE`, or the directory of its run")
	cli.CountFlag(cmd, &c.Games, "games", 0, "how many of its games to use (default: all)")
	flags.StringVar(&c.Variant, "variant", sl.PH, "what the net learns: "+strings.Join(sl.Variants, ", "))
	flags.StringVar(&c.Encoding, "encoding", features.Scaled, "the inputs: "+features.Scaled+" or "+features.Unscaled)
	flags.StringVar(&layers, "layers", "50-25", "the units of the hidden `LAYERS`, or thirds: 1/2, 1/4 and 1/6 of the inputs")
	cli.NumberFlag(cmd, &c.Batch, "batch", 32, 1, sl.MaxBatch, "rows of a batch")
	cli.NumberFlag(cmd, &c.Epochs, "epochs", 10, 1, sl.MaxEpochs, "how often each row is learned from")
	flags.Float64Var(&c.Rate, "rate", fit.DefaultAdam.Rate, "the rate of learning, above 0, at most 1")
	return cmd
}

// openData loads a data set from its file or its run.
func openData(path string, games int) (*dataset.Set, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, dataset.File)
	}
	return dataset.Load(path, games)
}

func slTraining(cmd *cobra.Command, f *trainFlags, c *sl.Config, set *dataset.Set) training {
	prepare := func(ctx context.Context) (*sl.Training, error) {
		rows, err := sl.NewRows(ctx, set, c, f.cores())
		if err != nil {
			return nil, err
		}
		return sl.NewTraining(ctx, *c, rows, f.cores())
	}
	return training{
		config: c, unit: "rows",
		cost: func(ctx context.Context) (learnrun.Cost, error) {
			began := time.Now()
			t, err := prepare(ctx)
			if err != nil {
				return learnrun.Cost{}, err
			}
			return t.Cost(time.Since(began)), nil
		},
		train: func(ctx context.Context, folder *learnrun.Folder, done func(done, all int)) error {
			t, err := prepare(ctx)
			if err != nil {
				return err
			}
			t.Done = done
			r, err := t.Run(ctx, folder)
			if err != nil {
				return err
			}
			folder.Log("test: %+v", r.Test)
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "%s to learn from, %s, %s weights\n", rowsText(r.Train), classesText(c, r.Classes), humanize.Comma(int64(r.Weights)))
			fmt.Fprintf(w, "test, %s: loss %.4f, accuracy %.2f %%, precision %.2f %%, recall %.2f %%\n", rowsText(r.Test.Rows),
				r.Test.Loss, percent(r.Test.Accuracy), percent(r.Test.Precision), percent(r.Test.Recall))
			return nil
		},
	}
}

func rowsText(n int) string { return humanize.Comma(int64(n)) + " rows" }

func classesText(c *sl.Config, n int) string {
	if c.Variant == sl.WL {
		return "won or not"
	}
	return fmt.Sprintf("%d classes", n)
}

func percent(x float64) float64 { return math.Round(1e4*x) / 100 }
