package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/lab/train/dataset"
	"github.com/timba-arena/timba/lab/train/recorded"
	learnrun "github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/referee/text"
	"github.com/timba-arena/timba/sandbox"
)

func newTrainData() *cobra.Command {
	var f trainFlags
	var each int
	var bots []string
	cmd := &cobra.Command{
		Use:   "data",
		Short: "Make a data set of games of Brisca or Tute to learn from",
		Long: "Plays games of a mode with every combination of the optional rules, each as often, and writes them\n" +
			"as " + dataset.File + " into the directory of the run. By default all moves are random; --bot names the bots\n" +
			"that play, one for all seats or one for each. They change seats from deal to deal.",
		Example: "  timba-lab train data --mode brisca2 --out data\n" +
			"  timba-lab train data --mode tute2 --bot @greedy:noise=20 --each 500 --out strong",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, _, err := f.parse()
			if err != nil {
				return err
			}
			p := dataset.Plan{Mode: m, Each: each, Seed: f.seed, Workers: f.cores()}
			if p.Bots, err = recorded.Seats(m, bots); err != nil {
				return err
			}
			if err := p.Check(); err != nil {
				return err
			}
			play := func(ctx context.Context) (dataset.Piece, error) {
				if len(p.Bots) == 0 {
					return p.Random(), nil
				}
				return recorded.Games(ctx, &p, cli.Resolver(cmd, sandbox.None))
			}
			return f.run(cmd, training{
				config: p.Config(), unit: "games",
				cost: func(ctx context.Context) (learnrun.Cost, error) {
					games, err := play(ctx)
					if err != nil {
						return learnrun.Cost{}, err
					}
					return p.Cost(ctx, games)
				},
				train: func(ctx context.Context, folder *learnrun.Folder, done func(done, all int)) error {
					p.Done = done
					games, err := play(ctx)
					if err != nil {
						return err
					}
					if err := p.Make(ctx, folder, games); err != nil {
						return err
					}
					return reportData(cmd, folder, &p)
				},
			})
		},
	}
	f.add(cmd, nil)
	cli.CountFlag(cmd, &each, "each", 8000, "games of each combination of the optional rules")
	cmd.Flags().StringArrayVar(&bots, "bot", nil, "a `BOT` that plays, for all seats or, given often, for each (default: random moves)")
	return cmd
}

// reportData says what was written.
func reportData(cmd *cobra.Command, folder *learnrun.Folder, p *dataset.Plan) error {
	path := filepath.Join(folder.Dir, dataset.File)
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s: %s, %d bytes\n", text.Quote(path), text.Count(p.Games(), "game"), info.Size())
	return nil
}
