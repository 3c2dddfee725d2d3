package brisca

import (
	"testing"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja/barajatest"
)

// From any position, Playout is picking from the legal moves with the same draws.
func TestBriscaPlayout(t *testing.T) {
	r := rules.NewRand(1)
	for _, v := range everyVariant() {
		for range 50 {
			barajatest.Playout(t, v, newPair(v, shuffled(v, r)).Fast, r)
		}
	}
}
