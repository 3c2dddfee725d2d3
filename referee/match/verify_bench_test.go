package match

import (
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules/games"
)

// BenchmarkVerify checks a whole game against its replay; BenchmarkTraffic rebuilds what one of its bots was sent.
func BenchmarkVerify(b *testing.B) {
	benchmarkReplays(b, func(r *referee.Replay) error {
		for _, err := range r.Verify(variant(b, r.Game, "").Game) {
			return err
		}
		return nil
	})
}

func BenchmarkTraffic(b *testing.B) {
	benchmarkReplays(b, func(r *referee.Replay) error {
		_, err := r.Traffic(variant(b, r.Game, "").Game, 0)
		return err
	})
}

func benchmarkReplays(b *testing.B, rebuild func(*referee.Replay) error) {
	for _, g := range games.All() {
		v := variant(b, g.Name, "")
		game := oneGame(b, &Match{Variant: v, Bots: named(v.Players), Clock: patient, start: starter{}.start})
		b.Run(g.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				kit.Must(b, rebuild(&game.Replay))
			}
			b.ReportMetric(float64(b.N*len(game.Moves))/b.Elapsed().Seconds(), "moves/s")
		})
	}
}
