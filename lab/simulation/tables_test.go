//go:build !race || slowrace

package simulation

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/stats"
)

// slope returns the scale of the ratings relative to that of the true strengths.
func slope(truth, elos []float64) float64 {
	_, b := stat.LinearRegression(truth, elos, nil, false)
	return b
}

// TestTables checks that with four seats Elo finds the order and the scale, in teams with about four times
// the matches, and that the intervals of the fit contain the true strengths.
func TestTables(t *testing.T) {
	const bots, runs = 30, 6
	for _, c := range []struct {
		name     string
		ladder   ladder.Ladder
		matches  int // a bot
		spearman float64
	}{
		{"two teams", ladder.Ladder{Game: "brisca", Options: map[string]string{"players": "4", "teams": "yes"}, Deals: 5, Bots: 4}, 40, 0.965},
		{"each for itself", ladder.Ladder{Game: "podrida", Deals: 10, Bots: 4}, 10, 0.975},
	} {
		t.Run(c.name, func(t *testing.T) {
			var order, scale, fitScale, covered float64
			for run := range runs {
				r := rand.New(rand.NewPCG(uint64(run), 7))
				w := kit.Get[*world](t)(newWorld(r, c.ladder, drawStrengths(r, bots)))
				for range c.matches * bots / 4 {
					w.step(ladderMethod)
				}
				var fitted []float64
				for i, e := range kit.Get[[]stats.Estimate](t)(w.fit().Intervals()) {
					fitted = append(fitted, e.Value)
					if i > 0 && e.Low <= w.strengths[i] && w.strengths[i] <= e.High {
						covered += 1.0 / (bots - 1) / runs
					}
				}
				order += snapshotOf(w.strengths, w.elos()).spearman / runs
				scale += slope(w.strengths, w.elos()) / runs
				fitScale += slope(w.strengths, fitted) / runs
			}
			t.Logf("rank correlation %.4f, scale %.2f, of the fit %.2f, whose intervals hold %.3f", order, scale, fitScale, covered)
			if order < c.spearman || math.Abs(scale-1) > 0.2 || math.Abs(fitScale-1) > 0.05 || covered < 0.88 {
				t.Error("that is not what the ladder promises")
			}
		})
	}
}
