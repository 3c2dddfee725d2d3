package rating

import "math"

// model is the log-posterior of ratings in log-odds (nats):
//
//	sum over pairs of  s*log g(d) + (n-s)*log g(-d)      d = r[A]-r[B]
//	sum over bots of   v/2*log g(r) + v/2*log g(-r)      v virtual deals
//
// with g the logistic function. It is strictly concave, so it has one maximum,
// and minus its Hessian is the Laplacian of the graph of pairs, weighted by
// n*g(d)*g(-d), plus v*g(r)*g(-r) on the diagonal.
type model struct {
	pairs     []Pair
	won, lost []float64 // by bot, weights of the virtual half win and half loss

	gradient  []float64
	weight    []float64 // by pair
	diagonal  []float64
	step, try []float64
	res, dir  []float64 // conjugate gradient
	image, z  []float64
}

func newModel(bots int, pairs []Pair, prior float64) *model {
	block := make([]float64, 10*bots)
	cut := func() []float64 {
		part := block[:bots:bots]
		block = block[bots:]
		return part
	}
	m := &model{
		pairs: pairs, weight: make([]float64, len(pairs)),
		won: cut(), lost: cut(), gradient: cut(), diagonal: cut(),
		step: cut(), try: cut(), res: cut(), dir: cut(), image: cut(), z: cut(),
	}
	for i := range m.won {
		m.won[i], m.lost[i] = prior/2, prior/2
	}
	return m
}

const (
	// settled is the Newton step at which a fit is done: 1e-6 nats are two
	// ten-thousandths of an Elo, and the step after it would be its square.
	settled = 1e-6
	// maxStep keeps a step where the quadratic still says something.
	maxStep    = 4.0
	maxNewton  = 100
	maxHalving = 40
)

// maximise moves r, from any start, to the maximum: Newton's method with the
// step found by conjugate gradients (a truncated Newton method) and halved
// until it improves.
func (m *model) maximise(r []float64) {
	value := m.expand(r)
	for range maxNewton {
		m.solve()
		longest := 0.0
		for _, x := range m.step {
			longest = max(longest, math.Abs(x))
		}
		if longest < settled {
			for i := range r {
				r[i] += m.step[i]
			}
			return
		}
		scale := maxStep / max(longest, maxStep)
		// A gain below the rounding of the sum does not show.
		floor := value - 1e-12*math.Abs(value)
		improved := false
		for range maxHalving {
			for i := range r {
				m.try[i] = r[i] + scale*m.step[i]
			}
			if next := m.expand(m.try); next >= floor {
				copy(r, m.try)
				value, improved = next, true
				break
			}
			scale /= 2
		}
		if !improved {
			return
		}
	}
}

// expand computes value, gradient, weights and the Hessian's diagonal at r.
func (m *model) expand(r []float64) float64 {
	value := 0.0
	for i, x := range r {
		g, v := curve(x, m.won[i], m.lost[i])
		value += v
		m.gradient[i] = m.won[i] - (m.won[i]+m.lost[i])*g
		m.diagonal[i] = (m.won[i] + m.lost[i]) * g * (1 - g)
	}
	for k := range m.pairs {
		p := &m.pairs[k]
		g, v := curve(r[p.A]-r[p.B], p.Score, p.Deals-p.Score)
		value += v
		pull := p.Score - p.Deals*g
		m.gradient[p.A] += pull
		m.gradient[p.B] -= pull
		w := p.Deals * g * (1 - g)
		m.weight[k] = w
		m.diagonal[p.A] += w
		m.diagonal[p.B] += w
	}
	return value
}

// curve is the logistic function at d, and the log-likelihood of won and lost
// there, without overflow at either end.
func curve(d, won, lost float64) (g, value float64) {
	e := math.Exp(-math.Abs(d))
	tail := math.Log1p(e)
	if d >= 0 {
		return 1 / (1 + e), -won*tail - lost*(d+tail)
	}
	return e / (1 + e), -won*(tail-d) - lost*tail
}

// solve sets step to the Newton step by conjugate gradients, preconditioned by
// the diagonal. The tolerance tightens with the gradient, so that the last
// steps converge faster than linearly and the first waste nothing.
func (m *model) solve() {
	norm := 0.0
	for i, g := range m.gradient {
		m.step[i], m.res[i] = 0, g
		m.z[i] = g / m.diagonal[i]
		m.dir[i] = m.z[i]
		norm += g * m.z[i]
	}
	rho, goal := norm, norm*min(0.01, norm)
	goal = max(goal, 1e-20*float64(len(m.step)))
	for range 10 * len(m.step) {
		if rho <= goal {
			return
		}
		m.multiply()
		alpha := rho / dot(m.dir, m.image)
		last := rho
		rho = 0
		for i := range m.step {
			m.step[i] += alpha * m.dir[i]
			m.res[i] -= alpha * m.image[i]
			m.z[i] = m.res[i] / m.diagonal[i]
			rho += m.res[i] * m.z[i]
		}
		for i := range m.dir {
			m.dir[i] = m.z[i] + rho/last*m.dir[i]
		}
	}
}

// multiply sets image to minus the Hessian times dir. The diagonal holds the
// pairs' weights already, so only the off-diagonal is left.
func (m *model) multiply() {
	for i, x := range m.dir {
		m.image[i] = m.diagonal[i] * x
	}
	for k := range m.pairs {
		p := &m.pairs[k]
		w := m.weight[k]
		m.image[p.A] -= w * m.dir[p.B]
		m.image[p.B] -= w * m.dir[p.A]
	}
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}
