package stats

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

const (
	// maxDense is the maximum number of bots for which Intervals inverts one dense matrix, the Hessian, if
	// there are no teams. That takes 32 bytes times the square of the number of bots.
	maxDense = 1500
	// ridge is the precision of a weak prior for the ratings of team members, in log-odds: a standard deviation
	// of 17,000 Elo around the mean. It matters only for what the results leave open, such as which of two
	// permanent partners is better.
	ridge = 1e-4
	// maxHalfWidth is the maximum half width, in Elo, of a finite interval. A wider interval reflects only the
	// prior of ridge, and is reported as infinite.
	maxHalfWidth = 5000
)

// Intervals returns the ratings with their 95 % intervals, computed from the counts alone. It uses the sandwich
// estimator: the inverse Hessian on both sides of the observed variance of the scores around their expectation.
// The virtual ties of the prior count as random too.
//
// For pairs the unit of observation is the deal, because the score of a deal varies less than that of independent
// games. This assumes that the duels of a deal (its results between two bots) are independent; Bootstrap does
// not, but needs the deals themselves. For teams the unit is the Bout, because its deals have the same members.
//
// The time grows with bots³ and bots×pairs, to about a second for 1,000 bots. With more than 1,500 bots in pairs,
// each bot's row of the inverse is computed separately. Then the time grows with bots×pairs, and the memory with
// bots+pairs.
func (f *Fit) Intervals() ([]Estimate, error) {
	if len(f.nats) == 0 {
		return nil, nil
	}
	if len(f.nats) > maxDense && f.bouts == nil {
		return f.intervals(f.rowSolver()), nil
	}
	inverse, err := f.inverseHessian()
	if err != nil {
		return nil, err
	}
	return f.intervals(func(i int, c []float64) {
		copy(c, inverse.RawRowView(i))
		if f.anchor != nil {
			for j, x := range inverse.RawRowView(f.anchor.Bot) {
				c[j] -= x
			}
		}
	}), nil
}

// intervals returns the result of Intervals. row(i, c) sets c to the row of the inverse Hessian for bot i, minus
// the row for the anchor if there is one.
func (f *Fit) intervals(row func(i int, c []float64)) []Estimate {
	variance := f.pairVariance()
	if f.bouts != nil {
		variance = f.boutVariance()
	}
	out := make([]Estimate, len(f.nats))
	c := make([]float64, len(f.nats))
	for i, elo := range f.Elo {
		h := math.Inf(1)
		if f.bounded(i) {
			row(i, c) // the inverse for ratings relative to the mean of the group
			h = z95 * eloPerNat * math.Sqrt(variance(c))
		}
		if h > maxHalfWidth {
			h = math.Inf(1)
		}
		out[i] = Estimate{Value: elo, Low: elo - h, High: elo + h}
	}
	return out
}

// rowSolver returns a function that sets c to one row of the inverse Hessian, the row for bot i, by conjugate
// gradients.
func (f *Fit) rowSolver() func(i int, c []float64) {
	m := f.model()
	m.expand(f.nats)
	size := f.sizes()
	return func(i int, c []float64) {
		clear(m.gradient)
		group := f.Group[i]
		if f.anchor != nil {
			m.gradient[f.anchor.Bot]--
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

// bounded reports whether the rating of a bot has a finite interval: the bot has played and, if there is an
// anchor (the bot whose rating is fixed), games connect it with the anchor.
func (f *Fit) bounded(bot int) bool {
	if a := f.anchor; a != nil {
		return bot == a.Bot || f.Group[bot] == f.Group[a.Bot]
	}
	return f.Deals[bot] > 0
}

// inverseHessian returns the pseudo-inverse of the negated Hessian of the log-likelihood. The matrix of each
// group is singular. Adding the projection on the group's constant vector makes it regular, and the
// projection is subtracted from the inverse again. For teams, ridge makes the rest regular.
func (f *Fit) inverseHessian() (*mat.Dense, error) {
	n := len(f.nats)
	m := f.model()
	m.expand(f.nats)
	h := mat.NewSymDense(n, nil)
	for i, d := range m.diagonal {
		if f.bouts != nil {
			d = ridge
		}
		h.SetSym(i, i, d)
	}
	for k, p := range f.pairs {
		h.SetSym(p.A, p.B, h.At(p.A, p.B)-m.weight[k])
	}
	for k, b := range f.bouts {
		b.each(func(i int, p float64) {
			b.each(func(j int, q float64) {
				if i <= j {
					h.SetSym(i, j, h.At(i, j)+m.weight[k]*p*q)
				}
			})
		})
	}
	f.addConstant(h, 1)
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return nil, errors.New("stats: the fit's curvature is not positive definite")
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

// addConstant changes the matrix h. For each group of connected bots, it adds the projection on the group's
// constant vector, multiplied by the factor times.
func (f *Fit) addConstant(h *mat.SymDense, times float64) {
	size := f.sizes()
	for i, g := range f.Group {
		for j := i; j < len(f.Group); j++ {
			if f.Group[j] == g {
				h.SetSym(i, j, h.At(i, j)+times/size[g])
			}
		}
	}
}

// pairVariance returns a function that computes the variance of the scalar product of c and the gradient of
// the log-likelihood. If c is the row of the inverse Hessian for a bot, this is the variance of the bot's
// rating. It follows from the observed variance of each pair's score around its expectation, and from that
// of each bot's virtual half wins and half losses. A fit reduces the variance by one deal for every free
// rating; the usual factor corrects for that.
func (f *Fit) pairVariance() func(c []float64) float64 {
	bots := float64(len(f.nats))
	deals := prior * bots
	for _, p := range f.pairs {
		deals += p.Deals
	}
	inflate := deals / max(deals-bots+1, deals/2)
	pairs := make([]float64, len(f.pairs))
	won, lost := make([]float64, len(f.nats)), make([]float64, len(f.nats))
	for k, p := range f.pairs {
		g := logistic(f.nats[p.A] - f.nats[p.B])
		pairs[k] = inflate * max(p.Squares-2*g*p.Score+g*g*p.Deals, 0)
		won[p.A] += f.virtual[k] / 2 * (1 - g)
		lost[p.A] += f.virtual[k] / 2 * g
		won[p.B] += f.virtual[k] / 2 * g
		lost[p.B] += f.virtual[k] / 2 * (1 - g)
	}
	return func(c []float64) (sum float64) {
		for i, x := range c {
			sum += (won[i]*won[i] + lost[i]*lost[i]) * x * x
		}
		for k := range f.pairs {
			d := c[f.pairs[k].A] - c[f.pairs[k].B]
			sum += pairs[k] * d * d
		}
		return sum
	}
}

// boutVariance does the same for teams as pairVariance for pairs of bots. It uses the squared difference of each
// Bout's score from its expectation, with a factor that corrects for one Bout for every free rating. It adds the
// variance of the virtual ties and of ridge.
func (f *Fit) boutVariance() func(c []float64) float64 {
	n := float64(len(f.bouts))
	inflate := n / max(n-float64(len(f.nats))+1, n/2)
	bouts := make([]float64, len(f.bouts))
	for k, b := range f.bouts {
		rest := b.Score - b.Deals*logistic(b.lead(f.nats))
		bouts[k] = inflate*rest*rest + f.virtual[k]*f.virtual[k]/4
	}
	return func(c []float64) float64 {
		sum := ridge * dot(c, c)
		for k, b := range f.bouts {
			d := b.lead(c)
			sum += bouts[k] * d * d
		}
		return sum
	}
}
