package experiment

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// between joins the names of the two bots of a grid to that of their row.
const between = " - "

// matches returns the matches, of the grid too.
func (e *Experiment) matches() (list []Match) {
	for _, row := range e.Grid {
		for _, column := range e.Grid {
			list = append(list, Match{Name: row + between + column, Bots: []string{row, column}, Fixed: true})
		}
	}
	for _, m := range e.Matches {
		if m.Name == "" {
			m.Name = strings.Join(slices.Compact(slices.Clone(m.Bots)), between)
		}
		list = append(list, m)
	}
	return list
}

// seated is a column of a grid: the bot in seat 0.
const seated = "seat 0"

// players returns the names of the bots and the models.
func (e *Experiment) players() []string {
	names := slices.Sorted(maps.Keys(e.Bots))
	for i := range e.Models {
		names = append(names, e.Models[i].Name)
	}
	return names
}

// sides returns what the columns of a table can be of.
func (e *Experiment) sides() []string {
	names := e.players()
	if len(e.Grid) > 0 {
		names = append(names, seated)
	}
	return names
}

// variant returns the game of a match, with its options over those of the experiment.
func (e *Experiment) variant(m *Match) (*rules.Variant, error) {
	g, err := games.Find(e.Game)
	if err != nil {
		return nil, err
	}
	options := maps.Clone(e.Options)
	if options == nil {
		options = map[string]string{}
	}
	maps.Copy(options, m.Options)
	return g.Resolve(options)
}

func (e *Experiment) checkMatches() error {
	if (len(e.Grid) > 0) == (len(e.Matches) > 0) {
		return errors.New("it needs either a grid or matches")
	}
	matches, used := e.matches(), map[string]bool{}
	for i := range matches {
		m := &matches[i]
		if err := e.checkMatch(m); err != nil {
			return err
		}
		if slices.ContainsFunc(matches[:i], func(o Match) bool { return o.Name == m.Name }) {
			return fmt.Errorf("match %q is there twice", m.Name)
		}
		for _, name := range m.Bots {
			used[name] = true
		}
	}
	for _, name := range e.players() {
		if !used[name] {
			return fmt.Errorf("bot %q plays no match", name)
		}
	}
	for _, spec := range e.Bots {
		if err := checkBot(spec, e.Game); err != nil {
			return err
		}
	}
	return nil
}

// mostPermuted is the most seats whose orders a match goes through.
const mostPermuted = 4

func (e *Experiment) checkMatch(m *Match) error {
	v, err := e.variant(m)
	if err != nil {
		return err
	}
	switch {
	case len(e.Grid) > 0 && v.Players != 2:
		return fmt.Errorf("a grid is for two seats, not for %d", v.Players)
	case len(m.Bots) != v.Players:
		return fmt.Errorf("match %q has %d bots for %d seats", m.Name, len(m.Bots), v.Players)
	case m.Games < 0:
		return fmt.Errorf("match %q: games cannot be %d: try 1 or more", m.Name, m.Games)
	case m.Permuted && (m.Fixed || len(m.Bots) > mostPermuted):
		return fmt.Errorf("match %q: permuted is for at most %d bots that are not fixed", m.Name, mostPermuted)
	}
	for _, name := range m.Bots {
		if _, ok := e.Bots[name]; ok {
			continue
		}
		model := e.model(name)
		if model == nil {
			return fmt.Errorf("match %q: bot %q is not among the bots", m.Name, name)
		}
		if mode, ok := cards.ModeOf(v); !ok || mode.String() != model.Mode {
			return fmt.Errorf("match %q: model %q is for %s, not for %s %s", m.Name, name, model.Mode, e.Game, v.Settings)
		}
	}
	return nil
}

// model returns the model of a name, nil for none.
func (e *Experiment) model(name string) *Model {
	for i := range e.Models {
		if e.Models[i].Name == name {
			return &e.Models[i]
		}
	}
	return nil
}

// checkBot returns an error unless a spec is a house bot for a game, whose time is written out.
func checkBot(spec, game string) error {
	given, ok := strings.CutPrefix(spec, "@")
	if !ok {
		return fmt.Errorf("bot %q is not a house bot: write @NAME", spec)
	}
	if _, err := house.Find(given); err != nil {
		return err
	}
	name, _, _ := strings.Cut(given, ":")
	for _, b := range house.List() {
		if b.Name != name {
			continue
		}
		if b.Games != nil && !slices.Contains(b.Games, game) {
			return fmt.Errorf("bot %q does not play %s", spec, game)
		}
		for _, o := range b.Options() {
			if o.Name == "time" && o.DefaultText() != "0s" && !strings.Contains(spec, timeKey) {
				return fmt.Errorf("bot %q does not say its time, which --time-scale changes: write time=%s", spec, o.DefaultText())
			}
		}
	}
	return nil
}

const timeKey = "time="

// thinking returns the time that a spec gives its bot for a move, 0 if none.
func thinking(spec string) time.Duration {
	_, options, _ := strings.Cut(spec, ":")
	for pair := range strings.SplitSeq(options, ",") {
		if value, ok := strings.CutPrefix(pair, timeKey); ok {
			d, _ := time.ParseDuration(value) // house.Find has checked it
			return d
		}
	}
	return 0
}

// budget returns a spec whose bot has so many times the time for a move, at least a millisecond;
// with a rate, so many nodes for each second of it, at least one, and no time.
func budget(spec string, by float64, rate int) string {
	d := thinking(spec)
	if d == 0 || by == 1 && rate == 0 {
		return spec
	}
	given := timeKey + max(time.Duration(float64(d)*by), time.Millisecond).String()
	if rate > 0 {
		given = fmt.Sprintf("%s0s,nodes=%d", timeKey, max(1, int(math.Round(d.Seconds()*by*float64(rate)))))
	}
	name, options, _ := strings.Cut(spec, ":")
	pairs := strings.Split(options, ",")
	for i, pair := range pairs {
		if strings.HasPrefix(pair, timeKey) {
			pairs[i] = given
		}
	}
	return name + ":" + strings.Join(pairs, ",")
}

// Timed reports whether some bot is limited by time, so that games differ from run to run unless
// Options has nodes for it.
func (e *Experiment) Timed() bool {
	for _, spec := range e.Bots {
		if thinking(spec) > 0 {
			return true
		}
	}
	return false
}
