package refereetest

import (
	"testing"

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

// Alone returns a variant of which only the seats matter: each plays for itself.
func Alone(players int) *rules.Variant { return &rules.Variant{Players: players, Sides: players} }
