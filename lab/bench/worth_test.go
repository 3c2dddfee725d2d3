package bench

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/timba-arena/timba/stats"
)

func TestNeeded(t *testing.T) {
	for _, c := range []struct {
		effect, variance, power float64
		want                    int
	}{
		{0.1, 0.25, 0.5, 97}, {0.1, 0.25, 0.8, 197}, {-0.1, 0.25, 0.8, 197}, {0.05, 0.05, 0.9, 211}, {1, 0, 0.8, 2},
	} {
		got, ok := requiredDeals(c.effect, c.variance, c.power)
		if !ok || got != c.want {
			t.Errorf("%+v: %d, %v", c, got, ok)
		}
	}
	for _, c := range [][3]float64{{0, 1, 0.8}, {0, 0, 0.8}, {1e-12, 1, 0.8}} {
		if got, ok := requiredDeals(c[0], c[1], c[2]); ok {
			t.Errorf("%v needs %d deals", c, got)
		}
	}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v ± %v", what, got, want, tolerance)
	}
}

// noisy returns the points of a bot in both rotations of each deal. They are the sum of the skill, of the luck of
// the deal, which changes its sign with the rotation, and of noise with the variance 1.
func noisy(r *rand.Rand, skill, luck float64, deals int) [][]float64 {
	games := make([][]float64, deals)
	for i := range games {
		cards := luck * r.NormFloat64()
		games[i] = []float64{skill + cards + r.NormFloat64(), skill - cards + r.NormFloat64()}
	}
	return games
}

// TestWorth checks that the rotations of a deal cancel its luck, and that without luck they are like any two games.
func TestWorth(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 0))
	const skill, luck = 0.2, 2
	lucky, plain := newWorth(noisy(r, skill, luck, 20_000)), newWorth(noisy(r, skill, 0, 20_000))
	near(t, "factor without luck", plain.factor(), 1, 0.03)
	near(t, "factor", lucky.factor(), 1+luck*luck, 0.15)
	near(t, "a game's variance", lucky.gameVariance, 1+luck*luck, 0.15)
	near(t, "a deal's variance", lucky.dealVariance, 0.5, 0.02)
	near(t, "mean", lucky.mean.Value, skill, 0.02)

	b, ok := lucky.budget(skill, 0.8)
	near(t, "games without duplicates to with", float64(b.singleGames)/float64(b.duplicateGames), lucky.factor(), 0.05)
	if !ok || b.duplicateGames != 2*b.deals {
		t.Errorf("%+v", b)
	}
	// With the number of deals of the budget, the effect is found with the required probability.
	found := 0
	const tests = 1000
	for range tests {
		var means []float64
		for _, games := range noisy(r, skill, luck, b.deals) {
			means = append(means, (games[0]+games[1])/2)
		}
		if stats.Mean(means).Low > 0 {
			found++
		}
	}
	near(t, "power", float64(found)/tests, 0.8, 0.05)
}

func TestWorthEdges(t *testing.T) {
	if w := newWorth([][]float64{{1, 0}, {0, 1}, {1, 0}}); w.dealVariance != 0 || !math.IsInf(w.factor(), 1) {
		t.Errorf("luck alone: %+v, factor %v", w, w.factor())
	}
	if w := newWorth([][]float64{{1, 1}, {1, 1}}); w.factor() != 1 {
		t.Errorf("no variance at all: %+v", w)
	}
}
