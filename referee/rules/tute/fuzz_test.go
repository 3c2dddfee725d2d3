package tute

import (
	"testing"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja/barajatest"
	"github.com/timba-arena/timba/referee/rules/rulestest"
)

// FuzzPlay plays what bytes say against the naive implementation.
func FuzzPlay(f *testing.F) {
	variants := everyVariant()
	barajatest.FuzzPlay(f, func(t *testing.T, variant uint8, seed uint64, data []byte) {
		v := variants[int(variant)%len(variants)]
		newPair(v, shuffled(v, rules.NewRand(seed))).Fuzz(t, data)
	})
}

// FuzzConformance lets bytes choose options, seed and moves for the kit's checks.
func FuzzConformance(f *testing.F) {
	rulestest.Fuzz(f, Game{}, rulestest.Options{})
}
