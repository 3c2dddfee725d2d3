package podrida

import "github.com/timba-arena/timba/referee/rules"

// Display returns a table where the 1 is the best card, and the others follow their numbers.
func (Game) Display() rules.Display {
	return rules.Display{Title: "La Podrida", Cards: &rules.Cards{Hand: "hand", Trick: "trick", Ranks: []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1}}}
}
