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

// List is a list of games, in the order in which users see them.
type List []*rules.Game

var all = List{brisca.Game, tute.Game, podrida.Game, tebes.Game, teeko.Game}

// All returns all registered games, as a list that the caller may change.
func All() List { return slices.Clone(all) }

// Add registers a game that is defined in another module. A program must call it before it uses any other
// function of timba. It panics if a game of the same name is already registered.
func Add(g *rules.Game) {
	if _, err := Find(g.Name); err == nil {
		panic(fmt.Sprintf("games: there is a game %q already: try another Name", g.Name))
	}
	all = append(all, g)
}

// Find returns the registered game with the given name. If there is none, the error lists the names of all games.
func Find(name string) (*rules.Game, error) { return all.Find(name) }

// CanonicalClaim returns the canonical form of a claim: the name of a game that a bot plays, perhaps with options, as
// in "brisca players=2". The canonical form has one space between words, the options in the order of the game, and
// canonical values. If the game does not exist, known is false and the error lists the games. If an option or a value
// is wrong, known is true and the error names it.
func CanonicalClaim(claim string) (canonical string, known bool, err error) {
	name, options := rules.SplitClaim(claim)
	g, err := Find(name)
	if err != nil {
		return "", false, err
	}
	canonical, err = g.CanonicalClaim(options)
	return canonical, true, err
}

// Find returns the game in l with the given name. If there is none, the error lists the names of the games in l.
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
