//go:build !race || slowrace

package simulation

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/stats"
)

// TestGame checks that the simulated game has the variances of the real one in lab/experiments.md and the
// scores that the difference in Elo predicts.
func TestGame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const n = 200_000
	for _, diff := range []float64{0, 50, -200, 600} {
		var deals, games, square, gameSquare float64
		s := skill(diff)
		for range n {
			d, g := playDeal(r, s), playSingle(r, s)
			deals, games, square, gameSquare = deals+d, games+g, square+d*d, gameSquare+g*g
		}
		want := stats.Score(diff)
		if math.Abs(deals/n-want) > 0.003 || math.Abs(games/n-want) > 0.005 {
			t.Errorf("%v Elo: deals score %.4f and games %.4f, want %.4f", diff, deals/n, games/n, want)
		}
		if diff != 0 {
			continue
		}
		if v := square/n - deals/n*deals/n; math.Abs(v-0.094) > 0.002 {
			t.Errorf("a deal's variance is %.4f", v)
		}
		if v := gameSquare/n - games/n*games/n; math.Abs(v-0.226) > 0.002 {
			t.Errorf("a game's variance is %.4f", v)
		}
	}
}

// TestOursIsFaster checks, on a small ladder, that the ladder's method finds the order in a fraction of the
// matches of other methods and nearly as fast as the fit of all results.
func TestOursIsFaster(t *testing.T) {
	c := Config{Bots: 80, Deals: 10, Matches: 35, Runs: 3, Seed: 1}
	reaches := map[string]float64{}
	for _, name := range []string{"timba", "timba's Elo, random pairing", "Elo K=32 a match, random pairing", "Elo K=128 a match, random pairing", "Elo K=20 a game, random pairing"} {
		curves := kit.Get[[]Curve](t)(SimulateConvergence(context.Background(), c, method(t, name)))
		for _, curve := range curves {
			reaches[curve.Name] = curve.MatchesTo(0.98)
			t.Logf("%s: 0.98 after %.1f matches", curve.Name, curve.MatchesTo(0.98))
		}
	}
	ours := reaches["timba"]
	for name, factor := range map[string]float64{
		"timba's Elo, random pairing": 1.3, "Elo K=32 a match, random pairing": 3, "Elo K=128 a match, random pairing": 1.8, "Elo K=20 a game, random pairing": 1.8,
	} {
		if reaches[name] < factor*ours {
			t.Errorf("%s takes %.1f matches, timba %.1f", name, reaches[name], ours)
		}
	}
	if fit := reaches["timba, fit"]; ours > 1.5*fit {
		t.Errorf("timba takes %.1f matches, the fit %.1f", ours, fit)
	}
}

// TestNewcomers checks that a newcomer is placed after a few matches and does not shift the others.
func TestNewcomers(t *testing.T) {
	n, err := SimulateNewcomers(context.Background(), Config{Bots: 40, Deals: 10, Matches: 1, Runs: 2, Seed: 1}, method(t, "timba"))
	kit.Must(t, err)
	t.Logf("within 25 Elo after %v matches, shift %+.1f", n.MatchesWithin(25), n.Shift)
	if n.MatchesWithin(30) > 8 || math.Abs(n.Shift) > 5 || n.Median[newcomerMatches] > 25 {
		t.Errorf("median errors %.0f, shift %+.1f", n.Median, n.Shift)
	}
}

func TestReaches(t *testing.T) {
	curve := func(values ...float64) Curve {
		var c Curve
		for i, v := range values {
			c.Points = append(c.Points, Point{Matches: i + 1, Spearman: Band{Mean: v}})
		}
		return c
	}
	for _, c := range []struct {
		curve Curve
		want  float64
	}{
		{curve(0.5, 0.8, 1), 2.5}, {curve(0.95, 0.96), 1}, {curve(0.5, 0.6), math.Inf(1)}, {curve(0.95, 0.8, 0.9), 3}, {curve(1, 0.8), math.Inf(1)},
	} {
		if got := c.curve.MatchesTo(0.9); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v reaches 0.9 after %v, want %v", c.curve.Points, got, c.want)
		}
	}
}

func TestRanks(t *testing.T) {
	if diff := cmp.Diff([]float64{1, 3.5, 2, 3.5, 5}, ranks([]float64{-1, 4, 0, 4, 9})); diff != "" {
		t.Error(diff)
	}
}

// TestSurprise compares the mean and variance of a normal lead, given a win, a tie or a loss, with those of
// a random sample.
func TestSurprise(t *testing.T) {
	const lead, margin, n = 0.4, 0.3, 400_000
	r := rand.New(rand.NewPCG(3, 3))
	var count, sum, square [3]float64
	for range n {
		x := lead + r.NormFloat64()
		score := 1
		if x > margin {
			score = 2
		} else if x < -margin {
			score = 0
		}
		x -= lead
		count[score], sum[score], square[score] = count[score]+1, sum[score]+x, square[score]+x*x
	}
	for i, score := range []float64{0, 0.5, 1} {
		v, w := corrections(lead, margin, score)
		mean := sum[i] / count[i]
		if variance := square[i]/count[i] - mean*mean; math.Abs(v-mean) > 0.01 || math.Abs(1-w-variance) > 0.01 {
			t.Errorf("score %v: shift %.3f and variance %.3f, want %.3f and %.3f", score, v, 1-w, mean, variance)
		}
	}
}

// TestFitIsNearer checks that on typical ladders the fit is closer to the true strengths than Elo, in order
// and in bias, and that its intervals contain them.
func TestFitIsNearer(t *testing.T) {
	kit.Slow(t)
	populations := kit.Get[[]PopulationResult](t)(SimulatePopulations(context.Background(), Config{Runs: 1, Seed: 2}))
	for _, p := range populations {
		last := p.Points[len(p.Points)-1]
		t.Logf("%s: wrong %.3f and %.3f, distance %+.0f and %+.0f, error %.0f and %.0f, the intervals hold %.3f", p.Name, last.Elo.WrongOrder.Value, last.Fit.WrongOrder.Value,
			last.Elo.Bias.Value, last.Fit.Bias.Value, last.Elo.Error.Value, last.Fit.Error.Value, last.Coverage.Value)
		if last.Fit.Error.Value > 1.25*last.Elo.Error.Value || last.Fit.WrongOrder.Value > last.Elo.WrongOrder.Value+0.01 {
			t.Errorf("%s: Elo is nearer than the fit", p.Name)
		}
		if math.Abs(last.Fit.Bias.Value) > 30 || last.Coverage.Value < 0.8 {
			t.Errorf("%s: the fit is not what the ladder promises", p.Name)
		}
	}
}
