package tute

import (
	"testing"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
	"github.com/timba-arena/timba/referee/rules/rulestest"
)

func BenchmarkGame(b *testing.B) {
	two, four := baraja.TableRules{Players: 2}, baraja.TableRules{Players: 4}
	rulestest.BenchmarkGame(b,
		Variant{Rules{TableRules: two}},
		Variant{Rules{TableRules: baraja.TableRules{Players: 2, Exchange: true, Last10: true, BlackHand: true, Hunt3: true}}},
		Variant{Rules{TableRules: four}},
		Variant{Rules{TableRules: four, FollowOnly: true}},
	)
}

// BenchmarkRedeal measures what a search does before each playout.
func BenchmarkRedeal(b *testing.B) {
	r := rules.NewRand(1)
	stream := rules.FastStream(r)
	var s State
	s.Deal(Rules{TableRules: baraja.TableRules{Players: 4}}, &stream)
	b.ReportAllocs()
	for b.Loop() {
		s.Redeal(0, r)
	}
}

func BenchmarkFromView(b *testing.B) {
	rulestest.BenchmarkFromView(b, Variant{Rules{TableRules: baraja.TableRules{Players: 4}}}, 20)
}
