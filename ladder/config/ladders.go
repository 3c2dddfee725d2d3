package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/sample-bots/house"
)

// The form of a ladder and of its clock in a configuration file.
type (
	ladderFile struct {
		Name    string            `toml:"name"`
		Title   string            `toml:"title"`
		Game    string            `toml:"game"`
		Options map[string]string `toml:"options"`
		Clock   clockFile         `toml:"clock"`
		Deals   int               `toml:"deals"`
		Bots    *int              `toml:"bots"`
		House   []string          `toml:"house"`
	}
	clockFile struct {
		referee.ClockMS
		Margin  *int64 `toml:"margin"` // if Margin or Startup is nil, the value of referee.DefaultClock is used
		Startup *int64 `toml:"startup"`
	}
)

var ladderName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

const (
	maxLadderName = 40
	maxTitle      = 80
	maxDeals      = 1000
)

func (f ladderFile) resolve() (ladder.Ladder, error) {
	l := ladder.Ladder{Name: f.Name, Title: f.Title, Game: f.Game, Options: f.Options, Deals: f.Deals, House: f.House}
	if !ladderName.MatchString(f.Name) || len(f.Name) > maxLadderName {
		return l, fmt.Errorf("name cannot be %q: try lower-case letters, digits and single hyphens, at most %d characters", f.Name, maxLadderName)
	}
	if l.Title == "" {
		l.Title = l.Name
	}
	if !ladder.IsLine(l.Title, maxTitle) {
		return l, fmt.Errorf("title cannot be %q: try one line of at most %d bytes", l.Title, maxTitle)
	}
	v, err := l.Variant()
	if err != nil {
		return l, err
	}
	l.Options = v.Settings.Map()
	if l.Clock, err = f.Clock.resolve(); err != nil {
		return l, err
	}
	if l.Deals < 1 || l.Deals > maxDeals {
		return l, fmt.Errorf("deals cannot be %d: try 1 to %d", l.Deals, maxDeals)
	}
	l.Bots = v.Players
	if f.Bots != nil {
		l.Bots = *f.Bots
	}
	if _, err := l.Sides(); err != nil {
		return l, err
	}
	return l, resolveHouse(&l)
}

func (f clockFile) resolve() (referee.Clock, error) {
	unset := referee.DefaultClock.Milliseconds()
	f.ClockMS.Margin = *cmp.Or(f.Margin, &unset.Margin)
	f.ClockMS.Startup = *cmp.Or(f.Startup, &unset.Startup)
	c := f.ClockMS.Clock()
	return c, c.Check()
}

// resolveHouse checks the names of the house bots (part of timba) of a ladder. If the ladder names none, it sets
// the default ones.
func resolveHouse(l *ladder.Ladder) error {
	if l.House == nil {
		l.House = defaultHouseBots(l.Game)
		return nil
	}
	var bots []string
	for _, name := range l.House {
		spec, ok := strings.CutPrefix(name, "@")
		if !ok {
			return fmt.Errorf("house cannot have %q: house bots begin with @, such as %s", name, ladder.Anchor)
		}
		spec, err := house.CanonicalSpec(spec)
		if err != nil {
			return err
		}
		if !house.Plays(spec, l.Game) {
			return fmt.Errorf("house cannot have %q, which plays %s: try %s", name, strings.Join(house.Games(spec), ", "), strings.Join(defaultHouseBots(l.Game), ", "))
		}
		if slices.Contains(bots, "@"+spec) {
			return fmt.Errorf("house cannot have %q twice: name each once", "@"+spec)
		}
		bots = append(bots, "@"+spec)
	}
	if !slices.Contains(bots, ladder.Anchor) {
		return fmt.Errorf("house cannot be %q: add %s, the anchor of the ratings", l.House, ladder.Anchor)
	}
	l.House = bots
	return nil
}

func defaultHouseBots(game string) (names []string) {
	for _, spec := range house.LadderBots(game) {
		names = append(names, "@"+spec)
	}
	return names
}
