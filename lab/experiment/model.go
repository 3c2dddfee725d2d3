package experiment

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/timba-arena/timba/lab/train/dataset"
	"github.com/timba-arena/timba/lab/train/fit"
	"github.com/timba-arena/timba/lab/train/ga"
	"github.com/timba-arena/timba/lab/train/rl"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/lab/train/sl"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/features"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// Model is an agent that learns before it plays, or a data set, which only takes time. What it does
// not say is as timba-lab train has it.
type Model struct {
	Name    string // in matches, or the row of the tables
	Method  string // methodData, methodSL, methodRL or methodGA
	Mode    string // of cards.Modes
	Defects []string
	Workers int // goroutines that learn; 0 for as many as games are played at the same time

	Each     int // of data and sl: games of each combination of rules in the data set
	Variant  string
	Layers   string
	Encoding string
	Epochs   int

	Rules       string // of rl and ga: the optional rules of the games that they learn from
	Abstraction string
	Episodes    int
	Untried     string

	Generations int
	Population  int
	Games       int // of a pairing
}

// The methods, as timba-lab train names them.
const (
	methodData = "data"
	methodSL   = "sl"
	methodRL   = "rl"
	methodGA   = "ga"
)

var methods = []string{methodData, methodSL, methodRL, methodGA}

// versions are those of the trainers.
var versions = map[string]int{methodData: dataset.Version, methodSL: sl.Version, methodRL: rl.Version, methodGA: ga.Version}

// The study's sizes, where timba-lab train has no default of its own in a package.
const (
	studyEach   = 8000
	studyEpochs = 10
	studyLayers = "50-25"
	studyBatch  = 32
)

// defects returns those that a method can keep.
func defects(method string) []run.Defect {
	switch method {
	case methodSL:
		return sl.Defects
	case methodRL:
		return rl.Defects
	case methodGA:
		return ga.Defects
	}
	return nil
}

// plan is a training with all that decides its result.
type plan struct {
	method  string
	mode    cards.Mode
	config  any   // config.json of the run
	data    *plan // the data set of sl
	workers int
	defects []string
	size    int // games, episodes or generations
	study   int // as many in the study
	unit    string
	more    string // that the size does not say
}

// key is a key of a model, for some methods.
type key struct {
	name    string
	set     bool
	methods []string
}

// keys returns the keys that not all methods have.
func (m *Model) keys() []key {
	return []key{
		{"defects", m.Defects != nil, []string{methodSL, methodRL, methodGA}},
		{"each", m.Each != 0, []string{methodData, methodSL}},
		{"variant", m.Variant != "", []string{methodSL, methodRL}},
		{"layers", m.Layers != "", []string{methodSL, methodGA}},
		{"encoding", m.Encoding != "", []string{methodSL}},
		{"epochs", m.Epochs != 0, []string{methodSL}},
		{"rules", m.Rules != "", []string{methodRL, methodGA}},
		{"untried", m.Untried != "", []string{methodRL}},
		{"abstraction", m.Abstraction != "", []string{methodRL}},
		{"episodes", m.Episodes != 0, []string{methodRL}},
		{"generations", m.Generations != 0, []string{methodGA}},
		{"population", m.Population != 0, []string{methodGA}},
		{"games", m.Games != 0, []string{methodGA}},
	}
}

// checkModels checks the models without regard to the matches.
func (e *Experiment) checkModels() error {
	for i := range e.Models {
		m := &e.Models[i]
		if m.Name == "" || slices.ContainsFunc(e.Models[:i], func(o Model) bool { return o.Name == m.Name }) || e.Bots[m.Name] != "" {
			return fmt.Errorf("model %q: the name is missing or taken", m.Name)
		}
		if err := e.checkModel(m); err != nil {
			return fmt.Errorf("model %q: %w", m.Name, err)
		}
	}
	if e.Both && (len(e.Models) == 0 || e.Game == "") {
		return errors.New("both ways are for models that play: there are none")
	}
	return nil
}

func (e *Experiment) checkModel(m *Model) error {
	if !slices.Contains(methods, m.Method) {
		return fmt.Errorf("method %q does not exist: try %s", m.Method, strings.Join(methods, ", "))
	}
	for _, k := range m.keys() {
		if k.set && !slices.Contains(k.methods, m.Method) {
			return fmt.Errorf("%s is not for method %s: it is for %s", k.name, m.Method, strings.Join(k.methods, ", "))
		}
	}
	switch {
	case m.Method == methodData && e.Game != "":
		return errors.New("a data set plays no match")
	case e.Both && m.Defects != nil:
		return errors.New("defects are for an experiment that does not play both ways")
	case m.Workers < 0 || m.Workers > mostWorkers:
		return fmt.Errorf("workers cannot be %d: try 1 to %d, or leave it out", m.Workers, mostWorkers)
	}
	for _, w := range e.ways() {
		if _, err := e.plan(m, w, 1, 1); err != nil {
			return err
		}
	}
	return nil
}

const mostWorkers = 256

// way is with which defects the models of an experiment are trained.
type way string

// The ways: with the defects that each model names, or both with all and with none.
const (
	asNamed     way = ""
	asPublished way = "as published"
	mended      way = "mended"
)

// ways returns the ways in which the experiment is played.
func (e *Experiment) ways() []way {
	if e.Both {
		return []way{asPublished, mended}
	}
	return []way{asNamed}
}

// plan returns the training of a model in a way, with a scale of the study's size and a seed.
func (e *Experiment) plan(m *Model, w way, scale float64, seed uint64) (*plan, error) {
	mode, err := cards.ParseMode(m.Mode)
	if err != nil {
		return nil, err
	}
	list := strings.Join(m.Defects, ",")
	if w == asPublished {
		list = run.AllDefects
	}
	kept, err := run.ParseDefects(list, defects(m.Method))
	if err != nil {
		return nil, err
	}
	p := &plan{method: m.Method, mode: mode, workers: m.Workers, defects: kept}
	switch m.Method {
	case methodData:
		return p, p.dataset(m, scale, seed)
	case methodSL:
		return p, p.supervised(m, scale, seed)
	case methodRL:
		return p, p.monteCarlo(m, scale, seed)
	}
	return p, p.genetic(m, scale, seed)
}

// set returns a value, or what stands for one that is missing.
func set[T comparable](value, missing T) T {
	var none T
	if value == none {
		return missing
	}
	return value
}

// scaled sets the size of the training to a part of the study's.
func (p *plan) scaled(study int, scale float64, unit string) int {
	p.study, p.unit = study, unit
	p.size = max(1, int(math.Round(float64(study)*scale)))
	return p.size
}

func (p *plan) dataset(m *Model, scale float64, seed uint64) error {
	each := p.scaled(set(m.Each, studyEach), scale, "games")
	d := dataset.Plan{Mode: p.mode, Each: each, Seed: seed}
	p.config = d.Config()
	p.study, p.size = p.study<<p.mode.RuleCount(), d.Games()
	return d.Check()
}

// random returns the data set as it is made.
func (p *plan) random(workers int) *dataset.Plan {
	c := p.config.(dataset.Config)
	return &dataset.Plan{Mode: p.mode, Each: c.Each, Seed: c.Seed, Workers: workers}
}

func (p *plan) supervised(m *Model, scale float64, seed uint64) error {
	p.data = &plan{method: methodData, mode: p.mode, workers: p.workers}
	if err := p.data.dataset(m, scale, seed); err != nil {
		return err
	}
	p.size, p.study, p.unit = p.data.size, p.data.study, p.data.unit
	c := sl.Config{
		Train: methodSL, Mode: p.mode.String(), Variant: set(m.Variant, sl.PH), Encoding: set(m.Encoding, features.Scaled),
		Batch: studyBatch, Epochs: set(m.Epochs, studyEpochs), Rate: fit.DefaultAdam.Rate, Seed: seed, Defects: p.defects,
		Data: dataset.Header{Mode: p.mode.String(), Games: p.size, Seed: seed}, Games: p.size,
	}
	var err error
	if c.Hidden, err = sl.ParseHidden(set(m.Layers, studyLayers), p.mode, c.Encoding); err != nil {
		return err
	}
	p.config, p.more = c, fmt.Sprintf(", %d epochs", c.Epochs)
	return c.Check()
}

func (p *plan) monteCarlo(m *Model, scale float64, seed uint64) error {
	c := rl.Default(p.mode.String())
	c.Variant, c.Abstraction = set(m.Variant, policy.ManyStates), m.Abstraction
	c.Episodes = p.scaled(set(m.Episodes, c.Episodes), scale, "episodes")
	c.Rules, c.Untried = set(m.Rules, c.Rules), set(m.Untried, c.Untried)
	c.Seed, c.Defects = seed, p.defects
	p.config = c
	return c.Check()
}

func (p *plan) genetic(m *Model, scale float64, seed uint64) error {
	c := ga.Default(p.mode.String())
	c.Generations = p.scaled(set(m.Generations, c.Generations), scale, "generations")
	c.Population, c.Games, c.Rules = set(m.Population, c.Population), set(m.Games, c.Games), set(m.Rules, c.Rules)
	c.Seed, c.Defects = seed, p.defects
	var err error
	if c.Layers, err = sl.ParseHidden(set(m.Layers, studyLayers), p.mode, features.Genetic); err != nil {
		return err
	}
	p.config = c
	return c.Check()
}
