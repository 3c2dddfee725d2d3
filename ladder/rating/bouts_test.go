package rating

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// drawBouts returns matches of ten deals between teams drawn at random.
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

// A team of one is a bot: the same ratings as from pairs.
func TestBoutsOfOne(t *testing.T) {
	r := simRand(31)
	elos := drawElos(r, 12)
	bouts := drawBouts(r, elos, 1, 200)
	var pairs []Pair
	for _, b := range bouts {
		pairs = append(pairs, Pair{A: b.A[0], B: b.B[0], Deals: b.Deals, Score: b.Score})
	}
	for _, o := range []Options{{}, {Prior: 5}, {Anchor: &Anchor{Bot: 3, Elo: 1000}}} {
		fit, err := FitPairs(12, pairs, o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := FitBouts(12, bouts, o)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range got {
			near(t, "rating", e.Value, fit.Elo[i], 0.05)
		}
	}
}

// Ratings of members of teams are on the bots' own scale, and their intervals
// hold the truth as often as they say.
func TestBoutsCoverage(t *testing.T) {
	kit.Slow(t)
	const bots, runs = 16, 60
	for _, c := range []struct{ members, bouts int }{{2, 100}, {2, 400}, {3, 400}} {
		covered, ratio := 0, 0.0
		for run := range runs {
			r := simRand(uint64(100*c.bouts + run))
			elos := drawElos(r, bots)
			got, err := FitBouts(bots, drawBouts(r, elos, c.members, c.bouts), Options{})
			if err != nil {
				t.Fatal(err)
			}
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

// Two bots that always are partners cannot be told apart, and one that has not
// played is anywhere.
func TestBoutsUnbounded(t *testing.T) {
	bouts := []Bout{{A: []int{0, 1}, B: []int{2, 3}, Deals: 10, Score: 8}, {A: []int{2, 3}, B: []int{0, 1}, Deals: 10, Score: 4}}
	got, err := FitBouts(5, bouts, Options{Anchor: &Anchor{Bot: 0, Elo: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	if got[0] != (Estimate{1000, 1000, 1000}) {
		t.Errorf("the anchor is at %v", got[0])
	}
	near(t, "the anchor's partner", got[1].Value, 1000, 1)
	for i, e := range got[1:] {
		if !math.IsInf(e.High, 1) || math.IsNaN(e.Value) {
			t.Errorf("bot %d is at %v", i+1, e)
		}
	}
	if got, err := FitBouts(0, nil, Options{}); err != nil || len(got) != 0 {
		t.Errorf("no bots: %v, %v", got, err)
	}
}

func TestBoutsRefuse(t *testing.T) {
	for want, b := range map[string]Bout{
		"rating: bout 0: a team has no members":                                             {A: []int{1}, Deals: 1},
		"rating: bout 0: bot 4 is not one of the 4 bots: they are numbered from 0":          {A: []int{4}, B: []int{1}},
		"rating: bout 0: bot 1 has two seats":                                               {A: []int{1, 2}, B: []int{3, 1}},
		"rating: bout 0: deals cannot be -1: try 0 or more":                                 {A: []int{1}, B: []int{2}, Deals: -1},
		"rating: bout 0: score cannot be 3 in 2 deals: give the sum, from 0 to the deals":   {A: []int{1}, B: []int{2}, Deals: 2, Score: 3},
		"rating: bout 0: score cannot be NaN in 2 deals: give the sum, from 0 to the deals": {A: []int{1}, B: []int{2}, Deals: 2, Score: math.NaN()},
	} {
		if _, err := FitBouts(4, []Bout{b}, Options{}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
