package teeko

import (
	"testing"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/rulestest"
)

// Whole games at random, by the default options.
func BenchmarkPlayout(b *testing.B) {
	r := rules.NewRand(1)
	src := rules.FastStream(r)
	var s State
	moves := 0
	b.ReportAllocs()
	for b.Loop() {
		s.Deal(Rules{Limit: defaultLimit}, &src)
		s.Playout(r)
		moves += s.Ply()
	}
	b.ReportMetric(float64(moves)/b.Elapsed().Seconds(), "moves/s")
}

// The same from the empty board, move by move.
func BenchmarkLegalApply(b *testing.B) {
	r := rules.NewRand(1)
	src := rules.FastStream(r)
	var s State
	var memory [rules.MaxMoves]rules.Move
	moves := 0
	b.ReportAllocs()
	for b.Loop() {
		s.Deal(Rules{Drop: true, Limit: defaultLimit}, &src)
		for s.Turn() >= 0 {
			legal := s.Legal(memory[:0])
			s.Apply(legal[r.Below(len(legal))], nil)
		}
		moves += s.Ply()
	}
	b.ReportMetric(float64(moves)/b.Elapsed().Seconds(), "moves/s")
}

func BenchmarkFromView(b *testing.B) {
	rulestest.BenchmarkFromView(b, Variant{Rules{Limit: defaultLimit}}, 20)
}
