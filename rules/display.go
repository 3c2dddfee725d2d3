package rules

import (
	"math"
	"strconv"
)

// Display is how a game is drawn. All drawing uses only it and the
// view of a seat, and does not depend on the name of a game. Without Cards and
// Board, the view is shown as text.
//
// Other keys of a view are shown if they exist: trump, stock, leader, points,
// bids, tricks, played, known, declared, sung, round, cards and dealer beside
// cards; phase, extra and bonus beside a board. SPEC.md defines them.
type Display struct {
	Title string `json:"title"` // name of the game for people
	Cards *Cards `json:"cards,omitempty"`
	Board *Board `json:"board,omitempty"`
}

// Cards is the table of a trick game. Hand and Trick are keys of the view; their values
// are cards joined by commas.
type Cards struct {
	Hand  string `json:"hand"`  // the cards in hand
	Trick string `json:"trick"` // the cards on the table, in the order played
	// Ranks is the order of the cards of a suit, the weakest first; nil if the cards are
	// not those of the Spanish pack.
	Ranks []int `json:"ranks,omitempty"`
}

// Board is a square board for two, with black and white pieces.
type Board struct {
	// Pieces is the key of the view that has a letter for each square, row by row
	// from the top left: b, w, or a dot for an empty one.
	Pieces string `json:"pieces"`
	// Colours is the key that has the colours of the squares, b and w, in the same
	// order. Where it is "" the pieces stand on points, joined by lines to all
	// neighbours.
	Colours string `json:"colours,omitempty"`
	// Sides is the colour of seat 0 and that of seat 1: "bw" or "wb".
	Sides string `json:"sides"`
	// Corners is which side has each corner as its goal: those of the top row, left and
	// right, and those of the bottom row. "" if corners are not goals.
	Corners string `json:"corners,omitempty"`
}

// Columns returns how many columns and rows a board has whose squares have these pieces.
func Columns(pieces string) int { return int(math.Sqrt(float64(len(pieces)))) }

// SquareName returns a square as people call it on a board with so many columns: a1 is the lower left one.
func SquareName(square, columns int) string {
	return string(rune('a'+square%columns)) + strconv.Itoa(columns-square/columns)
}

// ParseSquare returns the square with such a name, in small or capital letters; ok is false if the board has none.
func ParseSquare(name string, columns int) (square int, ok bool) {
	if len(name) < 2 {
		return 0, false
	}
	column := int(name[0]|0x20) - 'a'
	row, err := strconv.Atoi(name[1:])
	if err != nil || column < 0 || column >= columns || row < 1 || row > columns {
		return 0, false
	}
	return (columns-row)*columns + column, true
}
