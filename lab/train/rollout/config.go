// Package rollout trains nets that choose a move of Brisca or Tute in one pass, by policy iteration
// with rollouts (Tesauro and Galperin, 1997; Lagoudakis and Parr, 2003). The net plays games
// against itself. In some of their positions each legal move is made in turn, with the hidden
// cards as they are, and the net plays each game to its end. The net learns by how much each move
// was better than the mean of all, and the next generation of games is played by the better net.
//
// All moves of a position are compared with the same cards, so that the luck of the deal, which is
// most of what a game's result says, falls out of what is learned.
package rollout

import (
	"fmt"

	"github.com/timba-arena/timba/lab/train/fit"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/features"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// Config is what decides the net, as config.json of a run has it.
type Config struct {
	Train       string  `json:"train"` // always "net"
	Mode        string  `json:"mode"`
	Rules       string  `json:"rules"`  // a combination of the optional rules, as in 0110, or "all"
	Hidden      []int   `json:"hidden"` // units of the layers between inputs and outputs
	Generations int     `json:"generations"`
	Games       int     `json:"games"`   // of a generation
	Every       int     `json:"every"`   // one decision in so many is learned from
	Epsilon     float64 `json:"epsilon"` // how often a move of the games is random
	Margin      float64 `json:"margin"`  // what all points of the cards are worth besides winning, which is worth 1
	Passes      int     `json:"passes"`  // how often a position is learned from
	Batch       int     `json:"batch"`
	Rate        float64 `json:"rate"` // of learning at first; it falls to a twentieth
	Seed        uint64  `json:"seed"`
	// From is the SHA-256 of the model whose weights the training begins with, "" for random weights.
	From string `json:"from,omitempty"`
}

// The bounds of a training.
const (
	MaxGenerations = 1_000_000
	MaxGames       = 100_000
	MaxEvery       = 100
	MaxPasses      = 100
	MaxBatch       = 4096
	MaxMargin      = 100
)

// Default returns a configuration that trains for about ten minutes.
func Default(mode string) Config {
	return Config{
		Train: "net", Mode: mode, Rules: cards.AllRules, Hidden: []int{128}, Generations: 70, Games: 4096, Every: 8,
		Epsilon: 0.1, Margin: 10, Passes: 3, Batch: 128, Rate: fit.DefaultAdam.Rate, Seed: 1,
	}
}

// Check returns why a net cannot be trained so.
func (c *Config) Check() error {
	m, err := cards.ParseMode(c.Mode)
	if err != nil {
		return err
	}
	if _, err := m.Combinations(c.Rules); err != nil {
		return err
	}
	for _, n := range []struct {
		name      string
		value, to int
	}{
		{"generations", c.Generations, MaxGenerations}, {"games", c.Games, MaxGames}, {"every", c.Every, MaxEvery},
		{"passes", c.Passes, MaxPasses}, {"batch", c.Batch, MaxBatch},
	} {
		if n.value < 1 || n.value > n.to {
			return fmt.Errorf("%s cannot be %d: try 1 to %d", n.name, n.value, n.to)
		}
	}
	if !(c.Epsilon >= 0 && c.Epsilon <= 1) {
		return fmt.Errorf("epsilon cannot be %v: try 0 to 1", c.Epsilon)
	}
	if !(c.Margin >= 0 && c.Margin <= MaxMargin) {
		return fmt.Errorf("margin cannot be %v: try 0 to %d", c.Margin, MaxMargin)
	}
	if !(c.Rate > 0 && c.Rate <= 1) {
		return fmt.Errorf("rate cannot be %v: above 0, at most 1", c.Rate)
	}
	return net.CheckSizes(sizes(m, c.Hidden))
}

// sizes returns the sizes of a net of a mode with hidden layers, inputs first.
func sizes(m cards.Mode, hidden []int) []int {
	e := features.NewTable(m)
	return append(append([]int{e.Inputs()}, hidden...), m.Actions())
}
