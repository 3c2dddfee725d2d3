//go:build soak

package house

import (
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// BenchmarkPodridaMCTS measures a move of @podrida-mcts with the study's settings, on average over ten games.
func BenchmarkPodridaMCTS(b *testing.B) { benchmarkPodrida(b, "podrida-mcts") }

func benchmarkPodrida(b *testing.B, spec string) {
	turns := podridaTurns(b)
	p := kit.Get[Player](b)(NewPlayer(spec))
	b.ReportAllocs()
	decisions, used := 0, cpuTime()
	for b.Loop() {
		for _, t := range turns {
			p.Answer(t)
			decisions++
		}
	}
	used = cpuTime() - used
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(decisions), "ms/decision")
	b.ReportMetric(used.Seconds()*1e3/float64(decisions), "cpu-ms/decision")
}

// BenchmarkPodridaChampion measures a move of the champion with a thousand iterations, on average over ten games.
func BenchmarkPodridaChampion(b *testing.B) { benchmarkPodrida(b, "champion:nodes=1000") }
