// Package brisca implements the rules of Brisca, a trick game for 2 to 4 seats with 40 cards of the Spanish pack.
// The section "Brisca" of SPEC.md has its rules. State embeds baraja.Table, which does most of the work.
package brisca

import (
	"embed"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

const (
	name      = "brisca"
	handCards = 3 // dealt to each seat
)

// Game describes Brisca: its name, options, rules and display.
var Game = &rules.Game{
	Name:    name,
	Texts:   rulesFiles,
	Options: baraja.TableOptions(),
	Display: rules.Display{Title: "Brisca", Cards: baraja.TrickRanking.Display()},
	Variant: func(g *rules.Game, settings rules.Settings) (*rules.Variant, error) {
		r, err := baraja.ReadTableRules(settings)
		return newVariant(g, settings, r), err
	},
}

//go:embed rules.*.md
var rulesFiles embed.FS

// Rules has the values of the options of Brisca.
type Rules = baraja.TableRules

func newVariant(g *rules.Game, settings rules.Settings, r Rules) *rules.Variant {
	return &rules.Variant{
		Game: g, Settings: settings, Rules: r,
		Players: int(r.Players), Sides: r.Sides(), HasChance: true, UniqueDeals: true, MaxPlies: r.MaxPlies(),
		Deal:     rules.Dealer[State](r),
		FromView: func(o rules.Observation, rand *rules.Rand) (rules.State, error) { return fromView(r, o, rand) },
	}
}
