// Package sl is the supervised learning of R. Arjonilla, bachelor's thesis, UOC 2024: a net learns
// from the decisions of played games what a move comes to in a position; an agent passes every
// legal move through it and plays the best.
package sl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/timba-arena/timba/lab/train/dataset"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/sample-bots/learned"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/features"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// The variants: what the net learns of a decision.
const (
	WL = "wl" // whether the game was won
	P  = "p"  // the points of the trick
	PH = "ph" // the points of the trick and the heuristic value
	// Rest is the points from the trick to the end of the game. It is not the study's.
	Rest = "rest"
)

// Variants are the names of the variants.
var Variants = []string{WL, P, PH, Rest}

// The defects of the study's code that a training can keep.
const (
	Truncated  = "truncated"
	TextLabels = "text-labels"
	NoSongs    = learned.NoSongs
)

// Defects are those that a training can keep.
var Defects = []run.Defect{
	{Name: Truncated, Help: "inputs are cut to integers in training only"},
	{Name: TextLabels, Help: "labels are ordered as text"},
	{Name: NoSongs, Help: "among several songs of 20 the first is sung, without a choice"},
}

// Thirds are the layers of the study's nets that depend on the inputs: 1/2, 1/4 and 1/6 of them.
const Thirds = "thirds"

// The bounds of a training.
const (
	MaxBatch  = 4096
	MaxEpochs = 1000
)

// Version rises when the same configuration comes to another net.
const Version = 1

// Config is what decides the net, as config.json of a run has it.
type Config struct {
	Train    string         `json:"train"` // always "sl"
	Mode     string         `json:"mode"`
	Variant  string         `json:"variant"`
	Encoding string         `json:"encoding"`
	Hidden   []int          `json:"hidden"` // units of the layers between inputs and outputs
	Batch    int            `json:"batch"`
	Epochs   int            `json:"epochs"`
	Rate     float64        `json:"rate"`
	Seed     uint64         `json:"seed"`
	Defects  []string       `json:"defects,omitempty"`
	Data     dataset.Header `json:"data"`
	Games    int            `json:"games"`      // of the data set that are used
	Sum      string         `json:"dataSHA256"` // of these games
}

// Use makes the training one on the games of a data set that have been loaded.
func (c *Config) Use(set *dataset.Set) {
	c.Data, c.Games, c.Sum = set.Header, set.Games, set.Sum()
}

// Check returns why a net cannot be trained so.
func (c *Config) Check() error {
	m, err := cards.ParseMode(c.Mode)
	if err != nil {
		return err
	}
	e, err := features.NewEncoder(m, c.Encoding)
	if err != nil {
		return err
	}
	switch {
	case c.Encoding == features.Genetic:
		return fmt.Errorf("encoding %q has no action: try %s or %s", c.Encoding, features.Scaled, features.Unscaled)
	case !slices.Contains(Variants, c.Variant):
		return fmt.Errorf("variant %q does not exist: try %s", c.Variant, strings.Join(Variants, ", "))
	case c.Data.Mode != c.Mode:
		return fmt.Errorf("mode %q: the data set is of mode %q: make one with timba-lab train data --mode %s", c.Mode, c.Data.Mode, c.Mode)
	case c.Batch < 1 || c.Batch > MaxBatch:
		return fmt.Errorf("batch cannot be %d: try 1 to %d", c.Batch, MaxBatch)
	case c.Epochs < 1 || c.Epochs > MaxEpochs:
		return fmt.Errorf("epochs cannot be %d: try 1 to %d", c.Epochs, MaxEpochs)
	}
	return net.CheckSizes(append(append([]int{e.Inputs()}, c.Hidden...), 1))
}

// ParseHidden returns the layers of a text as in 50-25, or of Thirds.
func ParseHidden(text string, m cards.Mode, encoding string) (layers []int, err error) {
	if text == Thirds {
		e, err := features.NewEncoder(m, encoding)
		if err != nil {
			return nil, err
		}
		n := e.Inputs()
		return []int{n / 2, n / 4, n / 6}, nil
	}
	if layers, err = net.ParseSizes(text); err != nil {
		return nil, fmt.Errorf("%w, or %s", err, Thirds)
	}
	return layers, nil
}
