package simulation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Method is a way to choose the bots for the matches of a ladder and to rate them.
type Method struct {
	Name          string
	WithNewcomers bool // the report also shows how fast new bots are rated
	pair          pairing
	rate          rater
	withFit       bool // the report also shows maximum-likelihood ratings of the same matches
}

// Curve shows how well the ratings of a method agree with the true strengths, by the number of matches.
type Curve struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"`
}

// Point is a point of a curve: the values after each bot has played the number of matches in Matches.
type Point struct {
	Matches  int     `json:"matches"`
	Spearman Band    `json:"spearman"` // Spearman's rank correlation
	Kendall  Band    `json:"kendall"`  // Kendall's tau: the share of pairs in order minus the share out of order
	Error    float64 `json:"error"`    // root mean square error in Elo, after subtracting Bias
	Bias     float64 `json:"scale"`    // mean Elo minus mean true strength, with the anchor at its own Elo
}

// Band has the mean, the lowest and the highest value of some number over the runs of a simulation.
type Band struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// MatchesTo returns the number of matches of each bot after which the mean rank correlation stays at or above the
// value spearman. It interpolates between the points of the curve. If the last point is below spearman, it returns
// +Inf.
func (c Curve) MatchesTo(spearman float64) float64 {
	at := math.Inf(1)
	for i := len(c.Points) - 1; i >= 0; i-- {
		p := c.Points[i]
		if p.Spearman.Mean < spearman {
			if !math.IsInf(at, 1) {
				q := c.Points[i+1]
				part := (spearman - p.Spearman.Mean) / (q.Spearman.Mean - p.Spearman.Mean)
				at = float64(p.Matches) + part*float64(q.Matches-p.Matches)
			}
			return at
		}
		at = float64(p.Matches)
	}
	return at
}

// ladderMethod is the method by which the ladders of timba choose the bots for matches and rate them.
var ladderMethod = Method{Name: "timba", WithNewcomers: true, pair: pairByPool, rate: rateByOutcome, withFit: true}

// Methods returns the methods to simulate: first that of timba's ladders, then others to compare it with.
func Methods() []Method {
	methods := []Method{
		ladderMethod,
		{Name: "timba's Elo, random pairing", WithNewcomers: true, pair: pairAtRandom, rate: rateByOutcome, withFit: true},
		{Name: "TrueSkill a game, random pairing", WithNewcomers: true, pair: pairAtRandom, rate: rateByTrueSkill},
		{Name: "TrueSkill a game, timba's pairing", pair: pairByPool, rate: rateByTrueSkill},
	}
	for _, k := range []float64{20, 32, 64, 128, 256} {
		name := fmt.Sprintf("Elo K=%v a match, ", k)
		methods = append(methods,
			Method{Name: name + "random pairing", WithNewcomers: true, pair: pairAtRandom, rate: rateByMatch(k)},
			Method{Name: name + "timba's pairing", pair: pairByPool, rate: rateByMatch(k)})
	}
	for _, k := range []float64{4, 10, 20, 32} {
		methods = append(methods, Method{Name: fmt.Sprintf("Elo K=%v a game, random pairing", k), pair: pairAtRandom, rate: rateByGame(k)})
	}
	return methods
}

// SimulateConvergence simulates new ladders with method m. The first curve is for the Elo ratings. If the method
// also has maximum-likelihood ratings, a second curve is for them.
func SimulateConvergence(ctx context.Context, c Config, m Method) ([]Curve, error) {
	looks, fits := make([][]snapshot, c.Runs), make([][]snapshot, c.Runs)
	err := c.forEachRun(ctx, func(run int, truth, play *rand.Rand) error {
		w, err := newWorld(play, c.ladder(), drawStrengths(truth, c.Bots))
		if err == nil {
			looks[run], fits[run], err = c.sampleLadder(ctx, w, m)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	curves := []Curve{{Name: m.Name, Points: c.curvePoints(looks)}}
	if m.withFit {
		curves = append(curves, Curve{Name: m.Name + ", fit", Points: c.curvePoints(fits)})
	}
	return curves, nil
}

// snapshot has the values from which a Point is computed, for one simulated ladder.
type snapshot struct{ spearman, kendall, err, bias float64 }

// sampleLadder plays a simulated ladder by method m and compares the ratings with the true strengths at every
// checkpoint. looks has the comparisons for the Elo ratings, and fits those for the maximum-likelihood ratings. If
// m has no maximum-likelihood ratings, fits is nil.
func (c Config) sampleLadder(ctx context.Context, w *world, m Method) (looks, fits []snapshot, err error) {
	for _, at := range c.checkpoints() {
		for 2*w.matches < at*c.Bots {
			w.step(m)
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		looks = append(looks, snapshotOf(w.strengths, w.elos()))
		if m.withFit {
			fits = append(fits, snapshotOf(w.strengths, w.fit().Elo))
		}
	}
	return looks, fits, nil
}

func snapshotOf(truth, elos []float64) snapshot {
	l := snapshot{
		spearman: stat.Correlation(ranks(truth), ranks(elos), nil),
		kendall:  stat.Kendall(truth, elos, nil),
		bias:     stat.Mean(elos, nil) - stat.Mean(truth, nil),
	}
	if math.IsNaN(l.spearman) { // all ratings are equal, as before the first match
		l.spearman = 0
	}
	for i, x := range elos {
		d := x - truth[i] - l.bias
		l.err += d * d
	}
	l.err = math.Sqrt(l.err / float64(len(elos)))
	return l
}

// ranks returns the ranks of the values, counted from 1. Equal values get the mean of their ranks.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	out := make([]float64, len(values))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			out[order[k]] = float64(i+j+1) / 2
		}
		i = j
	}
	return out
}

func (c Config) curvePoints(runs [][]snapshot) []Point {
	var points []Point
	for i, at := range c.checkpoints() {
		p := Point{Matches: at}
		var spearman, kendall []float64
		for _, looks := range runs {
			l := looks[i]
			spearman, kendall = append(spearman, l.spearman), append(kendall, l.kendall)
			p.Error += l.err / float64(len(runs))
			p.Bias += l.bias / float64(len(runs))
		}
		p.Spearman, p.Kendall = band(spearman), band(kendall)
		points = append(points, p)
	}
	return points
}

func band(values []float64) Band {
	return Band{Mean: stat.Mean(values, nil), Low: slices.Min(values), High: slices.Max(values)}
}
