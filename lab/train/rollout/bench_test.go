package rollout

import (
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// BenchmarkGeneration measures a small generation.
func BenchmarkGeneration(b *testing.B) {
	for _, mode := range []string{"brisca2", "tute2"} {
		b.Run(mode, func(b *testing.B) {
			if _, err := cards.ParseMode(mode); err != nil {
				b.Fatal(err)
			}
			c := Default(mode)
			c.Games = 64
			t := kit.Get[*training](b)(newTraining(c, nil, 1))
			for b.Loop() {
				kit.Must(b, t.Step(b.Context()))
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(t.progress.Positions), "us/position")
		})
	}
}
