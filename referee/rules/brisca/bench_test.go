package brisca

import (
	"testing"

	"github.com/timba-arena/timba/referee/rules/rulestest"
)

func BenchmarkGame(b *testing.B) {
	rulestest.BenchmarkGame(b,
		Variant{Rules{Players: 2}},
		Variant{Rules{Players: 2, Exchange: true, Last10: true, BlackHand: true, Hunt3: true}},
		Variant{Rules{Players: 3}},
		Variant{Rules{Players: 4}},
	)
}

func BenchmarkFromView(b *testing.B) {
	rulestest.BenchmarkFromView(b, Variant{Rules{Players: 2}}, 20)
}
