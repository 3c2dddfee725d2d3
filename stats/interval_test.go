//go:build !race || slowrace

package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// TestRowsAlone checks that separately computed rows give the intervals of the whole inverse, in groups with
// and without the anchor.
func TestRowsAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const bots = 60
	var pairs []Pair
	for range 200 {
		a, b := r.IntN(bots-10), r.IntN(bots-10)
		if a == b {
			continue
		}
		score := 10 * r.Float64()
		pairs = append(pairs, Pair{A: a, B: b, Deals: 10, Score: score, Squares: score * score / 10})
	}
	pairs = append(pairs, Pair{A: 55, B: 56, Deals: 4, Score: 3, Squares: 3}) // a group of its own
	for _, anchor := range []*Anchor{nil, {Bot: 3, Elo: 1000}} {
		f := FitPairs(bots, pairs, anchor)
		want := kit.Get[[]Estimate](t)(f.Intervals())
		for i, got := range f.intervals(f.rowSolver()) {
			same := func(a, b float64) bool { return a == b || math.Abs(a-b) < 0.01 }
			if w := want[i]; !same(got.Low, w.Low) || !same(got.High, w.High) || got.Value != w.Value {
				t.Errorf("bot %d with the anchor %+v: %+v, want %+v", i, anchor, got, w)
			}
		}
	}
}

// TestManyBots checks the intervals of more than maxDense bots.
func TestManyBots(t *testing.T) {
	kit.Slow(t)
	r := rand.New(rand.NewPCG(1, 1))
	const bots = maxDense + 1
	var pairs []Pair
	for a := range bots {
		for range 5 {
			if b := r.IntN(bots); b != a {
				score := 10 * r.Float64()
				pairs = append(pairs, Pair{A: a, B: b, Deals: 10, Score: score, Squares: score * score / 10})
			}
		}
	}
	f := FitPairs(bots, pairs, &Anchor{Bot: 0, Elo: 1000})
	list := kit.Get[[]Estimate](t)(f.Intervals())
	for i, e := range list {
		if half := e.PlusMinus(); i > 0 && (half < 5 || half > 300) {
			t.Errorf("bot %d has ± %.1f", i, half)
		}
	}
}
