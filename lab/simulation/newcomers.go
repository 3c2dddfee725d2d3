package simulation

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Newcomers shows how fast the Elo of new bots on an established ladder approaches their true strength.
type Newcomers struct {
	Name       string    `json:"name"`
	Median     []float64 `json:"median"` // absolute error in Elo after 0, 1, 2... matches
	Quantile90 []float64 `json:"ninety"` // 0.9 quantile of the same error
	// Shift is the change in the mean Elo of the other bots while the newcomers play.
	Shift float64 `json:"shift"`
}

// MatchesWithin returns the number of matches after which the median error of a newcomer's Elo stays below elos. If
// it does not stay below elos, the result is +Inf.
func (n Newcomers) MatchesWithin(elos float64) float64 {
	at := math.Inf(1)
	for i := len(n.Median) - 1; i >= 0 && n.Median[i] < elos; i-- {
		at = float64(i)
	}
	return at
}

const (
	newcomersPerLadder = 50  // arriving one after the other
	newcomerMatches    = 30  // matches in which a newcomer is observed
	establishedAfter   = 60  // matches of each bot before the first arrival
	arrivalInterval    = 100 // matches of the ladder between two arrivals
)

// SimulateNewcomers simulates ladders with method m. New bots arrive after the others have played many
// matches. It returns the errors in the Elo of the new bots, by the number of their matches.
func SimulateNewcomers(ctx context.Context, c Config, m Method) (Newcomers, error) {
	out := Newcomers{Name: m.Name}
	runs := make([]arrivals, c.Runs)
	err := c.forEachRun(ctx, func(run int, truth, play *rand.Rand) error {
		w, err := newWorld(play, c.ladder(), drawStrengths(truth, c.Bots))
		if err != nil {
			return err
		}
		for 2*w.matches < establishedAfter*c.Bots {
			w.step(m)
		}
		runs[run] = simulateArrivals(w, m, truth)
		return ctx.Err()
	})
	if err != nil {
		return out, err
	}
	for n := range newcomerMatches + 1 {
		var all []float64
		for _, r := range runs {
			all = append(all, r.errs[n]...)
		}
		slices.Sort(all)
		out.Median = append(out.Median, stat.Quantile(0.5, stat.Empirical, all, nil))
		out.Quantile90 = append(out.Quantile90, stat.Quantile(0.9, stat.Empirical, all, nil))
	}
	for _, r := range runs {
		out.Shift += r.shift / float64(c.Runs)
	}
	return out, nil
}

// arrivals has the values of one simulated ladder from which Newcomers is computed.
type arrivals struct {
	errs  [][]float64 // absolute errors of all newcomers in Elo, by the number of their matches
	shift float64     // change in the mean Elo of the other bots
}

// simulateArrivals adds new bots to a ladder and plays matches by method m. The true strengths of the new bots are
// drawn from truth. Their errors are relative to the mean error of the other bots, because matches cannot show by
// how much all ratings are shifted.
func simulateArrivals(w *world, m Method, truth *rand.Rand) arrivals {
	others := len(w.strengths)
	shift := func() (sum float64) {
		for i, e := range w.entries[:others] {
			sum += (e.Elo - w.strengths[i]) / float64(others)
		}
		return sum
	}
	before := shift()
	res := arrivals{errs: make([][]float64, newcomerMatches+1)}
	note := func(i int) {
		n := w.entries[i].Matches
		if i < others || n > newcomerMatches {
			return
		}
		res.errs[n] = append(res.errs[n], math.Abs(w.entries[i].Elo-w.strengths[i]-shift()))
	}
	step := func() {
		for _, i := range w.step(m) {
			note(i)
		}
	}
	for range newcomersPerLadder {
		i := w.addBot(Mean + Deviation*truth.NormFloat64())
		note(i)
		for range arrivalInterval {
			step()
		}
	}
	for len(res.errs[newcomerMatches]) < newcomersPerLadder {
		step()
	}
	res.shift = shift() - before
	return res
}
