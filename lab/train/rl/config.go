// Package rl learns to play cards by Monte Carlo control: it plays episodes and keeps the mean return of
// each action in each state. Begin with Learner; lab/README.md describes the settings.
package rl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// Rewards that a player learns from. Each comes between two of the player's turns.
const (
	// RewardPoints is the points that the player's side has won, less those of the others.
	RewardPoints = "points"
	// RewardHeuristic adds the heuristic value of the action to Points.
	RewardHeuristic = "heuristic"
	// RewardWon is 1 at the end of a game won, -1 of one lost, and 0 otherwise.
	RewardWon = "won"
)

// What an action counts that was never tried in a state that is known.
const (
	// UntriedZero is the study's rule: as a mean of 0, so that it is taken where all means are negative.
	UntriedZero = "zero"
	// UntriedIgnored does not count it: it is taken only at random.
	UntriedIgnored = "ignored"
)

// UntriedParam returns the setting of what an action counts that was never tried in a state.
func UntriedParam(to *string, of string) run.Param {
	return run.Param{Name: "untried", Target: to, Choices: []string{UntriedZero, UntriedIgnored}, Help: of + "what an action counts that was never tried in a known state: " + UntriedZero +
		", so that it is taken where all means are negative, or " + UntriedIgnored + ", so that it is taken only at random"}
}

// MemoryParam returns the setting of what tables may take.
func MemoryParam(to *int, help string) run.Param {
	return run.Param{Name: "memory", Target: to, Min: 1, Max: MaxMiB, Help: help}
}

// Defects of the study's program. Each is a switch, and off by default.
const (
	// DefectLate records the return of a decision before the reward of its own trick.
	DefectLate = "late"
	// DefectCarry goes on with the return of one seat where the next seat's begins.
	DefectCarry = "carry"
	// DefectLast keeps only the last decision of a seat in a trick.
	DefectLast = "last"
	// DefectIndex plays the card at the place of the chosen one.
	DefectIndex = policy.IndexDefect
)

// Defects are the defects, as --as-published names them.
var Defects = []run.Defect{
	{Name: DefectLate, Help: "the return is recorded before the reward of its own trick"},
	{Name: DefectCarry, Help: "the return of one seat goes on into the next seat's"},
	{Name: DefectLast, Help: "only a seat's last decision in a trick is kept"},
	{Name: DefectIndex, Help: "the place among the legal cards is applied to the hand"},
}

// Method is Monte Carlo learning.
var Method = run.Method{
	Name: "rl", File: run.ModelFile, Unit: "episodes", Version: 1, Defects: Defects,
	Short: "Learn Brisca or Tute by Monte Carlo learning",
	Long: "Plays games of agents against themselves and keeps the mean return of each action in each state,\n" +
		"as a study of 2024 does. The variants differ in what a state is: os has all that a player knows; ms\n" +
		"has trump card, trick, hand, songs, cards seen and rules, and falls back on the commonest action\n" +
		"among states with the same first three; as has an abstraction: hand, those first three alone, or\n" +
		"kinds, which has kinds of cards instead of cards and needs little memory.\n\n" +
		"The tables never take more than --memory. When they are full, new states are turned away, and the\n" +
		"others go on learning. Play with the model as @rl:model=DIR/model.timba.",
	Example: "  timba-lab train rl --variant ms --dry-run\n" +
		"  timba-lab train rl --variant as --episodes 100000 --out run\n" +
		"  timba match brisca @rl:model=run/model.timba @greedy --deals 10",
	Settings: func() run.TrainingSettings {
		c := Default(run.DefaultMode)
		c.Abstraction = policy.Kinds
		return &c
	},
}

// Config is how to learn.
type Config struct {
	Mode string `json:"mode"`
	policy.Keys
	Agents       int      `json:"agents"`     // 1 for self-play by one agent; the seats go round among several
	Episodes     int      `json:"episodes"`   // games to play
	Epsilon      float64  `json:"epsilon"`    // how often an action is random, at first
	EpsilonDecay float64  `json:"fall"`       // how much Epsilon falls with each episode
	Gamma        float64  `json:"gamma"`      // what a reward is worth a decision earlier
	FirstVisit   bool     `json:"firstVisit"` // learn only from the first of equal decisions in a game
	Reward       string   `json:"reward"`
	UntriedRule  string   `json:"untried"` // what an action counts that was never tried in a state
	MinStep      float64  `json:"step"`    // the least step of a mean, 0 for 1/n throughout
	Memory       int      `json:"memory"`  // of the tables, in MiB
	Batch        int      `json:"batch"`   // episodes that are played between two updates of the tables
	MinVisits    int      `json:"visits"`  // the model has the states that were visited so often
	Rules        string   `json:"rules"`   // as of cards.Mode.Combinations
	Seed         uint64   `json:"seed"`
	Defects      []string `json:"defects,omitempty"` // of the study, that are kept
}

// MaxMiB is the most memory of tables.
const MaxMiB = 1 << 18

// Default returns the study's parameters for a mode.
func Default(mode string) Config {
	return Config{
		Mode: mode, Keys: policy.Keys{Variant: policy.ManyStates}, Agents: 1, Episodes: 3_000_000,
		Epsilon: 0.1, EpsilonDecay: 1e-7, Gamma: 1, Reward: RewardPoints, UntriedRule: UntriedZero, Memory: 1536, Batch: 4096, MinVisits: 1, Rules: cards.AllRules, Seed: 1,
	}
}

func (c *Config) Params() []run.Param {
	return append(run.CommonParams(&c.Mode, &c.Seed),
		run.DefectsParam(&c.Defects, Defects),
		run.ChoiceParam("variant", &c.Variant, policy.Variants(), "what a state is"),
		run.Param{Name: "abstraction", Target: &c.Abstraction, Help: "of variant as: one of " + strings.Join(policy.Abstractions(), ", ")},
		run.Param{Name: "alike", Target: &c.Alike, Help: "states are equal that differ only in the names of suits that are not trumps"},
		run.ChoiceParam("reward", &c.Reward, []string{RewardPoints, RewardHeuristic, RewardWon}, "what comes between two turns"),
		UntriedParam(&c.UntriedRule, ""),
		run.RulesParam(&c.Rules, "in turn"),
		run.Param{Name: "first-visit", Target: &c.FirstVisit, Help: "learn only from the first of equal decisions in a game"},
		run.Param{Name: "episodes", Target: &c.Episodes, Min: 1, Max: 1_000_000_000, Scaled: true, Help: "games to play"},
		run.Param{Name: "agents", Target: &c.Agents, Min: 1, Max: 8, Help: "agents that learn: 1 plays against itself, the seats go round among several"},
		MemoryParam(&c.Memory, "MiB that the tables may take"),
		run.Param{Name: "batch", Target: &c.Batch, Min: 1, Max: 1 << 16, Help: "episodes between two updates of the tables"},
		run.Param{Name: "visits", Target: &c.MinVisits, Min: 1, Max: MaxVisits, Help: "the model has the states that were visited at least so often"},
		run.Param{Name: "epsilon", Target: &c.Epsilon, Max: 1, Help: "how often an action is random, at first"},
		run.Param{Name: "fall", Target: &c.EpsilonDecay, Max: 1, Help: "how much epsilon falls with each episode"},
		run.Param{Name: "gamma", Target: &c.Gamma, Max: 1, Help: "what a reward is worth a turn earlier"},
		run.Param{Name: "step", Target: &c.MinStep, Max: 1, Help: "the least weight of a new return in a mean; 0 weighs all returns alike"},
	)
}

// Complete leaves the abstraction out where the variant has none.
func (c *Config) Complete(given func(name string) bool) (err error) {
	if c.Variant != policy.Abstract && !given("abstraction") {
		c.Abstraction = ""
	}
	if c.Defects, err = run.SelectDefects(c.Defects, Defects); err != nil {
		return err
	}
	return c.Check()
}

func (c *Config) Check() error {
	if err := c.Keys.Check(); err != nil {
		return err
	}
	if c.HasKinds() && c.hasDefect(DefectIndex) {
		return fmt.Errorf("as-published: defect %q is not for abstraction %s, whose actions are no cards: try abstraction %s", DefectIndex, policy.Kinds, policy.Hand)
	}
	return cards.CheckRules(c.Mode, c.Rules)
}

func (c *Config) hasDefect(defect string) bool { return slices.Contains(c.Defects, defect) }

// epsilon returns how often an action of an episode is random.
func (c *Config) epsilon(episode int) float64 {
	return max(0, c.Epsilon-c.EpsilonDecay*float64(episode))
}
