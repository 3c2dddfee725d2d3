package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/lab/train/dataset"
	"github.com/timba-arena/timba/lab/train/fit"
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
			return f.run(cmd, trainer(c, "rows", sl.Start(c, set, f.cores()), func(r *sl.Result) { writeSLReport(cmd, &c, r) }))
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

func writeSLReport(cmd *cobra.Command, c *sl.Config, r *sl.Result) {
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "%s to learn from, %s, %s weights\n", rowsText(r.Train), classesText(c, r.Classes), humanize.Comma(int64(r.Weights)))
	fmt.Fprintf(w, "test, %s: loss %.4f, accuracy %.2f %%, precision %.2f %%, recall %.2f %%\n", rowsText(r.Test.Rows),
		r.Test.Loss, percent(r.Test.Accuracy), percent(r.Test.Precision), percent(r.Test.Recall))
}

func rowsText(n int) string { return humanize.Comma(int64(n)) + " rows" }

func classesText(c *sl.Config, n int) string {
	if c.Variant == sl.WL {
		return "won or not"
	}
	return fmt.Sprintf("%d classes", n)
}

func percent(x float64) float64 { return math.Round(1e4*x) / 100 }
