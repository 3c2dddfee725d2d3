package games_test

import (
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// BenchmarkGames measures random games with their deals, and what a search does before each random game:
// FromView and Redeal.
func BenchmarkGames(b *testing.B) {
	for _, row := range []struct {
		game, options string
		plies         int // made before a search
	}{
		{"brisca", "", 20},
		{"brisca", "exchange=yes last10=yes blackhand=yes hunt3=yes", 20},
		{"brisca", "players=3", 20},
		{"brisca", "players=4", 20},
		{"tute", "", 20},
		{"tute", "exchange=yes last10=yes blackhand=yes hunt3=yes", 20},
		{"tute", "players=4", 20},
		{"tute", "players=4 followonly=yes", 20},
		{"podrida", "players=4", 100},
		{"podrida", "players=4 deck=40", 100},
		{"tebes", "", 20},
		{"tebes", "size=4 board=random", 10},
		{"teeko", "", 20},
		{"teeko", "start=drop", 20},
	} {
		g := kit.Get[*rules.Game](b)(games.Find(row.game))
		v := kit.Get[*rules.Variant](b)(g.Resolve(protocol.Pairs(row.options).Map()))
		b.Run(row.game+" "+row.options, func(b *testing.B) { benchmarkVariant(b, v, row.plies) })
	}
}

func benchmarkVariant(b *testing.B, v *rules.Variant, plies int) {
	r := rules.NewRand(1)
	stream := rules.FastStream(r)
	var space [rules.MaxMoves]rules.Move
	step := func(s rules.State) {
		legal := s.Legal(space[:0])
		s.Apply(legal[r.Below(len(legal))], nil)
	}
	b.Run("game", func(b *testing.B) {
		b.ReportAllocs()
		moves := 0
		for b.Loop() {
			s := v.Deal(&stream)
			for s.Turn() != rules.Over {
				step(s)
			}
			moves += s.Ply()
		}
		b.ReportMetric(float64(moves)/b.Elapsed().Seconds(), "moves/s")
	})
	r = rules.NewRand(2)
	s := v.Deal(&stream)
	for s.Ply() < plies || s.Turn() == rules.Over {
		if s.Turn() == rules.Over { // a win at once has ended the game early
			s = v.Deal(&stream)
		}
		step(s)
	}
	o := rules.Observe(s, s.Turn())
	b.Run("view", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			kit.Get[rules.State](b)(v.FromView(o, r))
		}
	})
	if s, ok := s.(rules.Redealer); ok {
		b.Run("redeal", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Redeal(o.Seat, r)
			}
		})
	}
}
