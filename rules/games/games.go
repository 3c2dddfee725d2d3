// Package games is the registry of the games that timba plays.
package games

import (
	"fmt"
	"slices"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/rules/podrida"
	"github.com/timba-arena/timba/rules/tebes"
	"github.com/timba-arena/timba/rules/teeko"
	"github.com/timba-arena/timba/rules/tute"
)

// List is a list of games, in display order.
type List []*rules.Game

var all = List{brisca.Game, tute.Game, podrida.Game, tebes.Game, teeko.Game}

// All returns every game.
func All() List { return slices.Clone(all) }

// Add adds a game of another module. A program calls it first of all, before its commands. It panics if there is a
// game with the name already.
func Add(g *rules.Game) {
	if _, err := Find(g.Name); err == nil {
		panic(fmt.Sprintf("games: there is a game %q already: try another Name", g.Name))
	}
	all = append(all, g)
}

// Find returns the game with a name, among all games. The error lists the names.
func Find(name string) (*rules.Game, error) { return all.Find(name) }

// Find returns the game with a name. The error lists the names.
func (l List) Find(name string) (*rules.Game, error) {
	var names []string
	for _, g := range l {
		if g.Name == name {
			return g, nil
		}
		names = append(names, g.Name)
	}
	return nil, phrase.Errorf("game %q does not exist: try %s", name, strings.Join(names, ", "))
}
