//go:build !race || slowrace

package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// drawBouts returns matches of ten deals between random teams.
func drawBouts(r *rand.Rand, elos []float64, members, bouts int) []Bout {
	out := make([]Bout, bouts)
	for k := range out {
		order := r.Perm(len(elos))
		b := Bout{A: order[:members], B: order[members : 2*members], Deals: 10}
		skill := cards.skill(b.lead(elos))
		for range 10 {
			b.Score += cards.deal(r, skill).Score
		}
		out[k] = b
	}
	return out
}

func drawElos(r *rand.Rand, bots int) []float64 {
	elos := make([]float64, bots)
	for i := range elos {
		elos[i] = 250 * r.NormFloat64()
	}
	return elos
}

// TestBoutsOfOne checks that teams of one bot have the same ratings as pairs.
func TestBoutsOfOne(t *testing.T) {
	r := simRand(31)
	elos := drawElos(r, 12)
	bouts := drawBouts(r, elos, 1, 200)
	var pairs []Pair
	for _, b := range bouts {
		pairs = append(pairs, Pair{A: b.A[0], B: b.B[0], Deals: b.Deals, Score: b.Score})
	}
	for _, anchor := range []*Anchor{nil, {Bot: 3, Elo: 1000}} {
		want, got := FitPairs(12, pairs, anchor), FitBouts(12, bouts, anchor)
		for i, elo := range got.Elo {
			near(t, "rating", elo, want.Elo[i], 0.05)
		}
	}
}

// TestBoutsCoverage checks that the ratings of team members are on the scale of bots, and that 95 % of the
// intervals contain the true rating.
func TestBoutsCoverage(t *testing.T) {
	kit.Slow(t)
	const bots, runs = 16, 60
	for _, c := range []struct{ members, bouts int }{{2, 100}, {2, 400}, {3, 400}} {
		covered, ratio := 0, 0.0
		for run := range runs {
			r := simRand(uint64(100*c.bouts + run))
			elos := drawElos(r, bots)
			got := kit.Get[[]Estimate](t)(FitBouts(bots, drawBouts(r, elos, c.members, c.bouts), nil).Intervals())
			mean := 0.0
			for _, elo := range elos {
				mean += elo / bots
			}
			var xy, xx float64
			for i, e := range got {
				truth := elos[i] - mean
				if e.within(truth) {
					covered++
				}
				xy += e.Value * truth
				xx += truth * truth
			}
			ratio += xy / xx / runs
		}
		rate := float64(covered) / (runs * bots)
		t.Logf("teams of %d, %d bouts: covered %.3f, scale %.3f", c.members, c.bouts, rate, ratio)
		near(t, "coverage", rate, 0.95, 0.035)
		near(t, "scale", ratio, 1, 0.03)
	}
}

// TestBoutsUnbounded checks that the intervals of two permanent partners, and of a bot without games, are
// unbounded.
func TestBoutsUnbounded(t *testing.T) {
	bouts := []Bout{{A: []int{0, 1}, B: []int{2, 3}, Deals: 10, Score: 8}, {A: []int{2, 3}, B: []int{0, 1}, Deals: 10, Score: 4}}
	got := kit.Get[[]Estimate](t)(FitBouts(5, bouts, &Anchor{Bot: 0, Elo: 1000}).Intervals())
	if got[0] != (Estimate{1000, 1000, 1000}) {
		t.Errorf("the anchor is at %v", got[0])
	}
	near(t, "the anchor's partner", got[1].Value, 1000, 1)
	for i, e := range got[1:] {
		if !math.IsInf(e.High, 1) || math.IsNaN(e.Value) {
			t.Errorf("bot %d is at %v", i+1, e)
		}
	}
}

// TestBoutsOfOneTwice checks bouts in which two members are the same bot, such as two versions of the anchor.
// It counts as often as it plays, and not at all if it is on both sides.
func TestBoutsOfOneTwice(t *testing.T) {
	bouts := []Bout{{A: []int{0, 0}, B: []int{1, 2}, Deals: 10, Score: 8}, {A: []int{0, 1}, B: []int{0, 2}, Deals: 10, Score: 6}}
	fit := FitBouts(3, bouts, &Anchor{})
	near(t, "the lead of the anchor", -(fit.Elo[1]+fit.Elo[2])/2, Elo(8.5/11), 60)
	if list, err := fit.Intervals(); err != nil || math.IsInf(list[1].High, 1) || fit.Elo[1] <= fit.Elo[2] {
		t.Errorf("%v, %v", list, err)
	}
}
