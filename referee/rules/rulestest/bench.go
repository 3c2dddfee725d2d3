package rulestest

import (
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
