package house

import (
	"testing"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/rules/tute"
	"github.com/timba-arena/timba/sample-bots/search"
	"github.com/timba-arena/timba/sample-bots/search/endgame"
	"github.com/timba-arena/timba/sample-bots/search/ismcts"
)

// openTute returns a position of Tute after random moves in which both players know all cards.
func openTute(options tute.Rules, r *rules.Rand) *tuteTree {
	for {
		stream := rules.FastStream(r)
		var x tuteTree
		x.Deal(options, &stream)
		for x.Turn() != rules.Over {
			if openHands(&x.Table) {
				return &x
			}
			legal := x.Legal(nil)
			x.Apply(legal[r.Below(len(legal))], nil)
		}
	}
}

// BenchmarkTuteEnding solves the last eight tricks of Tute.
func BenchmarkTuteEnding(b *testing.B) {
	for name, followonly := range map[string]bool{"standard": false, "followonly": true} {
		b.Run(name, func(b *testing.B) {
			r := rules.NewRand(41)
			s := endgame.New[tuteTree](16 << 20)
			nodes, maxNodes := uint64(0), uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				x := openTute(tute.Rules{TableRules: brisca.Rules{Players: 2}, FollowOnly: followonly}, r)
				found := s.Solve(x, search.Budget{}, r)
				nodes += found.Nodes
				maxNodes = max(maxNodes, found.Nodes)
			}
			b.ReportMetric(float64(nodes)/float64(b.N), "nodes/op")
			b.ReportMetric(float64(maxNodes), "nodes-most")
		})
	}
}

// BenchmarkCardsIteration measures an iteration of the champion's search near the beginning of a game.
func BenchmarkCardsIteration(b *testing.B) {
	r := rules.NewRand(42)
	stream := rules.FastStream(r)
	shared := &cardsShared{ending: newBriscaEnding()}
	for _, players := range []uint8{2, 3, 4} {
		options := brisca.Rules{Players: players}
		x := &briscaTree{shared: shared}
		x.Deal(options, &stream)
		b.Run("brisca-"+string('0'+players), func(b *testing.B) { benchmarkIteration(b, x) })
		y := &tuteTree{shared: shared}
		y.Deal(tute.Rules{TableRules: options}, &stream)
		b.Run("tute-"+string('0'+players), func(b *testing.B) { benchmarkIteration(b, y) })
	}
}

func benchmarkIteration[S any, G cardsState[S]](b *testing.B, g G) {
	s := ismcts.NewGuided[S, G](ismcts.Options{C: exploration, Arena: search.DefaultArena})
	r := rules.NewRand(43)
	s.Search(g, g.Turn(), search.Budget{Nodes: 100}, r)
	b.ReportAllocs()
	b.ResetTimer()
	s.Search(g, g.Turn(), search.Budget{Nodes: uint64(b.N)}, r)
}
