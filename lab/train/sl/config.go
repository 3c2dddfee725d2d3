// Package sl repeats the supervised learning in R. Arjonilla's bachelor's thesis (UOC, 2024). From the
// decisions in played games, a net learns to predict the outcome of a move in a position. An agent evaluates
// every legal move with the net and plays the best one. Begin with Config.
package sl

import (
	"fmt"

	"github.com/timba-arena/timba/lab/train/dataset"
	"github.com/timba-arena/timba/lab/train/fit"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/sample-bots/learned"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/features"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// The variants of the training. They differ in what the net learns to predict about a decision.
const (
	VariantWL = "wl" // whether the game was won, alone or shared
	VariantP  = "p"  // points of the trick, 0 if another side won it
	VariantPH = "ph" // these points plus the heuristic value
	// VariantNegative is the points of the trick, which are negative if another side won it.
	VariantNegative = "p-negative"
	// VariantRest is the points from the trick to the end of the game. It is not in the study.
	VariantRest = "rest"
)

var Variants = []string{VariantWL, VariantP, VariantPH, VariantNegative, VariantRest}

// The defects of the study's program that a training can reproduce.
const (
	DefectTruncated  = "truncated"
	DefectTextLabels = "text-labels"
	DefectNoSongs    = learned.NoSongsDefect
)

// Defects are the defects of the study's program that --as-published can select, with their help texts.
var Defects = []run.Defect{
	{Name: DefectTruncated, Help: "inputs are cut to integers, but only in training"},
	{Name: DefectTextLabels, Help: "labels are ordered as text"},
	{Name: DefectNoSongs, Help: "of several songs of 20, the agent sings the first instead of choosing"},
}

// The limits of the settings.
const (
	MaxBatch  = 4096
	MaxEpochs = 1000
)

// Method is supervised learning from a data set.
var Method = run.Method{
	Name: "sl", File: run.ModelFile, Unit: "rows", Version: 2, Defects: Defects,
	Short: "Train a net by supervised learning on a data set",
	Long: "Trains a net to predict the outcome of a move, from the decisions in a data set of timba-lab train data.\n" +
		"The outcome is the points of the trick (p; in p-negative lost points are negative), these points plus a\n" +
		"heuristic value (ph), whether the game is won (wl), or the points to the end of the game (rest). Of ten rows,\n" +
		"eight are for training, one for validation after each epoch, and one for the test at the end. Play with the\n" +
		"model as @sl:model=FILE.",
	Example: "  timba-lab train data --mode brisca2 --out data\n" +
		"  timba-lab train sl --mode brisca2 --data data --out sl\n" +
		"  timba-lab train sl --mode brisca2 --data data --variant wl --layers thirds --encoding table6 --out sl-wl",
	Settings: func() run.TrainingSettings {
		return &Config{
			Train: "sl", Mode: run.DefaultMode, Variant: VariantPH, Encoding: features.Program, layersText: fit.StudyLayers,
			Batch: 32, Epochs: 10, Rate: fit.DefaultRate, Seed: 1,
		}
	},
}

// Config is the configuration of a supervised training. It is stored as config.json of the run.
type Config struct {
	Train    string            `json:"train"` // always "sl"
	Mode     string            `json:"mode"`
	Variant  string            `json:"variant"`
	Encoding string            `json:"encoding"`
	Hidden   []int             `json:"hidden"` // units of the hidden layers
	Batch    int               `json:"batch"`
	Epochs   int               `json:"epochs"`
	Rate     float64           `json:"rate"`
	Seed     uint64            `json:"seed"`
	Defects  []string          `json:"defects,omitempty"`
	Data     dataset.SetHeader `json:"data"`
	Games    int               `json:"games"`      // number of games of the data set to use
	DataHash string            `json:"dataSHA256"` // dataset.Set.Sum of these games

	layersText string // Hidden in the form that users write
	dataPath   string // path of the data set
	set        *dataset.Set
}

func (c *Config) Params() []run.Param {
	return append(run.CommonParams(&c.Mode, &c.Seed),
		run.DefectsParam(&c.Defects, Defects),
		run.Param{Name: "data", Target: &c.dataPath, FlagOnly: true, Help: "the data set: its `FILE`, or the directory of its run"},
		run.Param{Name: "games", Target: &c.Games, Min: 1, Max: dataset.MaxGames, FlagOnly: true, Help: "number of games of the data set to use (default: all)"},
		run.ChoiceParam("variant", &c.Variant, Variants, "what the net learns"),
		run.ChoiceParam("encoding", &c.Encoding, features.ActionEncodings(), "the encoding of the inputs"),
		fit.LayersParam(&c.layersText),
		run.Param{Name: "batch", Target: &c.Batch, Min: 1, Max: MaxBatch, Help: "rows of a batch"},
		run.Param{Name: "epochs", Target: &c.Epochs, Min: 1, Max: MaxEpochs, Help: "passes over the rows"},
		run.Param{Name: "rate", Target: &c.Rate, Max: 1, ExcludeMin: true, Help: "the learning rate"},
	)
}

// Complete parses the text for the hidden layers, opens the data set and checks the settings. If UseData or
// ExpectData was called before, it opens no data set. Otherwise it returns an error if no data set is named.
func (c *Config) Complete(func(name string) bool) (err error) {
	m, err := cards.ParseMode(c.Mode)
	if err != nil {
		return err
	}
	if c.Hidden, err = fit.ParseLayers(c.layersText, m, c.Encoding); err != nil {
		return err
	}
	if c.Defects, err = run.SelectDefects(c.Defects, Defects); err != nil {
		return err
	}
	if c.Data.Mode == "" {
		if c.dataPath == "" {
			return fmt.Errorf("--data is missing: make a data set with timba-lab train data --mode %v --out DIR, and name its DIR", m)
		}
		set, err := dataset.Load(c.dataPath, c.Games)
		if err != nil {
			return err
		}
		c.UseData(set)
	}
	return c.Check()
}

// UseData selects set, which is in memory, as the data set to learn from.
func (c *Config) UseData(set *dataset.Set) {
	c.Data, c.Games, c.DataHash, c.set = set.Header, set.Header.Games, set.Sum(), set
}

// ExpectData selects a data set that will be generated later, with the configuration d. When the data set exists,
// UseData must be called with it before the training starts.
func (c *Config) ExpectData(d *dataset.Config) {
	c.Data, c.Games = dataset.SetHeader{Mode: d.Mode, Games: d.Games(), Seed: d.Seed}, d.Games()
}

func (c *Config) Check() error {
	if c.Data.Mode != c.Mode {
		return fmt.Errorf("mode %q: the data set is of mode %q: make one with timba-lab train data --mode %s", c.Mode, c.Data.Mode, c.Mode)
	}
	m, _ := cards.ParseMode(c.Mode)
	e, _ := features.NewEncoder(m, c.Encoding)
	return net.CheckSizes(append(append([]int{e.Inputs()}, c.Hidden...), 1))
}
