package tebes

import "github.com/timba-arena/timba/referee/rules"

// Display returns a board with squares of two colours, and corners to be reached.
func (Game) Display() rules.Display {
	return rules.Display{Title: "Tebes", Board: &rules.Board{Pieces: "pieces", Colours: "colours", Sides: letters, Corners: "wwbb"}}
}
