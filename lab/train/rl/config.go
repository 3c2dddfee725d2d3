// Package rl trains agents for card games by Monte Carlo control (Sutton and Barto, Reinforcement Learning,
// 2018, chapter 5): it plays episodes and stores the mean return of each action in each state. It repeats the
// bachelor's thesis of R. Arjonilla (UOC, 2024). Begin with Learner. lab/README.md describes the settings.
package rl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// The rewards from which a player can learn. A reward is what a player receives between two of its turns.
const (
	// RewardPoints is the change in the player's lead: the points of its side minus those of the others.
	RewardPoints = "points"
	// RewardPositive is the change in the points of the player's side. It is the reward of the study's first
	// experiment.
	RewardPositive = "positive"
	// RewardHeuristic is RewardPoints plus the heuristic value of the player's action.
	RewardHeuristic = "heuristic"
	// RewardWon is 1 at the end of a won game, -1 at the end of a lost one, and 0 otherwise.
	RewardWon = "won"
)

// Rules for untried actions. An action is untried if it was never chosen in a known state.
const (
	// UntriedZero is the rule of R. Arjonilla's thesis. An untried action has the mean 0. It is therefore chosen if
	// the means of all tried actions are negative.
	UntriedZero = "zero"
	// UntriedIgnored excludes untried actions: they are chosen only at random.
	UntriedIgnored = "ignored"
)

// UntriedParam returns the setting that selects the rule for untried actions: UntriedZero or UntriedIgnored. Its
// value is stored in *to. Its help text begins with prefix.
func UntriedParam(to *string, prefix string) run.Param {
	return run.Param{Name: "untried", Target: to, Choices: []string{UntriedZero, UntriedIgnored}, Help: prefix + "the rule for an action that was never tried in a known state: " + UntriedZero +
		" gives it the mean 0, so that it is taken if all other means are negative; with " + UntriedIgnored + " it is taken only at random"}
}

// MemoryParam returns the setting for the memory limit of all tables together, in MiB. Its value is stored in *to.
func MemoryParam(to *int, help string) run.Param {
	return run.Param{Name: "memory", Target: to, Min: 1, Max: MaxMiB, Help: help}
}

// Names of the defects of the program of R. Arjonilla's thesis that a training can reproduce. By default it
// reproduces none.
const (
	// DefectLate records the return of a decision without the reward of its own trick. (A return is the sum
	// of the rewards that follow a decision.)
	DefectLate = "late"
	// DefectCarry does not reset the sum of rewards to 0 when the returns of the next seat are computed.
	DefectCarry = "carry"
	// DefectLast records only the last decision of a seat in each trick.
	DefectLast = "last"
	// DefectSudden gives no reward for a win at once, but only the points of the last trick.
	DefectSudden = "sudden"
	// DefectStored stores a random action in the policy with the probability epsilon, and plays only stored actions.
	DefectStored = "stored"
	// DefectPlace takes the place of the best action among the tried actions, and stores the action that has this
	// place among all legal actions.
	DefectPlace = "place"
	// DefectIndex uses the index of the chosen card among the legal cards as an index into the whole hand.
	DefectIndex = policy.IndexDefect
)

// Defects are the defects of the program of R. Arjonilla's thesis that --as-published can select, with their help
// texts.
var Defects = []run.Defect{
	{Name: DefectLate, Help: "the return is recorded before the reward of its own trick"},
	{Name: DefectCarry, Help: "the return is not reset to 0 between two seats"},
	{Name: DefectLast, Help: "only a seat's last decision in a trick is recorded"},
	{Name: DefectSudden, Help: "a win at once brings no reward"},
	{Name: DefectStored, Help: "random actions are stored at updates instead of drawn at play"},
	{Name: DefectPlace, Help: "the place of the best among the tried actions selects one of all legal actions"},
	{Name: DefectIndex, Help: "the index of the card among the legal cards is used as an index into the hand"},
}

// Method is the training method of this package.
var Method = run.Method{
	Name: "rl", File: run.ModelFile, Unit: "episodes", Version: 3, Defects: Defects,
	Short: "Learn Brisca or Tute by Monte Carlo learning",
	Long: "Plays games of agents against themselves and stores the mean return of each action in each state, as in a\n" +
		"study of 2024. The variants differ in the key of a state: os has everything that a player knows; ms has trump\n" +
		"card, trick, hand, songs, cards seen and rules, and its model uses for an unknown key the most frequent action\n" +
		"of the states with the same trump card, trick and hand; as has an abstraction: hand is trump card, trick and\n" +
		"hand, and kinds has kinds of cards instead of cards and needs little memory.\n\n" +
		"The tables never take more than --memory. When they are full, they reject new states and go on learning the\n" +
		"known ones. Play with the model as @rl:model=DIR/model.timba.",
	Example: "  timba-lab train rl --variant ms --dry-run\n" +
		"  timba-lab train rl --variant as --episodes 100000 --out run\n" +
		"  timba match brisca @rl:model=run/model.timba @greedy --deals 10",
	Settings: func() run.TrainingSettings {
		c := Default(run.DefaultMode)
		c.Abstraction = policy.Kinds
		return &c
	},
}

// Config is the configuration of a training.
type Config struct {
	Mode string `json:"mode"`
	policy.Keys
	Agents       int      `json:"agents"`   // number of agents that learn; 1 plays against itself, several take the seats in rotation
	Episodes     int      `json:"episodes"` // games to play
	Epsilon      float64  `json:"epsilon"`  // initial probability of a random action
	EpsilonDecay float64  `json:"fall"`     // decrease of epsilon per episode
	Gamma        float64  `json:"gamma"`    // discount factor of returns
	Reward       string   `json:"reward"`   // RewardPoints, RewardPositive, RewardHeuristic or RewardWon
	UntriedRule  string   `json:"untried"`  // UntriedZero or UntriedIgnored
	MinStep      float64  `json:"step"`     // lower bound of the step size of a mean; with 0 it is 1/n throughout
	Memory       int      `json:"memory"`   // limit for all tables, in MiB
	Batch        int      `json:"batch"`    // episodes between two updates of the tables
	MinVisits    int      `json:"visits"`   // visits that a state needs to be in the model
	Rules        string   `json:"rules"`    // optional rules to play, see cards.Mode.Combinations
	Seed         uint64   `json:"seed"`
	Defects      []string `json:"defects,omitempty"` // defects of the study to reproduce
	From         string   `json:"from,omitempty"`    // SHA-256 hash of the checkpoint with the first tables; "" for empty ones

	fromDir string // directory of the run From
}

// MaxMiB is the highest memory limit, in MiB.
const MaxMiB = 1 << 18

// Default returns the configuration of R. Arjonilla's thesis for mode, a game with its number of players, but for two
// settings: Rules (the thesis trains without optional rules) and Batch (it updates the policy after each episode).
func Default(mode string) Config {
	return Config{
		Mode: mode, Keys: policy.Keys{Variant: policy.ManyStates}, Agents: 1, Episodes: 3_000_000,
		Epsilon: 0.1, EpsilonDecay: 1e-7, Gamma: 1, Reward: RewardPoints, UntriedRule: UntriedZero, Memory: 3328, Batch: 4096, MinVisits: 1, Rules: cards.AllRules, Seed: 1,
	}
}

func (c *Config) Params() []run.Param {
	return append(run.CommonParams(&c.Mode, &c.Seed),
		run.DefectsParam(&c.Defects, Defects),
		run.FromParam(&c.fromDir, "begin with the tables of the run in this `DIR`, and with the epsilon at its end unless --epsilon is given"),
		run.ChoiceParam("variant", &c.Variant, policy.Variants(), "the key of a state"),
		run.Param{Name: "abstraction", Target: &c.Abstraction, Help: "the abstraction of variant as: one of " + strings.Join(policy.Abstractions(), ", ")},
		run.Param{Name: "alike", Target: &c.Alike, Help: "treat states as equal if they differ only in the names of the suits that are not trumps"},
		run.ChoiceParam("reward", &c.Reward, []string{RewardPoints, RewardPositive, RewardHeuristic, RewardWon}, "the reward between two turns"),
		UntriedParam(&c.UntriedRule, ""),
		run.RulesParam(&c.Rules, "in turn"),
		run.Param{Name: "episodes", Target: &c.Episodes, Min: 1, Max: 1_000_000_000, Scaled: true, Help: "games to play"},
		run.Param{Name: "agents", Target: &c.Agents, Min: 1, Max: 8, Help: "number of agents that learn: 1 plays against itself, several take the seats in rotation"},
		MemoryParam(&c.Memory, "MiB that the tables may take"),
		run.Param{Name: "batch", Target: &c.Batch, Min: 1, Max: 1 << 16, Help: "episodes between two updates of the tables"},
		run.Param{Name: "visits", Target: &c.MinVisits, Min: 1, Max: MaxVisits, Help: "the least number of visits of a state in the model"},
		run.Param{Name: "epsilon", Target: &c.Epsilon, Max: 1, Help: "the probability of a random action in the first episode"},
		run.Param{Name: "fall", Target: &c.EpsilonDecay, Max: 1, Help: "the decrease of epsilon for each episode"},
		run.Param{Name: "gamma", Target: &c.Gamma, Max: 1, Help: "the discount factor: the value of a reward one turn earlier"},
		run.Param{Name: "step", Target: &c.MinStep, Max: 1, Help: "the least weight of a new return in a mean; 0 weighs all returns alike"},
	)
}

// Complete checks the settings. If the variant needs no abstraction and the user has not set one, it clears the
// abstraction. given(name) reports whether the user has set the setting called name. Complete returns an error if a
// defect is unknown or another setting is not valid.
func (c *Config) Complete(given func(name string) bool) (err error) {
	if c.Variant != policy.Abstract && !given("abstraction") {
		c.Abstraction = ""
	}
	if c.Defects, err = run.SelectDefects(c.Defects, Defects); err != nil {
		return err
	}
	if err := c.Check(); err != nil || c.fromDir == "" {
		return err
	}
	return c.checkEarlier(given("epsilon"))
}

// checkEarlier reads the settings of the run in c.fromDir, an earlier training whose tables this one takes over. It
// returns an error if the tables of the two are of different kinds, for example for different games. It sets c.From to
// the hash of that run's checkpoint. Unless keepsEpsilon is set, it sets c.Epsilon to the value at the end of that run.
func (c *Config) checkEarlier(keepsEpsilon bool) (err error) {
	var earlier Config
	if c.From, err = run.ReadEarlier(c.fromDir, &earlier); err != nil {
		return err
	}
	kind := func(c *Config) string {
		return fmt.Sprintf("mode %s, variant %s, abstraction %q, alike %t, agents %d, kept policy %t", c.Mode, c.Variant, c.Abstraction, c.Alike, c.Agents, c.keepsPolicy())
	}
	if kind(c) != kind(&earlier) {
		return fmt.Errorf("--from %s: its tables are of %s, not of %s: try the flags of that run", c.fromDir, kind(&earlier), kind(c))
	}
	if !keepsEpsilon {
		c.Epsilon = earlier.epsilon(earlier.Episodes)
	}
	return nil
}

func (c *Config) Check() error {
	if err := c.Keys.Check(); err != nil {
		return err
	}
	if c.HasKinds() && c.hasDefect(DefectIndex) {
		return fmt.Errorf("as-published: defect %q is not for abstraction %s, whose actions are no cards: try abstraction %s", DefectIndex, policy.Kinds, policy.Hand)
	}
	if limit := 1<<policyShift - 1; c.keepsPolicy() && c.MinVisits > limit {
		return fmt.Errorf("visits cannot be \"%d\" with defects %s or %s: try 1 to %d", c.MinVisits, DefectStored, DefectPlace, limit)
	}
	return cards.CheckRules(c.Mode, c.Rules)
}

func (c *Config) hasDefect(defect string) bool { return slices.Contains(c.Defects, defect) }

// keepsPolicy reports whether the tables store a chosen action for each state and play it, instead of the action with
// the highest mean return. DefectStored and DefectPlace require this. See ReturnTable.KeepsPolicy.
func (c *Config) keepsPolicy() bool { return c.hasDefect(DefectStored) || c.hasDefect(DefectPlace) }

func (c *Config) epsilon(episode int) float64 {
	return max(0, c.Epsilon-c.EpsilonDecay*float64(episode))
}
