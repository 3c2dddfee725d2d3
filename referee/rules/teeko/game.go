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
// A win is 1 point and a loss 0, a draw 0.5 each.
package teeko

import (
	"strconv"

	"github.com/timba-arena/timba/referee/rules"
)

// Game is Teeko; its zero value is ready for use.
type Game struct{}

// Name of the game in commands and in the protocol.
func (Game) Name() string { return "teeko" }

const (
	maxLimit     = 1000
	defaultLimit = 200
)

// Options are the start, the winning shapes and the longest game.
func (Game) Options() []rules.Option {
	return []rules.Option{
		{Name: "start", Values: []string{"random", "drop"}, Help: "the pieces stand on a random board, or are placed in turn"},
		{Name: "squares", Values: []string{"standard", "advanced"}, Help: "squares of 2x2 win, or the corners of a square of any size"},
		{Name: "limit", Max: maxLimit, Default: defaultLimit, Help: "plies after which the game is a draw, 0 for none"},
	}
}

// Rules is the game told to people.
func (Game) Rules() string {
	return `Teeko is played on a board of 5x5 squares. Each side has four pieces; seat 0 is
black and moves first.

The pieces stand on a random board that nobody has won. With start=drop the board
is empty and the sides first place their pieces in turn, one at a time, on any
empty squares. After that a move takes one of your pieces to an empty
neighbouring square: across, down or diagonally. Nothing is captured.

You win when your four pieces, after your own move or placing, stand next to each
other in a line (across, down or diagonal) or form a square of 2x2. With
squares=advanced the four corners of a larger square, up to the corners of the
board, win too.

At limit plies (200; 0 for none) the game is a draw. A win is 1 point, a draw a
half.
`
}

// Variant settles the options. Every combination of them can be played.
func (Game) Variant(o rules.Settings) (rules.Variant, error) {
	return Variant{Rules{
		Drop:     o.Get("start") == "drop",
		Advanced: o.Get("squares") == "advanced",
		Limit:    uint16(o.Int("limit")),
	}}, nil
}

// Rules is the settled options. It is comparable.
type Rules struct {
	Drop     bool   // the pieces are placed, else they stand at random
	Advanced bool   // squares of any size win
	Limit    uint16 // plies, 0 for none
}

// lastPly is the number of plies at which the game is over.
func (r Rules) lastPly() uint16 {
	if r.Limit == 0 {
		return rules.MaxPlies
	}
	return r.Limit
}

// Variant is Teeko with its options settled.
type Variant struct{ Rules Rules }

// Game is Teeko.
func (Variant) Game() rules.Game { return Game{} }

// Settings of the options, in their order.
func (v Variant) Settings() rules.Settings {
	start, squares := "random", "standard"
	if v.Rules.Drop {
		start = "drop"
	}
	if v.Rules.Advanced {
		squares = "advanced"
	}
	return rules.Settings{
		{Name: "start", Value: start},
		{Name: "squares", Value: squares},
		{Name: "limit", Value: strconv.Itoa(int(v.Rules.Limit))},
	}
}

// Players is two.
func (Variant) Players() int { return 2 }

// Side of a seat.
func (Variant) Side(seat int) int { return seat }

// Deal makes a first position.
func (v Variant) Deal(src *rules.Stream) rules.State {
	s := new(State)
	s.Deal(v.Rules, src)
	return s
}
