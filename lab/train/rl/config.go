package rl

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// Rewards that a player learns from. Each comes between two of the player's turns.
const (
	// Points is the points that the player's side has won, less those of the others.
	Points = "points"
	// Heuristic adds the heuristic value of the action to Points.
	Heuristic = "heuristic"
	// Won is 1 at the end of a game won, -1 of one lost, and 0 otherwise.
	Won = "won"
)

// Rewards returns the names of the rewards.
func Rewards() []string { return []string{Points, Heuristic, Won} }

// What an action counts that was never tried in a state that is known.
const (
	// Zero is the study's rule: as a mean of 0, so that it is taken where all means are negative.
	Zero = "zero"
	// Ignored does not count it: it is taken only at random.
	Ignored = "ignored"
)

// Untried returns the names of these rules.
func Untried() []string { return []string{Zero, Ignored} }

// CheckUntried returns an error for what is not one of these rules.
func CheckUntried(name string) error {
	if !slices.Contains(Untried(), name) {
		return fmt.Errorf("untried %q does not exist: try %s", name, strings.Join(Untried(), ", "))
	}
	return nil
}

// Defects of the study's program. Each is a switch, and off by default.
const (
	// Late records the return of a decision before the reward of its own trick.
	Late = "late"
	// Carry goes on with the return of one seat where the next seat's begins.
	Carry = "carry"
	// Last keeps only the last decision of a seat in a trick.
	Last = "last"
	// Index plays the card at the place of the chosen one.
	Index = policy.Index
)

// Defects are the defects, as --as-published names them.
var Defects = []run.Defect{
	{Name: Late, Help: "the return is recorded before the reward of its own trick"},
	{Name: Carry, Help: "the return of one seat goes on into the next seat's"},
	{Name: Last, Help: "only a seat's last decision in a trick is kept"},
	{Name: Index, Help: "the place among the legal cards is applied to the hand"},
}

// Version rises when the same configuration comes to another model.
const Version = 1

// Config is how to learn.
type Config struct {
	Mode string `json:"mode"`
	policy.Keys
	Agents     int      `json:"agents"`     // 1 for self-play by one agent; the seats go round among several
	Episodes   int      `json:"episodes"`   // games to play
	Epsilon    float64  `json:"epsilon"`    // how often an action is random, at first
	Fall       float64  `json:"fall"`       // how much Epsilon falls with each episode
	Gamma      float64  `json:"gamma"`      // what a reward is worth a decision earlier
	FirstVisit bool     `json:"firstVisit"` // learn only from the first of equal decisions in a game
	Reward     string   `json:"reward"`
	Untried    string   `json:"untried"` // what an action counts that was never tried in a state
	Step       float64  `json:"step"`    // the least step of a mean, 0 for 1/n throughout
	Memory     int      `json:"memory"`  // of the tables, in MiB
	Batch      int      `json:"batch"`   // episodes that are played between two updates of the tables
	Visits     int      `json:"visits"`  // the model has the states that were visited so often
	Rules      string   `json:"rules"`   // AllRules, or one combination in the digits of cards.RuleBits
	Seed       uint64   `json:"seed"`
	Defects    []string `json:"defects,omitempty"` // of the study, that are kept
}

// AllRules plays every combination of the optional rules in turn.
const AllRules = cards.AllRules

// Limits of a Config.
const (
	MaxEpisodes = 1_000_000_000
	MaxBatch    = 1 << 16
	MaxAgents   = 8
	MinMiB      = 1
	MaxMiB      = 1 << 18
)

// Default returns the study's parameters for a mode.
func Default(mode string) Config {
	return Config{
		Mode: mode, Keys: policy.Keys{Variant: policy.ManyStates}, Agents: 1, Episodes: 3_000_000,
		Epsilon: 0.1, Fall: 1e-7, Gamma: 1, Reward: Points, Untried: Zero, Memory: 1536, Batch: 4096, Visits: 1, Rules: AllRules, Seed: 1,
	}
}

// Check returns an error for what cannot be learned with.
func (c *Config) Check() error {
	mode, err := cards.ParseMode(c.Mode)
	if err != nil {
		return err
	}
	if err := c.Keys.Check(); err != nil {
		return err
	}
	if _, err := mode.Combinations(c.Rules); err != nil {
		return err
	}
	if !slices.Contains(Rewards(), c.Reward) {
		return fmt.Errorf("reward %q does not exist: try %s", c.Reward, strings.Join(Rewards(), ", "))
	}
	if err := CheckUntried(c.Untried); err != nil {
		return err
	}
	if c.Kinds() && c.has(Index) {
		return fmt.Errorf("as-published: defect %q is not for abstraction %s, whose actions are no cards: try abstraction %s", Index, policy.Kinds, policy.Hand)
	}
	return c.checkNumbers()
}

func (c *Config) checkNumbers() error {
	for _, n := range []struct {
		name           string
		value, low, up float64
	}{
		{"agents", float64(c.Agents), 1, MaxAgents},
		{"episodes", float64(c.Episodes), 1, MaxEpisodes},
		{"epsilon", c.Epsilon, 0, 1},
		{"fall of epsilon", c.Fall, 0, 1},
		{"gamma", c.Gamma, 0, 1},
		{"step", c.Step, 0, 1},
		{"memory", float64(c.Memory), MinMiB, MaxMiB},
		{"batch", float64(c.Batch), 1, MaxBatch},
		{"visits", float64(c.Visits), 1, MaxVisits},
	} {
		if math.IsNaN(n.value) || n.value < n.low || n.value > n.up {
			return fmt.Errorf("%s cannot be %v: try %v to %v", n.name, n.value, n.low, n.up)
		}
	}
	return nil
}

func (c *Config) has(defect string) bool { return slices.Contains(c.Defects, defect) }

// epsilon returns how often an action of an episode is random.
func (c *Config) epsilon(episode int) float64 {
	return max(0, c.Epsilon-c.Fall*float64(episode))
}
