package rollout

import (
	"testing"

	"github.com/timba-arena/timba/sample-bots/learn"
)

// BenchmarkGeneration plays a small generation and learns from it.
func BenchmarkGeneration(b *testing.B) {
	for _, mode := range []string{"brisca2", "tute2"} {
		b.Run(mode, func(b *testing.B) {
			if _, err := learn.ParseMode(mode); err != nil {
				b.Fatal(err)
			}
			c := Default(mode)
			c.Games = 64
			t, err := newTraining(c, nil, 1)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := t.generation(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(t.at.Positions), "us/position")
		})
	}
}
