// Package games is the registry of games: all that timba plays.
package games

import (
	"fmt"
	"strings"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/brisca"
	"github.com/timba-arena/timba/referee/rules/podrida"
	"github.com/timba-arena/timba/referee/rules/tebes"
	"github.com/timba-arena/timba/referee/rules/teeko"
	"github.com/timba-arena/timba/referee/rules/tute"
)

// All is every game, in the order in which they are shown.
func All() []rules.Game {
	return []rules.Game{brisca.Game{}, tute.Game{}, podrida.Game{}, tebes.Game{}, teeko.Game{}}
}

// Find is the game of a name. The error lists the names.
func Find(name string) (rules.Game, error) {
	var names []string
	for _, g := range All() {
		if g.Name() == name {
			return g, nil
		}
		names = append(names, g.Name())
	}
	return nil, fmt.Errorf("game %q does not exist: try %s", name, strings.Join(names, ", "))
}
