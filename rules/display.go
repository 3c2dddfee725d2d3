package rules

import (
	"math"
	"strconv"
)

// Display says how a game is drawn. The drawing code uses only a Display and the view of a seat, never the
// name of a game. If Cards and Board are both nil, the view is shown as text.
//
// These other keys of a view are drawn if they exist: trump, stock, leader, points, bids, tricks, played,
// known, declared, sung, round, cards and dealer next to cards; phase, extra and bonus next to a board.
// SPEC.md defines them.
type Display struct {
	Title string `json:"title"` // name of the game for people
	Cards *Cards `json:"cards,omitempty"`
	Board *Board `json:"board,omitempty"`
}

// Cards describes the table of a trick game. Hand and Trick name keys of the view whose values are cards
// joined by commas.
type Cards struct {
	Hand  string `json:"hand"`  // key of the cards in hand
	Trick string `json:"trick"` // key of the cards on the table, in the order played
	// Ranks lists the ranks of a suit from the weakest to the strongest. It is nil if the game does not use
	// the Spanish pack.
	Ranks []int `json:"ranks,omitempty"`
}

// Board describes a square board for two, with black and white pieces.
type Board struct {
	// Pieces names the key of the view with one letter for each square, row by row from the top left: b, w,
	// or a dot for an empty square.
	Pieces string `json:"pieces"`
	// Colours names the key with the colors of the squares, b and w, in the same order. If it is "", pieces
	// stand on points that lines join to all neighboring points.
	Colours string `json:"colours,omitempty"`
	// Sides has the color of seat 0, then that of seat 1: "bw" or "wb".
	Sides string `json:"sides"`
	// Corners has the color of the side whose goal each corner is, such as "wwbb" for top left, top right,
	// bottom left and bottom right. It is "" if corners are not goals.
	Corners string `json:"corners,omitempty"`
}

// Columns returns the number of columns of a square board, given its pieces. The number of rows is the same.
func Columns(pieces string) int { return int(math.Sqrt(float64(len(pieces)))) }

// SquareName returns the name of a square for people, such as "a1" for the lower left one. Squares are
// numbered from the top left, row by row.
func SquareName(square, columns int) string {
	return string(rune('a'+square%columns)) + strconv.Itoa(columns-square/columns)
}

// ParseSquare returns the square with a name as SquareName returns it; the letter may be a capital. ok is
// false if the board has no such square.
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
