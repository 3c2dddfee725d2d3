package experiment

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
	"github.com/timba-arena/timba/sample-bots/house"
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

// sides returns what the columns of a table can be of.
func (e *Experiment) sides() []string {
	names := slices.Sorted(maps.Keys(e.Bots))
	if len(e.Grid) > 0 {
		names = append(names, seated)
	}
	return names
}

// variant returns the game with its options.
func (e *Experiment) variant() (rules.Variant, error) {
	g, err := games.Find(e.Game)
	if err != nil {
		return nil, err
	}
	return rules.Resolve(g, e.Options)
}

func (e *Experiment) checkMatches() error {
	v, err := e.variant()
	if err != nil {
		return err
	}
	matches := e.matches()
	switch {
	case (len(e.Grid) > 0) == (len(e.Matches) > 0):
		return errors.New("it needs either a grid or matches")
	case len(e.Grid) > 0 && v.Players() != 2:
		return fmt.Errorf("a grid is for two seats, not for %d", v.Players())
	}
	used := map[string]bool{}
	for i, m := range matches {
		if len(m.Bots) != v.Players() {
			return fmt.Errorf("match %q has %d bots for %d seats", m.Name, len(m.Bots), v.Players())
		}
		if slices.ContainsFunc(matches[:i], func(o Match) bool { return o.Name == m.Name }) {
			return fmt.Errorf("match %q is there twice", m.Name)
		}
		for _, name := range m.Bots {
			if _, ok := e.Bots[name]; !ok {
				return fmt.Errorf("match %q: bot %q is not among the bots", m.Name, name)
			}
			used[name] = true
		}
		if m.Games < 0 {
			return fmt.Errorf("match %q: games cannot be %d: try 1 or more", m.Name, m.Games)
		}
	}
	for name, spec := range e.Bots {
		if !used[name] {
			return fmt.Errorf("bot %q plays no match", name)
		}
		if err := checkBot(spec, e.Game); err != nil {
			return err
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
		for _, o := range b.Options {
			if o.Name == "time" && o.DefaultText() != "0s" && thinking(spec) == 0 {
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

// scaleTime returns a spec whose bot has so many times the time for a move, at least a millisecond.
func scaleTime(spec string, by float64) string {
	d := thinking(spec)
	if d == 0 || by == 1 {
		return spec
	}
	name, options, _ := strings.Cut(spec, ":")
	pairs := strings.Split(options, ",")
	for i, pair := range pairs {
		if strings.HasPrefix(pair, timeKey) {
			pairs[i] = timeKey + max(time.Duration(float64(d)*by), time.Millisecond).String()
		}
	}
	return name + ":" + strings.Join(pairs, ",")
}

// Timed reports whether some bot is limited by time, so that games differ from run to run.
func (e *Experiment) Timed() bool {
	for _, spec := range e.Bots {
		if thinking(spec) > 0 {
			return true
		}
	}
	return false
}
