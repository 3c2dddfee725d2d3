package ga

import (
	"fmt"
	"slices"
	"strings"

	"github.com/timba-arena/timba/lab/train/rl"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/net"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// Version rises when the same configuration comes to another model.
const Version = 1

// Config is the parameters of a search, as config.json of its run has them.
type Config struct {
	Mode        string   `json:"mode"`
	Variant     string   `json:"variant"`
	Rules       string   `json:"rules"`             // a combination of the optional rules, as in 0110, or "all"
	Layers      []int    `json:"layers,omitempty"`  // of nets: units of the hidden layers
	Keys        string   `json:"keys,omitempty"`    // of agents: what a state is
	Epsilon     float64  `json:"epsilon,omitempty"` // of agents: how often an action is random
	Untried     string   `json:"untried,omitempty"` // of agents: what an action counts that was never tried in a state
	Memory      int      `json:"memory,omitempty"`  // of agents: of all tables together, in MiB
	Population  int      `json:"population"`
	Best        int      `json:"best"`                // individuals that have children
	Elite       bool     `json:"elite"`               // the best stay in the next generation
	Positions   int      `json:"positions,omitempty"` // judge by so many positions; 0 for games
	Playouts    int      `json:"playouts,omitempty"`  // of each move of a position
	Value       string   `json:"value,omitempty"`     // what a move in a position is worth
	Double      bool     `json:"double"`              // the best are chosen from twice as many that play again
	Games       int      `json:"games"`               // of a pairing
	Generations int      `json:"generations"`         //
	Rival       string   `json:"rival"`               // a house bot that all play against; "" for each other
	Policy      string   `json:"policy"`
	Crossover   float64  `json:"crossover"` // ratio of the policy custom
	Mutation    float64  `json:"mutation"`  // ratio of the policy custom
	Crossovers  []string `json:"crossovers"`
	Mutations   []string `json:"mutations"`
	Final       int      `json:"final"` // games of each of the last elite for the choice of the model; 0 for none
	Seed        uint64   `json:"seed"`
	Defects     []string `json:"defects,omitempty"` // of the study that are kept
}

// Defects are those of the study's code that a search can keep.
var Defects = []run.Defect{
	{Name: defectLayers, Help: "all nets share their layers: they begin alike, and both children of a pair are the second"},
	{Name: defectOutput, Help: "children do not inherit the output layer"},
	{Name: defectTuned, Help: "the policy tuned has a crossover ratio of 0.90 instead of 0.93"},
}

// What a move in a position is worth.
const (
	ValueGame  = "game"  // the games won, then the points of games played to the end by random moves
	ValueTrick = "trick" // the points of the trick and the study's heuristic value
)

const (
	defectLayers = "layers"
	defectOutput = "output"
	defectTuned  = "tuned"
)

// keeps reports whether the search keeps a defect.
func (c *Config) keeps(defect string) bool { return slices.Contains(c.Defects, defect) }

// DefectsOf returns the defects that a variant can keep.
func DefectsOf(variant string) (list []run.Defect) {
	for _, d := range Defects {
		if variant == Nets || d.Name == defectTuned {
			list = append(list, d)
		}
	}
	return list
}

// Default returns the parameters of the study for nets of a mode.
func Default(mode string) Config {
	return Config{
		Mode: mode, Variant: Nets, Rules: cards.AllRules, Layers: []int{50, 25}, Population: 32, Best: 6, Elite: true,
		Games: 10, Generations: 1000, Policy: policyILM, Crossovers: CrossoverNames(), Mutations: publishedMutations,
		Final: 1000, Playouts: 100, Value: ValueGame, Seed: 1,
	}
}

// DefaultAgents returns the parameters of the study for agents of a mode. What a state is, is ours:
// agents whose states have all that a player knows hardly ever meet one again.
func DefaultAgents(mode string) Config {
	c := Default(mode)
	c.Variant, c.Layers, c.Playouts, c.Value = Agents, nil, 0, ""
	c.Keys, c.Epsilon, c.Untried, c.Memory = policy.Kinds, 0.05, rl.Zero, rl.Default(mode).Memory
	c.Population, c.Best, c.Mutations = 200, 20, []string{resetting}
	return c
}

// The bounds of a search. Memory is that of all nets twice, or Config.Memory; time is that of all
// games.
const (
	MaxPopulation  = 1000
	MaxGames       = 1_000_000 // of a pairing
	MaxGenerations = 1_000_000
	MaxPositions   = 100_000
	MaxPlayouts    = 10_000
	maxGenes       = 1 << 28 // of a population
	maxLearned     = 1 << 18 // games of all agents in a generation, which are kept until all have been played
)

// Check returns why there is no such search.
func (c *Config) Check() error {
	mode, err := cards.ParseMode(c.Mode)
	if err != nil {
		return err
	}
	for _, bound := range []struct {
		name            string
		value, low, top int
	}{
		{"population", c.Population, max(2, mode.Players), MaxPopulation},
		{"best", c.Best, 2, c.Population},
		{"games", c.Games, 1, MaxGames},
		{"generations", c.Generations, 1, MaxGenerations},
		{"final", c.Final, 0, MaxGames},
	} {
		if err := within(bound.name, bound.value, bound.low, bound.top); err != nil {
			return err
		}
	}
	if _, err := mode.Combinations(c.Rules); err != nil {
		return err
	}
	if _, err := newPolicy(c.Policy, c.Crossover, c.Mutation, c.keeps(defectTuned)); err != nil {
		return err
	}
	switch c.Variant {
	case Nets:
		return c.checkNets(mode)
	case Agents:
		return c.checkAgents()
	}
	return fmt.Errorf("variant %q does not exist: try %s", c.Variant, strings.Join(Variants(), " or "))
}

// within returns an error for a value that is not from low to top.
func within(name string, value, low, top int) error {
	if value < low || value > top {
		return fmt.Errorf("%s cannot be \"%d\": try %d to %d", name, value, low, top)
	}
	return nil
}

// checkNets returns why there is no such search for nets.
func (c *Config) checkNets(mode cards.Mode) error {
	if err := within("positions", c.Positions, 0, MaxPositions); err != nil {
		return err
	}
	if err := within("playouts", c.Playouts, 1, MaxPlayouts); err != nil {
		return err
	}
	switch c.Value {
	case ValueGame, ValueTrick:
	default:
		return fmt.Errorf("value %q does not exist: try %s or %s", c.Value, ValueGame, ValueTrick)
	}
	if len(c.Layers) == 0 {
		return fmt.Errorf("layers \"\": a net needs a hidden layer: try 50-25")
	}
	n, err := net.New(sizes(mode, c.Layers), net.Linear)
	if err != nil {
		return err
	}
	if genes := n.Params() * c.Population; genes > maxGenes {
		return fmt.Errorf("population cannot be \"%d\": its nets have %d genes, more than %d: try fewer individuals or units", c.Population, genes, maxGenes)
	}
	if _, err := named("crossover", c.Crossovers, crossovers, func(o crossover) string { return o.name }); err != nil {
		return err
	}
	_, err = named("mutation", c.Mutations, mutations, func(o mutation) string { return o.name })
	return err
}

// checkAgents returns why there is no such search for agents.
func (c *Config) checkAgents() error {
	if _, err := policy.ParseKeys(c.Keys); err != nil {
		return err
	}
	if err := rl.CheckUntried(c.Untried); err != nil {
		return err
	}
	if !(c.Epsilon >= 0 && c.Epsilon <= 1) {
		return fmt.Errorf("epsilon cannot be \"%v\": try 0 to 1", c.Epsilon)
	}
	n := tables(c.Population, c.Best)
	if err := within("memory", c.Memory, (n*rl.MinMemory+1<<20-1)>>20, rl.MaxMiB); err != nil {
		return fmt.Errorf("%w, for %d tables", err, n)
	}
	if games := c.Population * c.Games; games > maxLearned {
		return fmt.Errorf("games cannot be \"%d\": all agents together play %d in a generation, more than %d: try fewer games or individuals", c.Games, games, maxLearned)
	}
	if c.Positions != 0 {
		return fmt.Errorf("positions cannot be \"%d\": agents learn from games: try variant %s", c.Positions, Nets)
	}
	if _, err := named("crossover", c.Crossovers, dictionaryCrossovers, func(o dictionaryCrossover) string { return o.name }); err != nil {
		return err
	}
	_, err := named("mutation", c.Mutations, []string{resetting}, func(name string) string { return name })
	return err
}

// named returns the operators of some names.
func named[T any](kind string, names []string, all []T, name func(T) string) (chosen []T, err error) {
	var known []string
	for _, o := range all {
		known = append(known, name(o))
	}
	for _, want := range names {
		found := false
		for i, o := range all {
			if known[i] == want {
				chosen, found = append(chosen, o), true
			}
		}
		if !found {
			return nil, fmt.Errorf("%s %q does not exist: try some of %s", kind, want, strings.Join(known, ","))
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("%s \"\": at least one is needed: try some of %s", kind, strings.Join(known, ","))
	}
	return chosen, nil
}

// CrossoverNames returns the names of all crossovers.
func CrossoverNames() (names []string) {
	for _, c := range crossovers {
		names = append(names, c.name)
	}
	return names
}

// MutationNames returns the names of all mutations.
func MutationNames() (names []string) {
	for _, m := range mutations {
		names = append(names, m.name)
	}
	return names
}
