package teeko

import "github.com/timba-arena/timba/referee/rules"

// Display returns a board of points.
func (Game) Display() rules.Display {
	return rules.Display{Title: "Teeko", Board: &rules.Board{Pieces: "board", Sides: letters}}
}
