package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
)

// settle finds a game and settles its options from "name=value" words. Where
// players is not among them and bots is not 0, it follows from their number.
func settle(game string, set []string, bots int) (rules.Variant, error) {
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
	return rules.Settle(g, given)
}

func hasPlayers(g rules.Game) bool {
	for _, o := range g.Options() {
		if o.Name == "players" {
			return true
		}
	}
	return false
}
