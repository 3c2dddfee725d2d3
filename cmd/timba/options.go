package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
)

// resolveGame returns a game with the options of "name=value" words. Unless they set players,
// it is the number of bots if that is more than 1.
func resolveGame(game string, set []string, bots int) (*rules.Variant, error) {
	g, err := games.Find(game)
	if err != nil {
		return nil, err
	}
	given := make(map[string]string)
	for _, word := range set {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return nil, fmt.Errorf("option %q: write name=value, as in players=2", word)
		}
		if old, twice := given[name]; twice && old != value {
			return nil, fmt.Errorf("option %s is set to %q and to %q: choose one", name, old, value)
		}
		given[name] = value
	}
	if _, ok := given["players"]; !ok && bots > 1 && hasPlayers(g) {
		given["players"] = strconv.Itoa(bots)
	}
	return g.Resolve(given)
}

// withOpening returns the variant with openings where its deals would all be the same and
// the option is not set.
func withOpening(v *rules.Variant, set []string) (*rules.Variant, error) {
	name := rules.OpeningOption.Name
	given := v.Settings.Map()
	if _, ok := given[name]; v.Chance || !ok || slices.ContainsFunc(set, func(word string) bool { return strings.HasPrefix(word, name+"=") }) {
		return v, nil
	}
	given[name] = strconv.Itoa(rules.DefaultOpening)
	return v.Game.Resolve(given)
}

func hasPlayers(g *rules.Game) bool {
	for _, o := range g.Options {
		if o.Name == "players" {
			return true
		}
	}
	return false
}
