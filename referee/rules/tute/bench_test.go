package tute

import (
	"testing"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
	"github.com/timba-arena/timba/referee/rules/rulestest"
)

// BenchmarkPlayout measures a deal and a playout, a game an operation.
func BenchmarkPlayout(b *testing.B) {
	for _, test := range []struct {
		name  string
		rules Rules
	}{
		{"two", Rules{TableRules: baraja.TableRules{Players: 2}}},
		{"two,every option", Rules{TableRules: baraja.TableRules{Players: 2, Exchange: true, Last10: true, BlackHand: true, Hunt3: true}}},
		{"three", Rules{TableRules: baraja.TableRules{Players: 3}}},
		{"four", Rules{TableRules: baraja.TableRules{Players: 4}}},
		{"four,followonly", Rules{TableRules: baraja.TableRules{Players: 4}, FollowOnly: true}},
	} {
		b.Run(test.name, func(b *testing.B) {
			r := rules.NewRand(1)
			stream := rules.FastStream(r)
			var s State
			b.ReportAllocs()
			for b.Loop() {
				s.Deal(test.rules, &stream)
				s.Playout(r)
			}
		})
	}
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
