// Package rollout trains nets that choose a move of Brisca or Tute in one pass, by policy iteration with
// rollouts (Tesauro and Galperin, 1997; Lagoudakis and Parr, 2003). The net plays games against itself. In
// some of their positions each legal move is tried: the net plays the game to its end from there, with the
// hidden cards as they are. The net learns the advantage of each move, its result minus the mean over all
// moves, and then plays the next generation of games. Begin with Config.
//
// All moves of a position are compared on the same cards, so that the luck of the deal, the largest part of
// the variance of a game's result, cancels out.
package rollout

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"

	"github.com/timba-arena/timba/lab/train/fit"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/sample-bots/learned"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/features"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// Config is the configuration of a training. It is stored as config.json of the run.
type Config struct {
	Train        string  `json:"train"` // always "net"
	Mode         string  `json:"mode"`
	Rules        string  `json:"rules"`  // a combination of the optional rules such as "0110", or "all"
	Hidden       []int   `json:"hidden"` // units of the hidden layers
	Generations  int     `json:"generations"`
	Games        int     `json:"games"`   // in a generation
	LessonPeriod int     `json:"every"`   // the net learns from one in this number of decisions, on average
	Epsilon      float64 `json:"epsilon"` // probability of a random move in the games
	Margin       float64 `json:"margin"`  // value of winning all points of the cards, relative to winning the game
	Passes       int     `json:"passes"`  // how often each position is learned from
	Batch        int     `json:"batch"`
	LearningRate float64 `json:"rate"` // at the start; it decreases to a twentieth
	Seed         uint64  `json:"seed"`
	// From is the SHA-256 hash of the model with the initial weights, or "" for random weights.
	From string `json:"from,omitempty"`

	layersText string   // Hidden in the form that users write
	modelPath  string   // path of the model From
	initialNet *net.Net // net of that model; nil means random weights
}

// Method is policy iteration with rollouts.
var Method = run.Method{
	Name: "net", File: run.ModelFile, Unit: "generations", Version: 1,
	Short: "Train a net that chooses a move in one pass, by play against itself",
	Long: "Trains a net by policy iteration with rollouts. The net plays games against itself. In some positions it\n" +
		"tries each legal move by playing the game to its end. It learns by how much the result of each move was better\n" +
		"than the mean of all. Play with the model as @net:model=DIR/model.timba.",
	Example: "  timba-lab train net --mode tute2 --dry-run\n" +
		"  timba-lab train net --generations 20 --games 200 --out run\n" +
		"  timba match brisca @net:model=run/model.timba @greedy --deals 10",
	Settings: func() run.TrainingSettings {
		c := Default(run.DefaultMode)
		c.layersText = net.FormatSizes(c.Hidden)
		return &c
	},
}

// The limits of the settings.
const (
	MaxGenerations  = 1_000_000
	MaxGames        = 100_000
	MaxLessonPeriod = 100
	MaxPasses       = 100
	MaxBatch        = 4096
	MaxMargin       = 100
)

// Default returns a configuration for the named mode that trains for about ten minutes.
func Default(mode string) Config {
	return Config{
		Train: "net", Mode: mode, Rules: cards.AllRules, Hidden: []int{128}, Generations: 70, Games: 4096, LessonPeriod: 8,
		Epsilon: 0.1, Margin: 10, Passes: 3, Batch: 128, LearningRate: fit.DefaultRate, Seed: 1,
	}
}

func (c *Config) Params() []run.Param {
	return append(run.CommonParams(&c.Mode, &c.Seed),
		run.Param{Name: "layers", Target: &c.layersText, Help: "the units of the hidden `LAYERS`"},
		run.Param{Name: "from", Target: &c.modelPath, FlagOnly: true, Help: "begin with the weights of the model in this `FILE` instead of random weights"},
		run.RulesParam(&c.Rules, "at random"),
		run.Param{Name: "generations", Target: &c.Generations, Min: 1, Max: MaxGenerations, Scaled: true, Help: "rounds of play and learning"},
		run.Param{Name: "games", Target: &c.Games, Min: 1, Max: MaxGames, Help: "games of a generation"},
		run.Param{Name: "every", Target: &c.LessonPeriod, Min: 1, Max: MaxLessonPeriod, Help: "learn from one in this number of decisions"},
		run.Param{Name: "epsilon", Target: &c.Epsilon, Max: 1, Help: "the probability of a random move in the games"},
		run.Param{Name: "margin", Target: &c.Margin, Max: MaxMargin, Help: "the value of winning all points of the cards; winning the game has the value 1"},
		run.Param{Name: "passes", Target: &c.Passes, Min: 1, Max: MaxPasses, Help: "passes over the positions"},
		run.Param{Name: "batch", Target: &c.Batch, Min: 1, Max: MaxBatch, Help: "positions of a batch"},
		run.Param{Name: "rate", Target: &c.LearningRate, Max: 1, ExcludeMin: true, Help: "the initial learning rate; it falls to a twentieth"},
	)
}

// Complete checks the settings. If the training starts with the weights of a model, Complete reads the file.
func (c *Config) Complete(func(name string) bool) (err error) {
	if c.Hidden, err = net.ParseSizes(c.layersText); err != nil {
		return err
	}
	if err := c.Check(); err != nil || c.modelPath == "" {
		return err
	}
	data, err := os.ReadFile(c.modelPath)
	if err != nil {
		return fmt.Errorf("--from: model %q cannot be read: try the path of a file that timba-lab train net has written", c.modelPath)
	}
	if c.initialNet, err = c.parse(data); err != nil {
		return fmt.Errorf("--from %s: %w", c.modelPath, err)
	}
	sum := sha256.Sum256(data)
	c.From = hex.EncodeToString(sum[:])
	return nil
}

// parse returns the net in data, the content of a model file. It returns an error if the model is for another game
// or number of players, or if its hidden layers do not have the sizes in c.
func (c *Config) parse(data []byte) (*net.Net, error) {
	h, body, err := model.Read(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	p, err := learned.ReadNet(h, body)
	if err != nil {
		return nil, err
	}
	if h.Mode != c.Mode {
		return nil, fmt.Errorf("the model is for %s, not for %s", h.Mode, c.Mode)
	}
	n := p.Weights()
	if hidden := n.Sizes[1 : len(n.Sizes)-1]; !slices.Equal(hidden, c.Hidden) {
		return nil, fmt.Errorf("the model has the layers %s, not %s: try --layers %[1]s", net.FormatSizes(hidden), net.FormatSizes(c.Hidden))
	}
	return n, nil
}

func (c *Config) Check() error {
	if err := cards.CheckRules(c.Mode, c.Rules); err != nil {
		return err
	}
	m, _ := cards.ParseMode(c.Mode)
	return net.CheckSizes(sizes(m, c.Hidden))
}

// sizes returns the sizes of the layers of a net for m (a game with its number of players): the number of inputs,
// the units of each hidden layer (the argument hidden), and the number of outputs.
func sizes(m cards.Mode, hidden []int) []int {
	e := features.NewCompleteEncoder(m)
	return append(append([]int{e.Inputs()}, hidden...), m.Actions())
}
