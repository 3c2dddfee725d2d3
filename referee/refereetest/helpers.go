package refereetest

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/timba-arena/timba"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
)

// Variant returns a game with options from "key=value key=value".
func Variant(t testing.TB, game, options string) *rules.Variant {
	t.Helper()
	g, err := games.Find(game)
	if err != nil {
		t.Fatal(err)
	}
	v, err := g.Resolve(protocol.Pairs(options).Map())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Specified returns the games that SPEC.md has a section on. The project promises their rules, and tests demand
// more of them than of a game that somebody adds for themselves.
func Specified(t testing.TB) (list []*rules.Game) {
	t.Helper()
	spec := string(kit.Get[[]byte](t)(fs.ReadFile(timba.Documents, "SPEC.md")))
	for _, g := range games.All() {
		if strings.Contains(spec, "\n## "+g.Display.Title+"\n") {
			list = append(list, g)
		}
	}
	return list
}

// Alone returns a variant of which only the seats matter: each plays for itself.
func Alone(players int) *rules.Variant { return &rules.Variant{Players: players, Sides: players} }
