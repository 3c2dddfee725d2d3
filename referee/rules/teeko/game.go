// Package teeko is Teeko on a board of 5x5 squares, for two seats.
//
// The squares are numbered row by row from the top left, 0 to 24. Seat 0 is
// black and moves first. Each side has four pieces. With start=random, as in the
// study of the game, they stand on a random board that nobody has won; with
// start=drop the sides first place their pieces in turn on empty squares. Then a
// move takes one of one's own pieces to an empty neighbouring square, in any of the
// eight directions.
//
// A side whose four pieces form a winning shape after its own move or placing
// wins: four next to each other in a line (across, down or diagonal), or a square
// of 2x2. With squares=advanced the corners of a square with sides along the
// board of any size, 2x2 to 5x5, win as well. The game is drawn when limit plies
// have been made, placings included; a win on that ply is a win. With limit=0
// it is drawn at rules.MaxPlies.
//
// The random start: the squares 0 to 24 in order are shuffled; the first four
// are black's, the next four white's. While either side has a winning shape by
// the rules of the game, the squares are put in order again and shuffled anew from the same
// stream.
//
// With opening=N the game begins after N random plies, placings or moves, which do
// not count as plies.
//
// A win is 1 point and a loss 0, a draw 0.5 each.
package teeko

import (
	"cmp"
	"embed"

	"github.com/timba-arena/timba/referee/rules"
)

const (
	name         = "teeko"
	maxLimit     = 1000
	defaultLimit = 200
)

// Game is Teeko.
var Game = &rules.Game{
	Name:  name,
	Texts: rulesFiles,
	Options: []rules.Option{
		{Name: "start", Values: []string{"random", "drop"}, Help: "the pieces stand on a random board, or are placed in turn"},
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

// Rules is the resolved options. It is comparable.
type Rules struct {
	Drop     bool   // the pieces are placed, else they stand at random
	Advanced bool   // squares of any size win
	Limit    uint16 // plies, 0 for none
	Opening  uint8  // random plies before the first turn
}

// lastPly returns the number of plies at which the game is over.
func (r Rules) lastPly() uint16 {
	return cmp.Or(r.Limit, rules.MaxPlies)
}

func newVariant(g *rules.Game, settings rules.Settings, r Rules) *rules.Variant {
	return &rules.Variant{
		Game: g, Settings: settings, Rules: r,
		Players: 2, Sides: 2, Prize: 1, Chance: !r.Drop || r.Opening > 0, MaxPlies: int(r.lastPly()),
		Deal:     rules.Dealer[State](r),
		FromView: func(o rules.Observation, rand *rules.Rand) (rules.State, error) { return fromView(r, o, rand) },
	}
}
