package stats

import (
	"math"
	"slices"
)

const (
	// unseenCount is the count that is assumed for a possible score which has not occurred. It is small enough to
	// have no weight, but above 0, so that every mean between 0 and 1 has a likelihood.
	unseenCount = 1e-3
	// maxGrid is the maximum number of games in a deal for which all possible scores are classes. For more games
	// only 0, 1 and the observed scores are classes: the others would only refine the weight of unseenCount.
	maxGrid = 32
)

// multinomial is the observed distribution of the mean scores of deals (all games with one shuffle). A deal of g
// games can have the mean scores k/(2g). Each of them is a class, and so is any other score that was observed.
type multinomial struct {
	total  float64
	score  []float64
	share  []float64 // fraction of the deals in each class, above 0
	values []float64 // scratch memory for the fits
}

func newMultinomial(t *Tally) *multinomial {
	games := int(math.Round(float64(t.games) / float64(t.score.n)))
	steps := 2 * games
	if games > maxGrid {
		steps = 1
	}
	m := &multinomial{}
	next := 0
	for k := range steps + 1 {
		x := float64(k) / float64(steps)
		for ; next < len(t.classes) && t.classes[next].Score < x-sameScore; next++ {
			m.append(t.classes[next].Score, float64(t.classes[next].Deals))
		}
		n := unseenCount
		if next < len(t.classes) && t.classes[next].Score <= x+sameScore {
			n = float64(t.classes[next].Deals)
			next++
		}
		m.append(x, n)
	}
	for i := range m.share {
		m.share[i] /= m.total
	}
	m.values = make([]float64, len(m.score))
	return m
}

func (m *multinomial) append(score, n float64) {
	m.score = append(m.score, score)
	m.share = append(m.share, n)
	m.total += n
}

// ratio returns the difference between two log-likelihoods of the observed scores: with the probabilities p1 of the
// classes, minus that with p0.
func (m *multinomial) ratio(p0, p1 []float64) float64 {
	sum := 0.0
	for i, q := range m.share {
		sum += q * math.Log(p1[i]/p0[i])
	}
	return m.total * sum
}

// fitMean returns the most likely probabilities of the classes whose mean score is mean, which must be
// strictly between 0 and 1.
func (m *multinomial) fitMean(mean float64) []float64 {
	for i, x := range m.score {
		m.values[i] = x - mean
	}
	return m.fitZero()
}

// fitZero returns the most likely probabilities of the classes under which m.values have expectation 0. A class
// with the observed share s and the value x has the probability s/(1+t*x). The Lagrange multiplier t is the root of
// the sum of s*x/(1+t*x) over the classes. That sum falls from +Inf to -Inf between the poles on both sides of 0,
// so Newton's steps are limited to a bracket that shrinks with every evaluation of the sum.
func (m *multinomial) fitZero() []float64 {
	low, high := -1/slices.Max(m.values), -1/slices.Min(m.values)
	t := 0.0
	for range 100 {
		f, slope := 0.0, 0.0
		for i, v := range m.values {
			u := v / (1 + t*v)
			f += m.share[i] * u
			slope -= m.share[i] * u * u
		}
		if f > 0 {
			low = t
		} else {
			high = t
		}
		next := t - f/slope
		if !(next > low && next < high) {
			next = (low + high) / 2
		}
		if done := math.Abs(next-t) <= 1e-12*(1+math.Abs(t)); done {
			t = next
			break
		}
		t = next
	}
	p := make([]float64, len(m.share))
	for i, v := range m.values {
		p[i] = m.share[i] / (1 + t*v)
	}
	return p
}

// fitEffect returns the most likely probabilities of the classes whose mean is effect standard deviations above
// 0.5. This constraint is not linear in the probabilities, so it is linearized at the last fit until the fit
// converges (Van den Bergh, "Normalized Elo"). The fit starts from a distribution that has the effect and only
// the scores 0 and 1.
func (m *multinomial) fitEffect(effect float64) []float64 {
	p := make([]float64, len(m.share))
	p[len(p)-1] = 0.5 + 0.5*effect/math.Sqrt(1+effect*effect)
	p[0] = 1 - p[len(p)-1]
	for range 100 {
		mean, sd := m.momentsOf(p)
		for i, x := range m.score {
			z := (x - mean) / sd
			m.values[i] = x - 0.5 - effect*sd*(1+z*z)/2
		}
		if slices.Min(m.values) >= 0 || slices.Max(m.values) <= 0 {
			return p
		}
		next := m.fitZero()
		moved := 0.0
		for i := range p {
			moved = max(moved, math.Abs(next[i]-p[i]))
		}
		p = next
		if moved < 1e-9 {
			break
		}
	}
	return p
}

func (m *multinomial) momentsOf(p []float64) (mean, sd float64) {
	for i, x := range m.score {
		mean += p[i] * x
	}
	for i, x := range m.score {
		sd += p[i] * (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(sd)
}
