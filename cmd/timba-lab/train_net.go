package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/lab/train/rollout"
	"github.com/timba-arena/timba/referee/text"
	"github.com/timba-arena/timba/sample-bots/learned"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

func newTrainNet() *cobra.Command {
	var f trainFlags
	c := rollout.Default("")
	var layers, from string
	cmd := &cobra.Command{
		Use:   "net",
		Short: "Train a net that chooses a move in one pass, by play against itself",
		Long: "Trains a net by policy iteration with rollouts: it plays against itself, tries each legal move in some of\n" +
			"the positions by playing the game to its end, and learns by how much each was better than the mean of all.\n" +
			"Play with the model as @net:model=DIR/model.timba.\n\n" +
			"Exit status: 0 good, 2 wrong usage or an error of timba, 3 interrupted.",
		Example: "  timba-lab train net --mode tute2 --dry-run\n" +
			"  timba-lab train net --generations 20 --games 200 --out run\n" +
			"  timba match brisca @net:model=run/model.timba @greedy --deals 10",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, _, err := f.parse()
			if err != nil {
				return err
			}
			if c.Hidden, err = net.ParseSizes(layers); err != nil {
				return err
			}
			c.Mode, c.Seed = m.String(), f.seed
			if err := c.Check(); err != nil {
				return err
			}
			first, err := firstNet(from, m, &c)
			if err != nil {
				return err
			}
			return f.run(cmd, trainer(c, "generations", rollout.Start(c, first, f.cores()), func(r rollout.Report) {
				w := cmd.OutOrStdout()
				fmt.Fprintf(w, "learned from %s, %s\n", text.Count(r.Positions, "position"), text.Count(r.Weights, "weight"))
				fmt.Fprintf(w, "against random players: %d won, %d lost, %d drawn\n", r.Random.Won, r.Random.Lost, r.Random.Drawn)
			}))
		},
	}
	f.add(cmd, nil)
	flags := cmd.Flags()
	flags.StringVar(&layers, "layers", net.SizesText(c.Hidden), "the units of the hidden `LAYERS`")
	flags.StringVar(&from, "from", "", "begin with the weights of the model of this `FILE`, instead of random ones")
	flags.StringVar(&c.Rules, "rules", c.Rules, "the optional rules: all combinations by chance, none, or one as `DIGITS` 0 or 1 for exchange, last10, blackhand and, with two players, hunt3")
	cli.NumberFlag(cmd, &c.Generations, "generations", c.Generations, 1, rollout.MaxGenerations, "how often the net plays and learns from its games")
	cli.NumberFlag(cmd, &c.Games, "games", c.Games, 1, rollout.MaxGames, "games of a generation")
	cli.NumberFlag(cmd, &c.Every, "every", c.Every, 1, rollout.MaxEvery, "one decision in so many is learned from")
	cli.NumberFlag(cmd, &c.Epsilon, "epsilon", c.Epsilon, 0, 1, "how often a move of the games is random")
	cli.NumberFlag(cmd, &c.Margin, "margin", c.Margin, 0, rollout.MaxMargin, "what all points of the cards are worth besides winning, which is worth 1")
	cli.NumberFlag(cmd, &c.Passes, "passes", c.Passes, 1, rollout.MaxPasses, "how often a position is learned from")
	cli.NumberFlag(cmd, &c.Batch, "batch", c.Batch, 1, rollout.MaxBatch, "positions of a batch")
	flags.Float64Var(&c.Rate, "rate", c.Rate, "the rate of learning at first, above 0, at most 1; it falls to a twentieth")
	return cmd
}

// firstNet returns the net of a file that a training begins with, nil if none is named.
func firstNet(path string, m cards.Mode, c *rollout.Config) (*net.Net, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--from: model %q cannot be read: try the path of a file that timba-lab train net has written", path)
	}
	h, body, err := model.Read(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("--from %s: %w", path, err)
	}
	if h.Kind != model.Net {
		return nil, fmt.Errorf("--from %s: the model is of the kind %s, not %s", path, h.Kind, model.Net)
	}
	p, err := learned.ReadNet(h, body)
	if err != nil {
		return nil, fmt.Errorf("--from %s: %w", path, err)
	}
	if p.Mode != m {
		return nil, fmt.Errorf("--from %s: the model is for %v, not for %v", path, p.Mode, m)
	}
	n := p.Weights()
	if hidden := n.Sizes[1 : len(n.Sizes)-1]; !slices.Equal(hidden, c.Hidden) {
		return nil, fmt.Errorf("--from %s: the model has the layers %s, not %s: try --layers %[2]s", path, net.SizesText(hidden), net.SizesText(c.Hidden))
	}
	sum := sha256.Sum256(data)
	c.From = hex.EncodeToString(sum[:])
	return n, nil
}
