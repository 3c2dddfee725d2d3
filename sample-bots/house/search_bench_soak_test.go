//go:build soak

package house

import (
	"testing"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/tebes"
	"github.com/timba-arena/timba/sample-bots/search"
	"github.com/timba-arena/timba/sample-bots/search/alphabeta"
)

// tenGames returns every sixth position of ten fixed games of Tebes, in which both sides search to depth 2.
func tenGames() (list []*tebesPosition) {
	s := alphabeta.New[tebesPosition](alphabeta.Options{})
	for game := range uint64(10) {
		r := rules.NewRand(game)
		var p tebesPosition
		p.state.Deal(tebes.Rules{Size: 6, Limit: 400}, nil)
		for p.Turn() != rules.Over {
			p.moveCount = 0
			p.eval = tebesEval{heuristic: 1, seat: p.Turn(), weights: championTebes, maps: newTebesMaps(&p.state, p.Turn())}
			if p.state.Ply()%6 == 0 {
				list = append(list, &tebesPosition{state: p.state, eval: p.eval})
			}
			p.state.Apply(s.Search(&p, 2, search.Budget{}, r).Move, nil)
		}
	}
	return list
}

// BenchmarkTebesDepth6 searches each position of ten games to depth 6.
func BenchmarkTebesDepth6(b *testing.B) {
	b.Run("plain", func(b *testing.B) { benchmarkTebes(b, alphabeta.Options{}) })
	b.Run("table", func(b *testing.B) { benchmarkTebes(b, alphabeta.Options{Table: search.DefaultArena}) })
}

func benchmarkTebes(b *testing.B, o alphabeta.Options) {
	positions := tenGames()
	s := alphabeta.New[tebesPosition](o)
	r := rules.NewRand(1)
	nodes, used := uint64(0), cpuTime()
	b.ReportAllocs()
	for b.Loop() {
		for _, p := range positions {
			s.Forget()
			nodes += s.Search(p, 6, search.Budget{}, r).Nodes
		}
	}
	used = cpuTime() - used
	b.ReportMetric(float64(nodes)/float64(b.N), "nodes/op")
	b.ReportMetric(float64(nodes)/b.Elapsed().Seconds(), "nodes/s")
	b.ReportMetric(float64(nodes)/used.Seconds(), "nodes/cpu-s")
}
