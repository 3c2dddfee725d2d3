// Package tebes implements the rules of Tebes, a race and a battle on a full board of 6x6 or 4x4 squares, for two
// seats. The section "Tebes" of SPEC.md has its rules.
//
// On one of 184 random boards of 4x4, and one of 3,356 of 6x6, white has no first move, and black wins before the
// game begins. On these boards the squares of white's front row are all white and those of the row behind all
// black, so that no piece of the two rows can capture.
package tebes

import (
	"cmp"
	"embed"

	"github.com/timba-arena/timba/rules"
)

const (
	name         = "tebes"
	maxLimit     = 1000
	defaultLimit = 400
)

// Game describes Tebes: its name, options, rules and display.
var Game = &rules.Game{
	Name:  name,
	Texts: rulesFiles,
	Options: []rules.Option{
		{Name: "size", Values: []string{"6", "4"}, Help: "rows and columns of the board"},
		{Name: "board", Values: []string{"standard", "random"}, Help: "the colours of the squares: as in chess, or shuffled"},
		{Name: "cycles", Values: []string{"forbid", "allow"}, Help: "moves that bring back an earlier position of the game"},
		{Name: "limit", Max: maxLimit, Default: defaultLimit, Help: "plies after which the game is a draw, 0 for none"},
		rules.OpeningOption,
	},
	Display: rules.Display{Title: "Tebes", Board: &rules.Board{Pieces: "pieces", Colours: "colours", Sides: letters, Corners: "wwbb"}},
	Variant: func(g *rules.Game, settings rules.Settings) (*rules.Variant, error) {
		return newVariant(g, settings, Rules{
			Size:    uint8(settings.Int("size")),
			Random:  settings.Get("board") == "random",
			Cycles:  settings.Get("cycles") == "allow",
			Limit:   uint16(settings.Int("limit")),
			Opening: uint8(settings.Int(rules.OpeningOption.Name)),
		}), nil
	},
}

//go:embed rules.*.md
var rulesFiles embed.FS

// Rules holds the values of the options of Tebes. Rules values can be compared with ==.
type Rules struct {
	Size    uint8  // rows and columns, 6 or 4
	Random  bool   // the colors of the squares are shuffled
	Cycles  bool   // moves may bring back an earlier position; otherwise that is illegal
	Limit   uint16 // plies after which the game is a draw; 0 means no limit
	Opening uint8  // number of random plies before the first turn
}

// lastPly returns the number of moves after which a game without a winner ends as a draw.
func (r Rules) lastPly() uint16 {
	return cmp.Or(r.Limit, rules.MaxPlies)
}

func newVariant(g *rules.Game, settings rules.Settings, r Rules) *rules.Variant {
	return &rules.Variant{
		Game: g, Settings: settings, Rules: r,
		Players: 2, Sides: 2, Prize: 1, HasChance: r.Random || r.Opening > 0, MaxPlies: int(r.lastPly()),
		Deal:     rules.Dealer[State](r),
		FromView: func(o rules.Observation, rand *rules.Rand) (rules.State, error) { return fromView(r, o, rand) },
	}
}
