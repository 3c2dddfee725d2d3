package rating

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Intervals are the ratings with their 95 % intervals from the counts alone,
// by the sandwich estimator: the inverse Hessian on both sides of the
// variance that the deals' scores really had about their expectation, which
// duplicate deals make much smaller than that of coin flips. The virtual deals
// count as random too. It takes duels of the same deal for independent; where
// deals have more than two bots and are at hand, Bootstrap does not.
//
// Time grows with bots³ and bots×pairs: about a second for 1,000 bots.
func (f *Fit) Intervals() ([]Estimate, error) {
	n := len(f.nats)
	if n == 0 {
		return nil, nil
	}
	inverse, err := f.inverseHessian()
	if err != nil {
		return nil, err
	}
	spread, virtual := f.spread()
	// A rating is relative to the anchor or to the mean: so is its influence.
	zero := make([]float64, n)
	if a := f.options.Anchor; a != nil {
		copy(zero, inverse.RawRowView(a.Bot))
	} else {
		for i := range n {
			for j, x := range inverse.RawRowView(i) {
				zero[j] += x / float64(n)
			}
		}
	}
	out := make([]Estimate, n)
	c := make([]float64, n)
	for i := range n {
		for j, x := range inverse.RawRowView(i) {
			c[j] = x - zero[j]
		}
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
	return out, nil
}

func (f *Fit) inverseHessian() (*mat.Dense, error) {
	n := len(f.nats)
	m := newModel(n, f.pairs, f.prior)
	m.expand(f.nats)
	h := mat.NewSymDense(n, nil)
	for i, d := range m.diagonal {
		h.SetSym(i, i, d)
	}
	for k, p := range f.pairs {
		h.SetSym(p.A, p.B, -m.weight[k])
	}
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return nil, errors.New("rating: the fit's curvature is not positive definite; give a larger prior")
	}
	inverse := mat.NewSymDense(n, nil)
	if err := chol.InverseTo(inverse); err != nil {
		var condition mat.Condition
		if !errors.As(err, &condition) { // badly conditioned is still usable
			return nil, err
		}
	}
	return mat.DenseCopyOf(inverse), nil
}

// spread is the variance of each pair's summed score about its expectation and
// of each bot's virtual half win and half loss. A fit leaves less variance than
// there was, by one deal for every free rating: the usual factor makes up.
func (f *Fit) spread() (pairs, virtual []float64) {
	bots := float64(len(f.nats))
	deals := f.prior * bots
	for _, p := range f.pairs {
		deals += p.Deals
	}
	inflate := deals / max(deals-bots+1, deals/2)
	pairs = make([]float64, len(f.pairs))
	for k, p := range f.pairs {
		g := logistic(f.nats[p.A] - f.nats[p.B])
		pairs[k] = inflate * max(p.Squares-2*g*p.Score+g*g*p.Deals, 0)
	}
	virtual = make([]float64, len(f.nats))
	for i, r := range f.nats {
		g := logistic(r)
		virtual[i] = f.prior * f.prior / 4 * (g*g + (1-g)*(1-g))
	}
	return pairs, virtual
}
