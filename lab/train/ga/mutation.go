package ga

import (
	"math"
	"slices"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
)

// mutation changes genes of an individual.
type mutation struct {
	name   string
	mutate func(v []float32, r *rules.Rand)
}

// mutatedShare is the most of the genes of a vector that a mutation changes, where that is more
// than leastMutated.
const (
	mutatedShare = 0.05
	minMutated   = 4
)

// The standard deviation of noise: a number between these, small and large ones equally likely.
const (
	minNoise = 0.03
	maxNoise = 0.1
)

// mutations are those of the study, which move genes and make no new ones, and noise, which is
// ours. Each works on the vectors of random layers, at least one.
var mutations = []mutation{
	{"swap", func(v []float32, r *rules.Rand) {
		n := randomInt(r, 1, max(1, maxMutated(v)))
		swapPairs(v, sample(len(v), n+n%2, r))
	}},
	{"partial-shuffle", func(v []float32, r *rules.Rand) {
		from, to := randomSegment(v, r)
		run.Shuffle(v[from:to], r)
	}},
	{"inversion", func(v []float32, r *rules.Rand) {
		from, to := randomSegment(v, r)
		slices.Reverse(v[from:to])
	}},
	{"displacement", func(v []float32, r *rules.Rand) {
		from, to := randomSegment(v, r)
		displace(v, from, to, r.Below(len(v)-(to-from)+1))
	}},
	{"displaced-inversion", func(v []float32, r *rules.Rand) {
		from, to := randomSegment(v, r)
		slices.Reverse(v[from:to])
		displace(v, from, to, r.Below(len(v)-(to-from)+1))
	}},
	{"noise", func(v []float32, r *rules.Rand) {
		spread := minNoise * math.Pow(maxNoise/minNoise, uniform(r))
		for i := range v {
			v[i] += float32(spread * normal(r))
		}
	}},
}

// studyMutations are the mutations of the study.
var studyMutations = []string{"swap", "partial-shuffle", "inversion", "displacement", "displaced-inversion"}

// inSomeLayers mutates the vectors of random layers.
func (m mutation) inSomeLayers(g Genome, r *rules.Rand) {
	for i, chosen := range randomSubset(g.layers(), r) {
		for k := perLayer * i; chosen && k < perLayer*(i+1); k++ {
			if len(g[k]) > 1 {
				m.mutate(g[k], r)
			}
		}
	}
}

// maxMutated returns the number of genes of a vector that may change.
func maxMutated(v []float32) int { return int(math.Round(mutatedShare * float64(len(v)))) }

// randomSegment draws the bounds of a part of v: from 2 genes to as many as may change.
func randomSegment(v []float32, r *rules.Rand) (from, to int) {
	n := min(randomInt(r, 2, max(minMutated, maxMutated(v))), len(v))
	from = r.Below(len(v) - n + 1)
	return from, from + n
}

// swapPairs exchanges the genes at the first two places, at the next two, and so on.
func swapPairs(v []float32, places []int) {
	for ; len(places) > 1; places = places[2:] {
		i, j := places[0], places[1]
		v[i], v[j] = v[j], v[i]
	}
}

// displace takes v[from:to] out of v and puts it before the place at of what is left.
func displace(v []float32, from, to, at int) {
	switch {
	case at < from:
		rotate(v[at:to], from-at)
	case at > from:
		rotate(v[from:at+to-from], to-from)
	}
}

// rotate moves the first n genes of v behind the others.
func rotate(v []float32, n int) {
	slices.Reverse(v[:n])
	slices.Reverse(v[n:])
	slices.Reverse(v)
}

// normal draws from the standard normal distribution (G. Box, M. Muller, 1958).
func normal(r *rules.Rand) float64 {
	return math.Sqrt(-2*math.Log(1-uniform(r))) * math.Cos(2*math.Pi*uniform(r))
}
