package stats

import (
	"math"
	"testing"
)

func TestNeeded(t *testing.T) {
	for _, c := range []struct {
		effect, variance, power float64
		want                    int
	}{
		{0.1, 0.25, 0.5, 97}, {0.1, 0.25, 0.8, 197}, {-0.1, 0.25, 0.8, 197}, {0.05, 0.05, 0.9, 211}, {1, 0, 0.8, 2},
	} {
		got, ok := Needed(c.effect, c.variance, c.power)
		if !ok || got != c.want {
			t.Errorf("%+v: %d, %v", c, got, ok)
		}
	}
	for _, c := range [][3]float64{{0, 1, 0.8}, {0, 0, 0.8}, {1e-12, 1, 0.8}} {
		if got, ok := Needed(c[0], c[1], c[2]); ok {
			t.Errorf("%v needs %d deals", c, got)
		}
	}
}

// worthOf plays deals and returns both rotations' scores of the first bot.
func worthOf(t *testing.T, g simGame, skill float64, deals int) Worth {
	t.Helper()
	r := simRand(21)
	games := make([][]float64, deals)
	for i := range games {
		luck := g.luck * r.NormFloat64()
		s1, _ := g.game(r, skill, luck)
		s2, _ := g.game(r, skill, -luck)
		games[i] = []float64{s1, s2}
	}
	return MeasureWorth(games)
}

func TestMeasureWorth(t *testing.T) {
	// Where luck decides, the rotations cancel it; without luck they are like
	// any two games.
	lucky, plain := worthOf(t, cards, 0.1, 20_000), worthOf(t, board, 0.1, 20_000)
	t.Logf("cards: a game %.4f, a deal %.4f, factor %.2f; board: %.4f, %.4f, %.2f",
		lucky.GameVariance, lucky.DealVariance, lucky.Factor(), plain.GameVariance, plain.DealVariance, plain.Factor())
	near(t, "factor without luck", plain.Factor(), 1, 0.03)
	if lucky.Factor() < 2 {
		t.Errorf("duplicates are worth a factor of %.2f where luck decides", lucky.Factor())
	}
	// A single game's variance has a closed form: E[x²] - E[x]², ties 1/4.
	p := cards.score(0.1)
	tie := cards.tieRate(0.1)
	near(t, "a game's variance", lucky.GameVariance, p-tie/4-p*p, 0.003)
	near(t, "mean", lucky.Mean.Value, p, 0.01)

	budget, ok := lucky.Budget(p-0.5, 0.8)
	near(t, "games without duplicates to with", float64(budget.SingleGames)/float64(budget.DuplicateGames), lucky.Factor(), 0.05)
	if !ok || budget.DuplicateGames != 2*budget.Deals {
		t.Errorf("%+v", budget)
	}
	// With the deals that the budget names, the effect shows as often as asked.
	r, found := simRand(22), 0
	const tests = 1000
	for range tests {
		if cards.tally(r, 0.1, budget.Deals).Summary().Score.Low > 0.5 {
			found++
		}
	}
	t.Logf("%d deals find the effect in %.3f", budget.Deals, float64(found)/tests)
	near(t, "power", float64(found)/tests, 0.8, 0.05)
}

func (g simGame) tieRate(skill float64) float64 {
	h := simGame{tie: g.tie, luck: g.luck, noise: g.noise}
	win := 0.5 * math.Erfc((h.tie-skill)/h.sd()/math.Sqrt2)
	loss := 0.5 * math.Erfc((h.tie+skill)/h.sd()/math.Sqrt2)
	return 1 - win - loss
}

func TestMeasureWorthEdges(t *testing.T) {
	if w := MeasureWorth([][]float64{{1, 0}, {0, 1}, {1, 0}}); w.DealVariance != 0 || !math.IsInf(w.Factor(), 1) {
		t.Errorf("luck alone: %+v, factor %v", w, w.Factor())
	}
	if w := MeasureWorth([][]float64{{1, 1}, {1, 1}}); w.Factor() != 1 {
		t.Errorf("no variance at all: %+v", w)
	}
}
