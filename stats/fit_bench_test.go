package stats

import (
	"math/rand/v2"
	"testing"
)

// ladderDeals returns the history of a ladder: deals of two games between bots whose Elo is uniform over 1,600
// points. Opponents are at most reach places apart, so that a small reach gives a sparse, elongated graph.
func ladderDeals(seed uint64, bots, deals, reach int) ([]float64, []Deal) {
	r := rand.New(rand.NewPCG(seed, 0))
	elos := make([]float64, bots)
	for i := range elos {
		elos[i] = 1600 * (float64(i)/float64(bots-1) - 0.5)
	}
	duels := make([]Duel, deals)
	out := make([]Deal, deals)
	for k := range duels {
		a := r.IntN(bots)
		b := a
		for b == a {
			b = max(0, a-reach) + r.IntN(min(bots-1, a+reach)-max(0, a-reach)+1)
		}
		a, b = min(a, b), max(a, b)
		duels[k] = Duel{A: a, B: b, Games: 2, Score: coin(r, elos[a]-elos[b])/2 + coin(r, elos[a]-elos[b])/2}
		out[k] = duels[k : k+1]
	}
	return elos, out
}

func coin(r *rand.Rand, elo float64) float64 {
	if r.Float64() < Score(elo) {
		return 1
	}
	return 0
}

// BenchmarkFit1000 measures a fit of a whole ladder on one core: 1,000 versions with 1,000,000 games in
// 500,000 deals.
func BenchmarkFit1000(b *testing.B) {
	for _, c := range []struct {
		name  string
		reach int
	}{{"everyone", 1000}, {"neighbours", 10}} {
		_, deals := ladderDeals(1, 1000, 500_000, c.reach)
		pairs := Count(deals)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				FitPairs(1000, pairs, nil)
			}
		})
		fit := FitPairs(1000, pairs, nil)
		b.Run(c.name+"/intervals", func(b *testing.B) {
			for b.Loop() {
				if _, err := fit.Intervals(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBootstrap10 measures a tournament of ten bots with 1,000 deals and 1,000 resamples, with two bots
// in each deal and with all ten.
func BenchmarkBootstrap10(b *testing.B) {
	_, two := ladderDeals(1, 10, 1000, 10)
	ten := make([]Deal, 1000)
	for i := range ten {
		for k := range 45 {
			ten[i] = append(ten[i], pairDuel(k, two[(i*45+k)%1000][0].Score))
		}
	}
	for name, deals := range map[string][]Deal{"two": two, "ten": ten} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				bootstrap(10, deals, samples, 1)
			}
		})
	}
}

// pairDuel returns a duel of the k-th pair in the order 0-1, 0-2, 1-2, 0-3 and so on.
func pairDuel(k int, score float64) Duel {
	b := 1
	for k >= b {
		k -= b
		b++
	}
	return Duel{A: k, B: b, Games: 2, Score: score}
}
