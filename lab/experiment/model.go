package experiment

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/lab/train"
	"github.com/timba-arena/timba/lab/train/dataset"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/lab/train/sl"
)

// Model describes an agent that is trained before it plays, or a data set, of which only the time is measured.
type Model struct {
	Name    string   // name in matches, or of the row in the tables
	Method  string   // name of a run.Method
	Mode    string   // name of a cards.Mode
	Defects string   // defects of the study to reproduce, separated by commas
	Workers int      // goroutines that train; 0 means one for each game played at the same time
	Seeds   []uint64 // one training for each seed; if nil, one with the seed of the games
	// Settings has settings of the training method and of the data set, by name of the flag of timba-lab
	// train. All others have their defaults.
	Settings map[string]string
}

// models is the list of models in an experiment's file.
type models []Model

func (l models) find(name string) *Model {
	i := slices.IndexFunc(l, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &l[i]
}

// UnmarshalTOML reads the models from the [[model]] tables of an experiment's file.
func (l *models) UnmarshalTOML(tables any) error {
	list, ok := tables.([]map[string]any)
	if !ok {
		return errors.New("a model is a table: write [[model]]")
	}
	for _, table := range list {
		for _, one := range expandLists(table) {
			m, err := readModel(one)
			if err != nil {
				return fmt.Errorf("model %q: %w", m.Name, err)
			}
			*l = append(*l, m)
		}
	}
	return nil
}

// templateKey matches a key in braces in the name of a model. The value of the key is a list.
var templateKey = regexp.MustCompile(`\{[a-z-]+\}`)

// expandLists replaces lists in the TOML table of a model. If the model's name contains a key in braces, such
// as {epsilon}, and the value of the key is a list, it returns a copy of the table for each value. For
// several lists it returns all combinations; the last list varies fastest.
func expandLists(table map[string]any) (list []map[string]any) {
	name, _ := table["name"].(string)
	word := templateKey.FindString(name)
	key := strings.Trim(word, "{}")
	values, ok := table[key].([]any)
	if !ok {
		return []map[string]any{table}
	}
	for _, value := range values {
		one := maps.Clone(table)
		one["name"], one[key] = strings.ReplaceAll(name, word, fmt.Sprint(value)), value
		list = append(list, expandLists(one)...)
	}
	return list
}

// readModel returns the model that a TOML table defines. Keys that are not fields of Model become Settings.
func readModel(table map[string]any) (m Model, err error) {
	m.Settings = map[string]string{}
	seeds, seeded := table["seeds"]
	table = maps.Clone(table)
	delete(table, "seeds")
	for key, value := range table {
		m.Settings[key] = fmt.Sprint(value)
	}
	take := func(key string) string {
		value := m.Settings[key]
		delete(m.Settings, key)
		return value
	}
	m.Name, m.Method, m.Mode, m.Defects = take("name"), take("method"), take("mode"), take("defects")
	if m.Seeds = readSeeds(seeds); seeded && m.Seeds == nil {
		return m, fmt.Errorf("seeds cannot be %v: try a list of different numbers from 0 on", seeds)
	}
	workers := run.Param{Name: "workers", Target: &m.Workers, Min: 1, Max: 256}
	if text := take(workers.Name); text != "" && workers.Set(text) != nil {
		return m, fmt.Errorf("workers cannot be %q: try %s", text, workers.AllowedText())
	}
	for key, value := range table {
		if _, ok := value.([]any); ok {
			return m, fmt.Errorf("%s is a list: the name needs {%s}", key, key)
		}
	}
	return m, nil
}

// readSeeds returns the numbers in a TOML list. If value is not a list of different numbers, none negative,
// it returns nil.
func readSeeds(value any) (seeds []uint64) {
	list, _ := value.([]any)
	for _, v := range list {
		n, ok := v.(int64)
		if !ok || n < 0 || slices.Contains(seeds, uint64(n)) {
			return nil
		}
		seeds = append(seeds, uint64(n))
	}
	return seeds
}

// seeds returns the seeds with which the model is trained. If the model lists none, this is only the argument
// games, the seed of the games.
func (m *Model) seeds(games uint64) []uint64 {
	if len(m.Seeds) == 0 {
		return []uint64{games}
	}
	return m.Seeds
}

func (m *Model) seedCount() int { return len(m.seeds(0)) }

// The methods with special handling: generating a data set, and supervised learning from one.
var (
	methodData = dataset.Method.Name
	methodSL   = sl.Method.Name
)

// completeModels checks the models that the experiment trains, but not their matches. If the experiment has no
// matches, it creates a row of the tables for each model.
func (e *Experiment) completeModels() error {
	for i := range e.Models {
		m := &e.Models[i]
		var err error
		var l *TrainedModel
		switch {
		case m.Name == "" || e.Models.find(m.Name) != m || e.Bots[m.Name] != "":
			err = errors.New("the name is missing or taken")
		case m.Method == methodData && e.Game != "":
			err = errors.New("a data set plays no match")
		case e.BothWays && m.Defects != "":
			err = errors.New("defects are for an experiment that does not play both ways")
		}
		for _, w := range e.ways() {
			if err == nil {
				l, err = m.plan(w, 1, 1)
			}
		}
		if err != nil {
			return fmt.Errorf("model %q: %w", m.Name, err)
		}
		if e.kind() == kindModels {
			e.rows = append(e.rows, row{name: m.Name, games: l.Size, seedCount: m.seedCount(), absent: absentParts(m.Method)})
		}
	}
	return nil
}

// absentParts returns the names of the table columns without a figure for models of the given training method. The
// columns are the times in parts and the test results in testMetrics. A data set has only the time of making it, and
// only supervised learning has all columns; other methods have only the time of training.
func absentParts(method string) []string {
	switch method {
	case methodData:
		return slices.Concat(parts[1:], testMetrics)
	case methodSL:
		return nil
	}
	return slices.Concat(parts[:2], testMetrics)
}

// way says with which known defects of the study's program the models of an experiment are trained, such as "as
// published" for all of them.
type way string

// The ways of training: with the defects that each model lists, with all known ones, and with none.
const (
	asNamed     way = ""
	asPublished way = "as published"
	mended      way = "mended"
)

func (e *Experiment) ways() []way {
	if e.BothWays {
		return []way{asPublished, mended}
	}
	return []way{asNamed}
}

// Names of settings that need special handling.
const (
	keyEach    = "each"
	keyBot     = "bot"
	keyDefects = "as-published"
)

// plan returns the model to be trained with the given seed, and with the defects that w selects. The amount of
// training is that of the study multiplied by scale, but at least 1.
func (m *Model) plan(w way, scale float64, seed uint64) (*TrainedModel, error) {
	method, err := train.Find(m.Method)
	if err != nil {
		return nil, err
	}
	l := &TrainedModel{
		Name: m.Name, Way: w, Method: m.Method, Mode: m.Mode, Seed: seed, Defects: []string{}, hasSeeds: len(m.Seeds) > 0,
		method: method, settings: method.Settings(), workers: m.Workers,
	}
	given, internal := maps.Clone(m.Settings), map[string]string{"mode": m.Mode, "seed": strconv.FormatUint(seed, 10)}
	if m.Method == methodSL {
		data := Model{Name: m.Name, Method: methodData, Mode: m.Mode, Workers: m.Workers, Settings: map[string]string{}}
		for _, key := range []string{keyEach, keyBot} {
			if value, ok := given[key]; ok {
				data.Settings[key] = value
				delete(given, key)
			}
		}
		if l.data, err = data.plan(asNamed, scale, seed); err != nil {
			return nil, err
		}
		l.Size, l.StudySize, l.Unit = l.data.Size, l.data.StudySize, l.data.Unit
	}
	switch {
	case m.Defects != "" && method.Defects == nil:
		return nil, fmt.Errorf("defects are not for method %s", m.Method)
	case w == asPublished:
		internal[keyDefects] = run.AllDefects
	case m.Defects != "":
		internal[keyDefects] = m.Defects
	}
	return l, l.applySettings(given, internal, scale)
}

// applySettings sets the settings of the training. given has the settings in the experiment's file, and internal has
// settings that must not be in the file, both by name of the flag of timba-lab train. All others get their defaults,
// and the amount of training is multiplied by scale.
func (l *TrainedModel) applySettings(given, internal map[string]string, scale float64) error {
	var known, named []string
	for _, param := range l.settings.Params() {
		value, ok := internal[param.Name]
		if !ok && !param.FlagOnly {
			known = append(known, param.Name)
			value, ok = given[param.Name]
		}
		if ok && param.Set(value) != nil {
			return fmt.Errorf("%s cannot be %q: try %s", param.Name, value, param.AllowedText())
		}
		if param.Scaled {
			all := param.Target.(*int)
			l.StudySize, l.Unit = *all, l.method.Unit
			*all = max(1, int(math.Round(float64(*all)*scale)))
			l.Size = *all
		}
		if ok || param.Scaled {
			named = append(named, param.Name)
		}
	}
	for name := range given {
		if !slices.Contains(known, name) {
			return fmt.Errorf("%s is not for method %s: try %s", name, l.Method, strings.Join(known, ", "))
		}
	}
	if c, ok := l.settings.(*sl.Config); ok {
		c.ExpectData(l.data.settings.(*dataset.Config))
		l.Extra = fmt.Sprintf(", %d epochs", c.Epochs)
	}
	if err := l.settings.Complete(func(name string) bool { return slices.Contains(named, name) }); err != nil {
		return err
	}
	if c, ok := l.settings.(*dataset.Config); ok {
		combinations := c.Games() / c.GamesPerRules
		l.Size, l.StudySize = combinations*l.Size, combinations*l.StudySize
	}
	for _, param := range l.settings.Params() {
		if param.Name == keyDefects {
			l.Defects = append(l.Defects, *param.Target.(*[]string)...)
		}
	}
	return nil
}
