// Package tebes is Tebes, a race and a battle on a full board of 6x6 or 4x4
// squares, for two seats.
//
// The squares are numbered row by row from the top left, 0 to size²-1. With
// board=standard a square is black when row + column is even, else white; with
// board=random the squares 0 to size²-1 in order are shuffled and the first half
// of them are black. Seat 0 is white and moves first: its pieces fill the bottom
// size/2 rows, black's the top size/2. Forward is up for white and down for black.
//
// A move takes one piece one or two squares straight forward, straight sideways
// or diagonally forward, never backward. Over two squares the square between must
// be empty or hold a piece of its own. The move ends on an empty square, or
// captures the opponent's piece there: from a square of its own colour a piece
// captures exactly two squares away, from a square of the other colour exactly one
// square away.
//
// The first time a player's piece arrives at one of the two corners of the
// opponent's back row, that player moves once more at once, with any piece: once
// a game for each player.
//
// After each move, in this order:
//   - a player holding both of the opponent's corners wins;
//   - a player left with fewer than two pieces loses;
//   - the extra move is granted, which decides who is to move;
//   - a player to move who has no legal move loses;
//   - at limit plies the game is a draw. With limit=0 it is drawn at rules.MaxPlies.
//
// On one random board in 184 of 4x4, and in 3,356 of 6x6, white has no first move:
// its front row is all white and the row behind all black, so that neither can
// capture. That game is over before it begins, and black has won.
//
// With cycles=forbid a move that brings back an earlier position of this game is
// not legal. The pieces, the side to move and the extra moves still to come make
// a position; whether the move to come is itself the extra one does not. What
// lies more than 1,024 sideways moves in a row back is forgotten, which matters
// with limit=0 alone.
//
// With opening=N the game begins after N random plies, which count neither as plies
// nor as earlier positions.
//
// A win is 1 point and a loss 0, a draw 0.5 each.
package tebes

import (
	"cmp"
	"embed"

	"github.com/timba-arena/timba/referee/rules"
)

const (
	name         = "tebes"
	maxLimit     = 1000
	defaultLimit = 400
)

// Game is Tebes.
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

// Rules is the resolved options. It is comparable.
type Rules struct {
	Size    uint8  // 6 or 4
	Random  bool   // the colours are shuffled
	Cycles  bool   // an earlier position may come back
	Limit   uint16 // plies, 0 for none
	Opening uint8  // random plies before the first turn
}

// lastPly returns the number of plies at which the game is over.
func (r Rules) lastPly() uint16 {
	return cmp.Or(r.Limit, rules.MaxPlies)
}

func newVariant(g *rules.Game, settings rules.Settings, r Rules) *rules.Variant {
	return &rules.Variant{
		Game: g, Settings: settings, Rules: r,
		Players: 2, Sides: 2, Prize: 1, Chance: r.Random || r.Opening > 0, MaxPlies: int(r.lastPly()),
		Deal:     rules.Dealer[State](r),
		FromView: func(o rules.Observation, rand *rules.Rand) (rules.State, error) { return fromView(r, o, rand) },
	}
}
