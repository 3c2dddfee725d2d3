package ga

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/timba-arena/timba/lab/train/fit"
	"github.com/timba-arena/timba/lab/train/rl"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/features"
	"github.com/timba-arena/timba/sample-bots/learned/net"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// Method describes the genetic algorithm as a method of training, for the command "timba-lab train ga" and for
// experiments.
var Method = run.Method{
	Name: "ga", File: run.ModelFile, Unit: "generations", Version: 3, Defects: Defects,
	Short: "Search for a net or an agent by a genetic algorithm",
	Long: "Breeds nets that rank all moves in one pass (xn), or agents that learn by Monte Carlo from their games\n" +
		"(rl), as in a study of 2024. The best of a generation, by games won and then by points, have children by\n" +
		"crossover and mutation. All pairings of a generation play the same deals, each once in every rotation.\n" +
		"Play with the model as @ga:model=DIR/model.timba.",
	Example: "  timba-lab train ga --dry-run\n" +
		"  timba-lab train ga --generations 20 --out run\n" +
		"  timba-lab train ga --rival @greedy --policy custom --crossover 0.9 --mutation 0.5 --mutations noise,swap --out bred\n" +
		"  timba-lab train ga --variant rl --generations 20 --out agents\n" +
		"  timba match brisca @ga:model=run/model.timba @greedy --deals 10",
	Settings: func() run.TrainingSettings {
		c, d := Default(run.DefaultMode), DefaultAgents("")
		c.layersText, c.Keys, c.Epsilon, c.Fall, c.UntriedRule, c.Memory = fit.StudyLayers, d.Keys, d.Epsilon, d.Fall, d.UntriedRule, d.Memory
		return &c
	},
}

// Config is the configuration of a search. It is stored as config.json of the run.
type Config struct {
	Mode        string   `json:"mode"`
	Variant     string   `json:"variant"`             // Nets or Agents
	Rules       string   `json:"rules"`               // a combination of the optional rules such as "0110", or "all"
	Layers      []int    `json:"layers,omitempty"`    // for nets: units of the hidden layers
	Keys        string   `json:"keys,omitempty"`      // for agents: what distinguishes states, see policy.ParseKeys
	Epsilon     float64  `json:"epsilon,omitempty"`   // for agents: probability of a random action
	Fall        float64  `json:"fall,omitempty"`      // for agents: decrease of Epsilon for each game of an agent and its ancestors
	UntriedRule string   `json:"untried,omitempty"`   // for agents: rl.UntriedZero or rl.UntriedIgnored
	Memory      int      `json:"memory,omitempty"`    // for agents: limit for all tables together, in MiB
	Population  int      `json:"population"`          // individuals of a generation
	Parents     int      `json:"best"`                // individuals that have children
	KeepElite   bool     `json:"elite"`               // the parents stay in the next generation
	Positions   int      `json:"positions,omitempty"` // compute fitness from this number of positions; 0 means from games
	Playouts    int      `json:"playouts,omitempty"`  // random games for each move of a position
	MoveValue   string   `json:"value,omitempty"`     // ValueGame or ValueTrick
	SecondRound bool     `json:"double"`              // twice as many candidates for parents play a second round
	Games       int      `json:"games"`               // number of games of a pairing
	Generations int      `json:"generations"`
	Rival       string   `json:"rival"`     // house bot against which all play; "" means against each other
	Policy      string   `json:"policy"`    // one of PolicyNames
	Crossover   float64  `json:"crossover"` // probability, for the policy custom
	Mutation    float64  `json:"mutation"`  // probability, for the policy custom
	Crossovers  []string `json:"crossovers"`
	Mutations   []string `json:"mutations"`
	FinalGames  int      `json:"final"` // games for each of the last elite to choose the model; 0 for none
	Seed        uint64   `json:"seed"`
	Defects     []string `json:"defects,omitempty"` // defects of the study to reproduce
	// From is the SHA-256 hash, in hexadecimal, of the checkpoint of an earlier search. The first generation then
	// has the best individuals of that search as parents. It is "" if there is no earlier search.
	From string `json:"from,omitempty"`

	layersText string // the setting of Layers as users write it
	fromDir    string // directory of the earlier search that From identifies; "" if there is none
}

// Defects are the defects of the program of R. Arjonilla's thesis that a search can reproduce.
var Defects = []run.Defect{
	{Name: defectLayers, Help: "all nets share their layers: they begin equal, and both children of a pair equal the second"},
	{Name: defectOutput, Help: "children do not inherit the output layer"},
	{Name: defectTuned, Help: "the policy tuned has a crossover ratio of 0.90 instead of 0.93"},
}

// The names of the ways to compute the value of a move in a position, for Config.MoveValue.
const (
	ValueGame  = "game"  // games won, then points, when games are finished by random moves
	ValueTrick = "trick" // points of the trick plus the study's heuristic value
)

const (
	defectLayers = "layers"
	defectOutput = "output"
	defectTuned  = "tuned"
)

func (c *Config) hasDefect(defect string) bool { return slices.Contains(c.Defects, defect) }

// Default returns the configuration of R. Arjonilla's thesis for a search of nets, except for Rules: the thesis searches
// without optional rules. mode is a game with its number of players.
func Default(mode string) Config {
	return Config{
		Mode: mode, Variant: Nets, Rules: cards.AllRules, Layers: []int{50, 25}, Population: 32, Parents: 6, KeepElite: true,
		Games: 10, Generations: 1000, Policy: policyILM, Crossovers: CrossoverNames(), Mutations: studyMutations,
		FinalGames: 1000, Playouts: 100, MoveValue: ValueGame, Seed: 1,
	}
}

// DefaultAgents returns the study's configuration for a search of agents, except for Rules and for Keys, which determine
// the positions that count as the same state. With the study's keys, which contain all that a player knows, agents
// hardly ever see a state twice. mode is a game with its number of players.
func DefaultAgents(mode string) Config {
	c := Default(mode)
	c.Variant, c.Layers, c.Playouts, c.MoveValue = Agents, nil, 0, ""
	c.Keys, c.Epsilon, c.Fall, c.UntriedRule, c.Memory = policy.Kinds, 0.05, 1e-7, rl.UntriedZero, rl.Default(mode).Memory
	c.Population, c.Parents, c.Crossovers, c.Mutations = 200, 20, namesOf(dictionaryCrossovers, func(o dictionaryCrossover) string { return o.name }), []string{resetting}
	return c
}

// The limits of a search. They bound the memory of two generations of nets and the time of all games.
const (
	MaxPopulation    = 1000
	MaxGames         = 1_000_000 // of a pairing
	maxGenes         = 1 << 28   // of all nets of a generation
	maxLearningGames = 1 << 18   // games of all agents in a generation, whose returns are stored until its end
)

func (c *Config) Params() []run.Param {
	return slices.Concat(c.commonParams(), c.netParams(), c.agentParams())
}

func (c *Config) commonParams() []run.Param {
	d := DefaultAgents("")
	return append(run.CommonParams(&c.Mode, &c.Seed),
		run.DefectsParam(&c.Defects, Defects),
		run.FromParam(&c.fromDir, "breed the first generation from the last parents of the run in this `DIR`"),
		run.Param{Name: "variant", Target: &c.Variant, Choices: Variants(),
			Help: "what individuals are: " + Nets + " for nets, " + Agents + " for agents that learn by Monte Carlo"},
		run.RulesParam(&c.Rules, "at random"),
		run.Param{Name: "rival", Target: &c.Rival, Help: "the opponent of all individuals: a house `BOT` or random (default: each other)"},
		run.Param{Name: "elite", Target: &c.KeepElite, Help: "the parents stay in the next generation"},
		run.Param{Name: "double", Target: &c.SecondRound, Help: "twice as many candidates for parents play a second round"},
		run.ChoiceParam("policy", &c.Policy, PolicyNames, "the probabilities of crossover and mutation"),
		run.Param{Name: "crossovers", Target: &c.Crossovers, Help: "the crossovers, a `LIST` joined by commas"},
		run.Param{Name: "mutations", Target: &c.Mutations, Help: "the mutations, a `LIST` joined by commas of " + strings.Join(MutationNames(), ", ")},
		run.Param{Name: "crossover", Target: &c.Crossover, Max: 1, Help: "the probability of crossover with --policy custom"},
		run.Param{Name: "mutation", Target: &c.Mutation, Max: 1, Help: "the probability of mutation with --policy custom"},
		run.Param{Name: "population", Target: &c.Population, Min: 2, Max: MaxPopulation,
			Help: fmt.Sprintf("individuals of a generation; %d by default with variant rl", d.Population)},
		run.Param{Name: "best", Target: &c.Parents, Min: 2, Max: MaxPopulation,
			Help: fmt.Sprintf("parents of a generation; %d by default with variant rl", d.Parents)},
		run.Param{Name: "games", Target: &c.Games, Min: 1, Max: MaxGames, Help: "games of a pairing"},
		run.Param{Name: "generations", Target: &c.Generations, Min: 1, Max: 1_000_000, Scaled: true, Help: "number of generations"},
		run.Param{Name: "final", Target: &c.FinalGames, Max: MaxGames, Help: "games to choose the model from the best individuals of the last generation"},
	)
}

func (c *Config) netParams() []run.Param {
	return []run.Param{
		fit.LayersParam(&c.layersText),
		{Name: "positions", Target: &c.Positions, Max: 100_000, Help: "compare nets by their moves in this number of positions instead of by games"},
		{Name: "playouts", Target: &c.Playouts, Min: 1, Max: 10_000, Help: "random games to value each move of a position"},
		{Name: "value", Target: &c.MoveValue, Choices: []string{ValueGame, ValueTrick}, Help: "the value of a move in a position: " + ValueGame +
			" plays the game to its end, " + ValueTrick + " plays the trick to its end and adds the study's heuristic value"},
	}
}

func (c *Config) agentParams() []run.Param {
	return []run.Param{
		run.ChoiceParam("keys", &c.Keys, policy.KeyNames(), "of variant rl: the key of a state, as in timba-lab train rl"),
		{Name: "epsilon", Target: &c.Epsilon, Max: 1, Help: "of variant rl: the probability of a random action"},
		{Name: "fall", Target: &c.Fall, Max: 1, Help: "of variant rl: the decrease of epsilon for each game"},
		rl.UntriedParam(&c.UntriedRule, "of variant rl: "),
		rl.MemoryParam(&c.Memory, "of variant rl: MiB that all tables together may take"),
	}
}

// Complete sets each setting that the user has not set to the default of the variant. given(name) reports whether the
// user has set the setting called name. Complete returns an error if the user has set a setting or a defect of the
// other variant, or if a value is not valid.
func (c *Config) Complete(given func(name string) bool) (err error) {
	others, defaults, defects := c.agentParams(), Default(c.Mode), Defects
	if c.Variant == Agents {
		others, defaults, defects = c.netParams(), DefaultAgents(c.Mode), Defects[2:] // defectTuned
	}
	if given("population") {
		defaults.Parents = min(defaults.Parents, c.Population)
	}
	for _, p := range others {
		if given(p.Name) {
			return fmt.Errorf("%s is not for variant %s: leave it out", p.Name, c.Variant)
		}
	}
	defaults.Variant, defaults.Seed, defaults.layersText = c.Variant, c.Seed, c.layersText
	run.ApplyDefaults(c.Params(), defaults.Params(), given)
	if c.Defects, err = run.SelectDefects(c.Defects, defects); err != nil {
		return err
	}
	if c.Layers = nil; c.Variant == Nets {
		m, err := cards.ParseMode(c.Mode)
		if err != nil {
			return err
		}
		if c.Layers, err = fit.ParseLayers(c.layersText, m, features.Genetic); err != nil {
			return err
		}
	}
	if err := c.Check(); err != nil || c.fromDir == "" {
		return err
	}
	return c.checkEarlier()
}

// checkEarlier reads the settings of the run in c.fromDir, an earlier search from which this one takes its first
// parents. It returns an error if the two searches differ in the game, the variant, or the keys or layers of the
// individuals. It sets c.From to the hash of that run's checkpoint.
func (c *Config) checkEarlier() (err error) {
	var earlier Config
	if c.From, err = run.ReadEarlier(c.fromDir, &earlier); err != nil {
		return err
	}
	kind := func(c *Config) string {
		return strings.Join([]string{c.Mode, c.Variant, cmp.Or(c.Keys, net.FormatSizes(c.Layers))}, " ")
	}
	if kind(c) != kind(&earlier) {
		return fmt.Errorf("--from %s: its individuals are %s, not %s: try the flags of that run", c.fromDir, kind(&earlier), kind(c))
	}
	return nil
}

func (c *Config) Check() error {
	if err := cards.CheckRules(c.Mode, c.Rules); err != nil {
		return err
	}
	mode, _ := cards.ParseMode(c.Mode)
	if err := run.CheckRange("population", c.Population, mode.Players, MaxPopulation); err != nil {
		return err
	}
	if err := run.CheckRange("best", c.Parents, 2, c.Population); err != nil {
		return err
	}
	if c.Variant == Agents {
		return c.checkAgents()
	}
	return c.checkNets(mode)
}

func (c *Config) checkNets(mode cards.Mode) error {
	if len(c.Layers) == 0 {
		return fmt.Errorf("layers \"\": a net needs a hidden layer: try 50-25")
	}
	n, err := net.New(sizes(mode, c.Layers), net.Linear)
	if err != nil {
		return err
	}
	if genes := n.ParamCount() * c.Population; genes > maxGenes {
		return fmt.Errorf("population cannot be \"%d\": its nets have %d genes, more than %d: try fewer individuals or units",
			c.Population, genes, maxGenes)
	}
	if _, err := selectNamed("crossover", c.Crossovers, crossovers, func(o crossover) string { return o.name }); err != nil {
		return err
	}
	_, err = selectNamed("mutation", c.Mutations, mutations, func(o mutation) string { return o.name })
	return err
}

func (c *Config) checkAgents() error {
	n := maxTables(c.Population, c.Parents)
	if err := run.CheckRange("memory", c.Memory, (n*rl.MinMemory+1<<20-1)>>20, rl.MaxMiB); err != nil {
		return fmt.Errorf("%w, for %d tables", err, n)
	}
	if games := c.Population * c.Games; games > maxLearningGames {
		return fmt.Errorf("games cannot be \"%d\": all agents together play %d in a generation, more than %d: try fewer games or individuals",
			c.Games, games, maxLearningGames)
	}
	if c.Positions != 0 {
		return fmt.Errorf("positions cannot be \"%d\": agents learn from games: try variant %s", c.Positions, Nets)
	}
	if _, err := selectNamed("crossover", c.Crossovers, dictionaryCrossovers, func(o dictionaryCrossover) string { return o.name }); err != nil {
		return err
	}
	_, err := selectNamed("mutation", c.Mutations, []string{resetting}, func(name string) string { return name })
	return err
}

// selectNamed returns the elements of the list all that have a name in wanted. name is a function that returns the
// name of an element. kind says in errors what an element is. It is an error if wanted is empty or has an unknown
// name.
func selectNamed[T any](kind string, wanted []string, all []T, name func(T) string) (chosen []T, err error) {
	known := namesOf(all, name)
	for _, want := range wanted {
		i := slices.Index(known, want)
		if i < 0 {
			return nil, fmt.Errorf("%s %q does not exist: try some of %s", kind, want, strings.Join(known, ","))
		}
		chosen = append(chosen, all[i])
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("%s \"\": at least one is needed: try some of %s", kind, strings.Join(known, ","))
	}
	return chosen, nil
}

// CrossoverNames returns the names of all crossovers.
func CrossoverNames() []string {
	return namesOf(crossovers, func(c crossover) string { return c.name })
}

// MutationNames returns the names of all mutations of nets.
func MutationNames() []string { return namesOf(mutations, func(m mutation) string { return m.name }) }

func namesOf[T any](all []T, name func(T) string) (list []string) {
	for _, o := range all {
		list = append(list, name(o))
	}
	return list
}

// PolicyNames are the names of the five policies in R. Arjonilla's thesis, which set the probabilities of
// crossover and mutation. Two of them, by A. Hassanat and others (2019), change over time: ilm-dhc begins with
// little mutation and much crossover and ends with the opposite; dhm-ilc does the reverse.
var PolicyNames = []string{policyILM, policyDHM, policyHalf, policyTuned, policyCustom}

const (
	policyILM    = "ilm-dhc"
	policyDHM    = "dhm-ilc"
	policyHalf   = "half"
	policyTuned  = "tuned"
	policyCustom = "custom"
)

// The probabilities of the policy tuned. The study's program uses a lower one for crossover than its text states.
const (
	tunedCrossover   = 0.93
	tunedAsPublished = 0.90
	tunedMutation    = 0.03
)

// ratios returns the probabilities for a generation; the first generation is 0. crossover is the probability that
// two parents are crossed over instead of copied. mutation is the probability that a child mutates.
func (c *Config) ratios(generation int) (crossover, mutation float64) {
	done := float64(generation) / float64(max(1, c.Generations-1))
	switch c.Policy {
	case policyILM:
		return 1 - done, done
	case policyDHM:
		return done, 1 - done
	case policyHalf:
		return 0.5, 0.5
	case policyTuned:
		if c.hasDefect(defectTuned) {
			return tunedAsPublished, tunedMutation
		}
		return tunedCrossover, tunedMutation
	}
	return c.Crossover, c.Mutation
}
