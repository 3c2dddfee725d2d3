package rulestest

import (
	"strings"
	"testing"

	"github.com/timba-arena/timba/referee/rules"
)

// BenchmarkFromView measures what a search does before each playout: it makes
// positions from what the seat to move sees after some random moves.
func BenchmarkFromView(b *testing.B, v rules.Variant, plies int) {
	r := rules.NewRand(1)
	s := deal(v, 1)
	for range plies {
		legal := s.Legal(nil)
		s.Apply(legal[r.Below(len(legal))], nil)
	}
	o := rules.Observe(s, s.Turn())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.FromView(o, r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGame measures random games of some variants, with their deals.
func BenchmarkGame(b *testing.B, variants ...rules.Variant) {
	for _, v := range variants {
		b.Run(strings.ReplaceAll(v.Settings().String(), " ", ","), func(b *testing.B) {
			r := rules.NewRand(1)
			stream := rules.FastStream(r)
			var space [rules.MaxMoves]rules.Move
			moves := 0
			for b.Loop() {
				s := v.Deal(&stream)
				for s.Turn() != rules.Over {
					legal := s.Legal(space[:0])
					s.Apply(legal[r.Below(len(legal))], nil)
				}
				moves += s.Ply()
			}
			b.ReportMetric(float64(moves)/b.Elapsed().Seconds(), "moves/s")
		})
	}
}
