// Package teeko implements the rules of Teeko on a board of 5x5 squares, for two seats. The section "Teeko" of
// SPEC.md has its rules.
package teeko

import (
	"cmp"
	"embed"

	"github.com/timba-arena/timba/rules"
)

const (
	name         = "teeko"
	maxLimit     = 1000
	defaultLimit = 200
)

// Game describes Teeko: its name, options, rules and display.
var Game = &rules.Game{
	Name:  name,
	Texts: rulesFiles,
	Options: []rules.Option{
		{Name: "start", Values: []string{"random", "drop"}, TableValue: "drop", Help: "the pieces stand on a random board, or are placed in turn"},
		{Name: "squares", Values: []string{"standard", "advanced"}, Help: "squares of 2x2 win, or the corners of a square of any size"},
		{Name: "limit", Max: maxLimit, Default: defaultLimit, Help: "plies after which the game is a draw, 0 for none"},
		rules.OpeningOption,
	},
	Display: rules.Display{Title: "Teeko", Board: &rules.Board{Pieces: "board", Sides: letters}},
	Variant: func(g *rules.Game, settings rules.Settings) (*rules.Variant, error) {
		return newVariant(g, settings, Rules{
			Drop:     settings.Get("start") == "drop",
			Advanced: settings.Get("squares") == "advanced",
			Limit:    uint16(settings.Int("limit")),
			Opening:  uint8(settings.Int(rules.OpeningOption.Name)),
		}), nil
	},
}

//go:embed rules.*.md
var rulesFiles embed.FS

// Rules holds the values of the options of Teeko. Rules values can be compared with ==.
type Rules struct {
	Drop     bool   // the seats place the pieces in turn; otherwise they start at random
	Advanced bool   // the corners of a square of any size win
	Limit    uint16 // plies after which the game is a draw; 0 means no limit
	Opening  uint8  // number of random plies before the first turn
}

// lastPly returns the number of moves after which a game without a winner ends as a draw.
func (r Rules) lastPly() uint16 {
	return cmp.Or(r.Limit, rules.MaxPlies)
}

func newVariant(g *rules.Game, settings rules.Settings, r Rules) *rules.Variant {
	return &rules.Variant{
		Game: g, Settings: settings, Rules: r,
		Players: 2, Sides: 2, Prize: 1, HasChance: !r.Drop || r.Opening > 0, MaxPlies: int(r.lastPly()),
		Deal:     rules.Dealer[State](r),
		FromView: func(o rules.Observation, rand *rules.Rand) (rules.State, error) { return fromView(r, o, rand) },
	}
}
