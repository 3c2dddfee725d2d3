package experiment

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/timba-arena/timba/lab/train"
	"github.com/timba-arena/timba/lab/train/dataset"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/lab/train/sl"
)

// Model is an agent that learns before it plays, or a data set, which only takes time.
type Model struct {
	Name    string // in matches, or the row of the tables
	Method  string // of timba-lab train
	Mode    string // of cards.Modes
	Defects []string
	Workers int // goroutines that learn; 0 for as many as games are played at the same time
	// Settings are those of the method, and of the data set that it learns from, by the names of the
	// flags of timba-lab train. The others are as these flags have them.
	Settings map[string]string
}

// UnmarshalTOML takes the keys that are no fields for settings.
func (m *Model) UnmarshalTOML(table any) error {
	type fields Model // without this method
	var text strings.Builder
	if err := toml.NewEncoder(&text).Encode(table); err != nil {
		return err
	}
	meta, err := toml.Decode(text.String(), (*fields)(m))
	if err != nil {
		return err
	}
	m.Settings = map[string]string{}
	for _, key := range meta.Undecoded() {
		m.Settings[key.String()] = fmt.Sprint(table.(map[string]any)[key.String()])
	}
	return nil
}

// The methods that are not like the others: a data set, and the learning from one.
var (
	methodData = dataset.Method.Name
	methodSL   = sl.Method.Name
)

// plan is a training with all that decides its result.
type plan struct {
	method   *run.Method
	settings run.Settings
	data     *plan // the data set of sl
	mode     string
	workers  int
	size     int // games, episodes or generations
	study    int // as many in the study
	unit     string
	more     string // that the size does not say
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
	method, err := train.Find(m.Method)
	if err != nil {
		return nil, err
	}
	settings, internal := maps.Clone(m.Settings), map[string]string{"mode": m.Mode, "seed": strconv.FormatUint(seed, 10)}
	p := &plan{method: method, mode: m.Mode, workers: m.Workers}
	if m.Method == methodSL {
		p.data = &plan{method: &dataset.Method, mode: m.Mode, workers: m.Workers}
		own := map[string]string{}
		if each, ok := settings[keyEach]; ok {
			own[keyEach] = each
			delete(settings, keyEach)
		}
		if err := p.data.complete(own, internal, scale); err != nil {
			return nil, err
		}
		p.size, p.study, p.unit = p.data.size, p.data.study, p.data.unit
	}
	switch {
	case m.Defects != nil && method.Defects == nil:
		return nil, fmt.Errorf("defects are not for method %s", m.Method)
	case w == asPublished:
		internal[keyDefects] = run.AllDefects
	case m.Defects != nil:
		internal[keyDefects] = strings.Join(m.Defects, ",")
	}
	return p, p.complete(settings, internal, scale)
}

// Settings of more than one method.
const (
	keyEach    = "each"
	keyDefects = "as-published"
)

// complete makes the settings of the training from those of the model and others, by the names of
// the flags of timba-lab train.
func (p *plan) complete(given, internal map[string]string, scale float64) error {
	p.settings = p.method.Settings()
	params, named, known := p.settings.Params(), map[string]bool{}, []string{}
	for i := range params {
		param := &params[i]
		value, ok := internal[param.Name]
		if !ok && !param.Local {
			known = append(known, param.Name)
			value, ok = given[param.Name]
		}
		if ok && param.Set(value) != nil {
			return fmt.Errorf("%s cannot be %q: try %s", param.Name, value, param.Allowed())
		}
		if param.Scaled {
			all := param.To.(*int)
			p.study, p.unit = *all, p.method.Unit
			*all = max(1, int(math.Round(float64(*all)*scale)))
			p.size = *all
		}
		named[param.Name] = ok || param.Scaled
	}
	for name := range given {
		if !slices.Contains(known, name) {
			return fmt.Errorf("%s is not for method %s: try %s", name, p.method.Name, strings.Join(known, ", "))
		}
	}
	if c, ok := p.settings.(*sl.Config); ok {
		c.Expect(p.data.settings.(*dataset.Config))
		p.more = fmt.Sprintf(", %d epochs", c.Epochs)
	}
	if err := p.settings.Complete(func(name string) bool { return named[name] }); err != nil {
		return err
	}
	if c, ok := p.settings.(*dataset.Config); ok {
		rules := c.Games() / c.Each
		p.size, p.study = rules*p.size, rules*p.study
	}
	return nil
}

// defects returns those of the study that are kept.
func (p *plan) defects() []string {
	for _, param := range p.settings.Params() {
		if param.Name == keyDefects {
			return *param.To.(*[]string)
		}
	}
	return nil
}
