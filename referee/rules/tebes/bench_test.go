package tebes

import (
	"testing"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/rulestest"
)

// Whole games at random, by the default options.
func BenchmarkPlayout(b *testing.B) {
	benchmarkPlayout(b, Rules{Size: 6, Limit: defaultLimit})
}

func BenchmarkPlayoutSmall(b *testing.B) {
	benchmarkPlayout(b, Rules{Size: 4, Random: true, Limit: defaultLimit})
}

func benchmarkPlayout(b *testing.B, variant Rules) {
	r := rules.NewRand(1)
	src := rules.FastStream(r)
	var s State
	moves := 0
	b.ReportAllocs()
	for b.Loop() {
		s.Deal(variant, &src)
		s.Playout(r)
		moves += s.Ply()
	}
	b.ReportMetric(float64(moves)/b.Elapsed().Seconds(), "moves/s")
}

func BenchmarkGame(b *testing.B) {
	rulestest.BenchmarkGame(b, Variant{Rules{Size: 6, Limit: defaultLimit}})
}

func BenchmarkPerft3(b *testing.B) {
	var s State
	s.Deal(Rules{Size: 6, Limit: defaultLimit}, nil)
	for b.Loop() {
		rules.Perft(b.Context(), &s, 3)
	}
}

func BenchmarkFromView(b *testing.B) {
	rulestest.BenchmarkFromView(b, Variant{Rules{Size: 6, Limit: defaultLimit}}, 20)
}
