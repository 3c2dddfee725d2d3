package ga

import (
	"math"
	"slices"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
)

// mutation is an operator that changes genes in a vector.
type mutation struct {
	name   string
	mutate func(v []float32, r *rules.Rand)
}

// A mutation (except noise) moves at most the share mutatedShare of the genes of a vector, but a segment of
// minMutated genes is always allowed.
const (
	mutatedShare = 0.05
	minMutated   = 4
)

// The standard deviation of noise is drawn at random between these values; its logarithm is uniformly distributed.
const (
	minNoise = 0.03
	maxNoise = 0.1
)

// mutations are the mutations of nets. Those of R. Arjonilla's thesis move genes without changing their values, as does
// swap, which only its program has. noise, which neither has, changes all genes of a vector.
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

var studyMutations = []string{"swap", "partial-shuffle", "inversion", "displacement", "displaced-inversion"}

// inSomeLayers applies the mutation to the vectors of one or more random layers of g.
func (m mutation) inSomeLayers(g Genome, r *rules.Rand) {
	for i, chosen := range randomSubset(g.layers(), r) {
		for k := perLayer * i; chosen && k < perLayer*(i+1); k++ {
			if len(g[k]) > 1 {
				m.mutate(g[k], r)
			}
		}
	}
}

func maxMutated(v []float32) int { return int(math.Round(mutatedShare * float64(len(v)))) }

// randomSegment returns a random segment [from, to) of v with 2 to max(minMutated, maxMutated(v)) genes.
func randomSegment(v []float32, r *rules.Rand) (from, to int) {
	n := min(randomInt(r, 2, max(minMutated, maxMutated(v))), len(v))
	from = r.Below(len(v) - n + 1)
	return from, from + n
}

// swapPairs exchanges the genes v[places[0]] and v[places[1]], then v[places[2]] and v[places[3]], and so on.
func swapPairs(v []float32, places []int) {
	for ; len(places) > 1; places = places[2:] {
		i, j := places[0], places[1]
		v[i], v[j] = v[j], v[i]
	}
}

// displace moves the genes v[from:to] to another place in v, where they begin at index at.
func displace(v []float32, from, to, at int) {
	switch {
	case at < from:
		rotate(v[at:to], from-at)
	case at > from:
		rotate(v[from:at+to-from], to-from)
	}
}

func rotate(v []float32, n int) {
	slices.Reverse(v[:n])
	slices.Reverse(v[n:])
	slices.Reverse(v)
}

func normal(r *rules.Rand) float64 {
	return math.Sqrt(-2*math.Log(1-uniform(r))) * math.Cos(2*math.Pi*uniform(r))
}
