package ga

import (
	"slices"

	"github.com/timba-arena/timba/rules"
)

// crossover is a named operator that computes two children from two parents. cross sets all genes of the children x
// and y from the genes of the parents a and b. ratio is the probability of crossover in this generation; only the
// operator "multivariate" uses ratio.
type crossover struct {
	name  string
	cross func(a, b, x, y Genome, ratio float64, r *rules.Rand)
}

// crossovers are the crossovers of R. Arjonilla's thesis. average-flat makes one child by average crossover and
// the other by flat crossover. one-point, several-points, uniform and multivariate work on one or more random
// layers; the other layers of a child are copies of those of one parent.
var crossovers = []crossover{
	{"one-point", inLayers(func(a, b, x, y []float32, _ float64, r *rules.Rand) {
		multivariate(a, b, x, y, []int{randomInt(r, 1, len(a)-1)}, everySecond(2))
	})},
	{"several-points", inLayers(func(a, b, x, y []float32, _ float64, r *rules.Rand) {
		points := randomCuts(len(a), r)
		multivariate(a, b, x, y, points, everySecond(len(points)+1))
	})},
	{"uniform", inLayers(func(a, b, x, y []float32, _ float64, r *rules.Rand) {
		for i := range a {
			x[i], y[i] = a[i], b[i]
			if r.Below(2) == 1 {
				x[i], y[i] = b[i], a[i]
			}
		}
	})},
	{"average-flat", func(a, b, x, y Genome, _ float64, r *rules.Rand) {
		for i := range a {
			average(a[i], b[i], x[i])
			flat(a[i], b[i], y[i], r)
		}
	}},
	{"multivariate", inLayers(func(a, b, x, y []float32, ratio float64, r *rules.Rand) {
		points := randomCuts(len(a), r)
		swapped := make([]bool, len(points)+1)
		for i := range swapped {
			swapped[i] = uniform(r) < ratio
		}
		multivariate(a, b, x, y, points, swapped)
	})},
	{"arithmetic", func(a, b, x, y Genome, _ float64, r *rules.Rand) {
		for i := range a.layers() {
			alpha := float32(uniform(r))
			for k, from := range a.layer(i) {
				arithmetic(from, b.layer(i)[k], x.layer(i)[k], y.layer(i)[k], alpha)
			}
		}
	}},
}

// inLayers returns a crossover that works on one or more random layers. It applies cross to the vectors of these
// layers, and copies the vectors of the other layers from a to x and from b to y.
func inLayers(cross func(a, b, x, y []float32, ratio float64, r *rules.Rand)) func(a, b, x, y Genome, ratio float64, r *rules.Rand) {
	return func(a, b, x, y Genome, ratio float64, r *rules.Rand) {
		x.copyFrom(a)
		y.copyFrom(b)
		for i, chosen := range randomSubset(a.layers(), r) {
			for k := perLayer * i; chosen && k < perLayer*(i+1); k++ {
				cross(a[k], b[k], x[k], y[k], ratio, r)
			}
		}
	}
}

// randomCuts draws the indices at which to cut a vector of n genes: between 2 and n/2 different indices in [1, n),
// in ascending order. If there are fewer such indices, it draws them all.
func randomCuts(n int, r *rules.Rand) []int {
	points := sample(max(0, n-1), randomInt(r, 2, n/2), r)
	for i := range points {
		points[i]++
	}
	slices.Sort(points)
	return points
}

// everySecond returns which of n segments two children exchange: true for the second, the fourth and so on.
func everySecond(n int) []bool {
	swapped := make([]bool, n)
	for i := range swapped {
		swapped[i] = i%2 == 1
	}
	return swapped
}

// multivariate cuts the vectors into segments at the indices in cuts. swapped has a value for each segment. If it
// is true, the segment of a is copied to y, and that of b to x. Otherwise that of a is copied to x, and that of b
// to y.
func multivariate(a, b, x, y []float32, cuts []int, swapped []bool) {
	from := 0
	for i, swap := range swapped {
		to := len(a)
		if i < len(cuts) {
			to = cuts[i]
		}
		p, q := a, b
		if swap {
			p, q = b, a
		}
		copy(x[from:to], p[from:to])
		copy(y[from:to], q[from:to])
		from = to
	}
}

func average(a, b, x []float32) {
	for i := range x {
		x[i] = (a[i] + b[i]) / 2
	}
}

func flat(a, b, x []float32, r *rules.Rand) {
	for i := range x {
		x[i] = a[i] + float32(uniform(r))*(b[i]-a[i])
	}
}

func arithmetic(a, b, x, y []float32, alpha float32) {
	for i := range x {
		x[i] = (1-alpha)*a[i] + alpha*b[i]
		y[i] = (1-alpha)*b[i] + alpha*a[i]
	}
}
