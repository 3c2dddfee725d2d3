package rules

import (
	"math"
	"strconv"
)

// Display describes how the position of a game is drawn. The drawing code knows nothing else of the game. Its input
// is a view: a text "key=value key=value" with everything that one seat may know. If Cards and Board are both nil,
// the view itself is shown as text.
//
// These other keys of a view are drawn if they exist: trump, stock, leader, points, bids, tricks, played, known,
// declared, sung, round, cards and dealer next to cards; phase, extra and bonus next to a board. SPEC.md defines
// them.
type Display struct {
	Title string `json:"title"` // name of the game for people
	Cards *Cards `json:"cards,omitempty"`
	Board *Board `json:"board,omitempty"`
}

// Cards describes how the cards of a trick-taking game are drawn. Hand and Trick are keys of a view, the text
// "key=value key=value" that a seat gets. The values of these keys are cards joined by commas.
type Cards struct {
	Hand  string `json:"hand"`  // key of the cards in hand
	Trick string `json:"trick"` // key of the cards on the table, in the order played
	// Ranks lists the ranks of a suit from the weakest to the strongest. It is nil if the game does not use
	// the Spanish pack.
	Ranks []int `json:"ranks,omitempty"`
	// Rounds is the number of rounds of a game, or 0 if the game is not divided into rounds. It depends on the
	// options; Variant.Display sets it.
	Rounds int `json:"rounds,omitempty"`
}

// Display returns how the positions of v are drawn. It is a copy of Game.Display in which Cards.Rounds is set for the
// options of v.
func (v *Variant) Display() Display {
	d := v.Game.Display
	if r, ok := v.Rules.(interface{ Rounds() int }); ok && d.Cards != nil {
		cards := *d.Cards
		cards.Rounds = r.Rounds()
		d.Cards = &cards
	}
	return d
}

// Board describes how a square board with black and white pieces is drawn.
type Board struct {
	// Pieces is the key of the view (the "key=value" pairs that a seat gets) whose value shows the pieces. The value
	// has one letter for each square, row by row from the top left: b, w, or a dot for an empty square.
	Pieces string `json:"pieces"`
	// Colours is the key of the view whose value shows the colors of the squares: b or w for each, in the order of
	// Pieces. If Colours is "", the board is drawn as points, with lines to all neighboring points.
	Colours string `json:"colours,omitempty"`
	// Sides has the color of seat 0, then that of seat 1: "bw" or "wb".
	Sides string `json:"sides"`
	// Corners has a letter for each corner, in the order top left, top right, bottom left, bottom right. The letter is
	// the color of the side that wants to reach that corner, as in "wwbb". Corners is "" if corners are not goals.
	Corners string `json:"corners,omitempty"`
}

// Columns returns the number of columns of a square board, which is also the number of rows. pieces has one character
// for each square of the board.
func Columns(pieces string) int { return int(math.Sqrt(float64(len(pieces)))) }

// SquareName returns the name that people use for a square, such as "a1" for the lower left one. square is the number
// of the square, counted from 0 at the top left, row by row. columns is the width of the board.
func SquareName(square, columns int) string {
	return string(rune('a'+square%columns)) + strconv.Itoa(columns-square/columns)
}

// ParseSquare returns the number of the square with the given name; see SquareName. The letter may be a capital. ok
// is false if name is not a square of a square board with the given number of columns.
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
