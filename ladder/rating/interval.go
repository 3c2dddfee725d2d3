package rating

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Intervals returns the ratings with their 95 % intervals from the counts alone,
// by the sandwich estimator: the inverse Hessian on both sides of the observed
// variance of the deals' scores about their expectation, which duplicate deals
// make much smaller than that of coin flips. The virtual deals count as random too.
// It assumes that duels of the same deal are independent; Bootstrap, which needs the
// deals, does not.
//
// Time grows with bots³ and bots×pairs: about a second for 1,000 bots. Of more than maxWhole bots
// each has its row of the inverse found by itself: time grows with bots×pairs, memory with their sum.
func (f *Fit) Intervals() ([]Estimate, error) {
	if len(f.nats) == 0 {
		return nil, nil
	}
	if len(f.nats) > maxWhole {
		return f.intervals(f.rowsAlone()), nil
	}
	inverse, err := f.inverseHessian()
	if err != nil {
		return nil, err
	}
	return f.intervals(func(i int, c []float64) {
		copy(c, inverse.RawRowView(i))
		if a := f.options.Anchor; a != nil {
			for j, x := range inverse.RawRowView(a.Bot) {
				c[j] -= x
			}
		}
	}), nil
}

// maxWhole is how many bots have their curvature inverted as a whole, which takes 32 bytes for every
// two of them.
const maxWhole = 1500

// rowsAlone returns what finds the row of the inverse of a bot, less that of the anchor if there is
// one, by conjugate gradients.
func (f *Fit) rowsAlone() func(i int, c []float64) {
	m := f.model()
	m.expand(f.nats)
	size := make([]float64, len(f.Group))
	for _, g := range f.Group {
		size[g]++
	}
	return func(i int, c []float64) {
		clear(m.gradient)
		group := f.Group[i]
		if a := f.options.Anchor; a != nil {
			m.gradient[a.Bot]--
		} else {
			for j, g := range f.Group {
				if g == group {
					m.gradient[j] = -1 / size[g]
				}
			}
		}
		m.gradient[i]++
		m.solve(1e-9)
		mean := 0.0
		for j, g := range f.Group {
			if g == group {
				mean += m.step[j] / size[g]
			}
		}
		for j, g := range f.Group {
			if c[j] = 0; g == group {
				c[j] = m.step[j] - mean
			}
		}
	}
}

// intervals is Intervals, given what finds the row of the inverse of a bot, less that of the anchor if
// there is one.
func (f *Fit) intervals(row func(i int, c []float64)) []Estimate {
	n := len(f.nats)
	spread, virtual := f.spread()
	out := make([]Estimate, n)
	c := make([]float64, n)
	for i := range n {
		if !f.bounded(i) {
			out[i] = f.unbounded(i)
			continue
		}
		row(i, c) // of the inverse for ratings relative to the group's mean
		variance := 0.0
		for j, v := range virtual {
			variance += v * c[j] * c[j]
		}
		for k := range f.pairs {
			d := c[f.pairs[k].A] - c[f.pairs[k].B]
			variance += spread[k] * d * d
		}
		h := z95 * eloPerNat * math.Sqrt(variance)
		out[i] = Estimate{Value: f.Elo[i], Low: f.Elo[i] - h, High: f.Elo[i] + h}
	}
	return out
}

// bounded reports whether the deals bound a bot's rating: it has met another bot, and
// the anchor, if any, is in its group.
func (f *Fit) bounded(bot int) bool {
	if a := f.options.Anchor; a != nil {
		return bot == a.Bot || f.Group[bot] == f.Group[a.Bot]
	}
	return f.Deals[bot] > 0
}

func (f *Fit) unbounded(bot int) Estimate {
	return Estimate{Value: f.Elo[bot], Low: math.Inf(-1), High: math.Inf(1)}
}

// inverseHessian returns the pseudo-inverse of minus the Hessian: the Laplacian of
// each group is made regular by adding the projection on its constant vector, which
// is subtracted from the inverse again.
func (f *Fit) inverseHessian() (*mat.Dense, error) {
	n := len(f.nats)
	m := f.model()
	m.expand(f.nats)
	h := mat.NewSymDense(n, nil)
	for i, d := range m.diagonal {
		h.SetSym(i, i, d)
	}
	for k, p := range f.pairs {
		h.SetSym(p.A, p.B, -m.weight[k])
	}
	f.addConstant(h, 1)
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return nil, errors.New("rating: the fit's curvature is not positive definite: give a larger prior")
	}
	inverse := mat.NewSymDense(n, nil)
	if err := chol.InverseTo(inverse); err != nil {
		var condition mat.Condition
		if !errors.As(err, &condition) { // badly conditioned is still usable
			return nil, err
		}
	}
	f.addConstant(inverse, -1)
	return mat.DenseCopyOf(inverse), nil
}

// addConstant adds times the projection on each group's constant vector.
func (f *Fit) addConstant(h *mat.SymDense, times float64) {
	size := make([]float64, len(f.Group))
	for _, g := range f.Group {
		size[g]++
	}
	for i, g := range f.Group {
		for j := i; j < len(f.Group); j++ {
			if f.Group[j] == g {
				h.SetSym(i, j, h.At(i, j)+times/size[g])
			}
		}
	}
}

// spread returns the variance of each pair's summed score about its expectation and
// of each bot's virtual half wins and half losses. A fit reduces the variance by one
// deal for every free rating; the usual factor corrects for that.
func (f *Fit) spread() (pairs, virtual []float64) {
	bots := float64(len(f.nats))
	deals := f.options.prior() * bots
	for _, p := range f.pairs {
		deals += p.Deals
	}
	inflate := deals / max(deals-bots+1, deals/2)
	pairs = make([]float64, len(f.pairs))
	won, lost := make([]float64, len(f.nats)), make([]float64, len(f.nats))
	for k, p := range f.pairs {
		g := logistic(f.nats[p.A] - f.nats[p.B])
		pairs[k] = inflate * max(p.Squares-2*g*p.Score+g*g*p.Deals, 0)
		won[p.A] += f.virtual[k] / 2 * (1 - g)
		lost[p.A] += f.virtual[k] / 2 * g
		won[p.B] += f.virtual[k] / 2 * g
		lost[p.B] += f.virtual[k] / 2 * (1 - g)
	}
	virtual = won
	for i := range virtual {
		virtual[i] = won[i]*won[i] + lost[i]*lost[i]
	}
	return pairs, virtual
}
