package brisca

import (
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
)

// Display returns the table of a trick game.
func (Game) Display() rules.Display {
	return rules.Display{Title: "Brisca", Cards: baraja.TrickTable()}
}
