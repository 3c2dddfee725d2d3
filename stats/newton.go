package stats

import "math"

// model is the log-likelihood of ratings r in log-odds (nats): the sum over pairs of wins*log g(d) + losses*log
// g(-d), where d is r[A]-r[B] and g is the logistic function. For a bout, d is the difference between the strengths
// of its teams. If wins and losses are above 0, the function is strictly concave, except in directions in which no d
// changes: a constant added to a whole group of connected bots, or the difference of bots that are always partners.
// The negated Hessian is the sum over pairs of the weight (wins+losses)*g(d)*g(-d) times the square of d's gradient,
// which is the Laplacian of the graph of pairs.
type model struct {
	ends         [][2]int32 // the two bots of each pair
	bouts        []Bout     // results of teams, instead of pairs
	wins, losses []float64  // of A, by pair or bout, including half of each tie and the virtual deals
	weight       []float64  // (wins+losses)*g(d)*g(-d), by pair or bout

	gradient    []float64 // this and the following have an element for each bot
	diagonal    []float64
	step, trial []float64
	res, dir    []float64 // memory for the conjugate gradients
	image, z    []float64
}

func newModel(bots int, pairs []Pair, bouts []Bout) *model {
	m := &model{bouts: bouts}
	for _, values := range []*[]float64{&m.gradient, &m.diagonal, &m.step, &m.trial, &m.res, &m.dir, &m.image, &m.z} {
		*values = make([]float64, bots)
	}
	for _, values := range []*[]float64{&m.wins, &m.losses, &m.weight} {
		*values = make([]float64, max(len(pairs), len(bouts)))
	}
	for _, p := range pairs {
		m.ends = append(m.ends, [2]int32{int32(p.A), int32(p.B)})
	}
	return m
}

const (
	// converged is the length of a Newton step, in nats, below which a fit is finished. 1e-6 nats are two
	// ten-thousandths of an Elo, and the next step would be about the square of that.
	converged = 1e-6
	// maxStep is the maximum length of a step, in nats: the range in which the quadratic approximation is useful.
	maxStep    = 4.0
	maxNewton  = 100
	maxHalving = 40
)

// maximize sets r to the most likely ratings in log-odds, by a truncated Newton method that starts at r. Each
// step is computed by conjugate gradients, and halved until it improves the likelihood.
func (m *model) maximize(r []float64) {
	value := m.expand(r)
	for range maxNewton {
		m.solve(0.01)
		longest := 0.0
		for _, x := range m.step {
			longest = max(longest, math.Abs(x))
		}
		if longest < converged {
			for i := range r {
				r[i] += m.step[i]
			}
			return
		}
		scale := maxStep / max(longest, maxStep)
		// A gain below the rounding error of the sum is invisible.
		floor := value - 1e-12*math.Abs(value)
		improved := false
		for range maxHalving {
			for i := range r {
				m.trial[i] = r[i] + scale*m.step[i]
			}
			if next := m.expand(m.trial); next >= floor {
				copy(r, m.trial)
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

// expand returns the log-likelihood of the ratings r. It sets the gradient, the weights and the diagonal of
// the Hessian at r.
func (m *model) expand(r []float64) float64 {
	clear(m.gradient)
	clear(m.diagonal)
	value := 0.0
	for k, e := range m.ends {
		pull, v := m.pull(k, r[e[0]]-r[e[1]])
		value += v
		m.gradient[e[0]] += pull
		m.gradient[e[1]] -= pull
		m.diagonal[e[0]] += m.weight[k]
		m.diagonal[e[1]] += m.weight[k]
	}
	for k, b := range m.bouts {
		pull, v := m.pull(k, b.lead(r))
		value += v
		b.each(func(i int, part float64) {
			m.gradient[i] += part * pull
			m.diagonal[i] += part * part * m.weight[k]
		})
	}
	return value
}

// pull computes the part of the log-likelihood that belongs to the pair or bout with index k. value is that part,
// and pull its derivative by d, the difference between the strengths of the two sides. It also stores the weight of
// k in the model.
func (m *model) pull(k int, d float64) (pull, value float64) {
	won, lost := m.wins[k], m.losses[k]
	g, value := bernoulli(d, won, lost)
	m.weight[k] = (won + lost) * g * (1 - g)
	return won*(1-g) - lost*g, value
}

// bernoulli returns the probability p = 1/(1+exp(-d)) of a win, and the log-likelihood of the given numbers of wins
// and losses under p. d is the difference in strength, in logits. The calculation does not overflow.
func bernoulli(d, won, lost float64) (p, logLikelihood float64) {
	e := math.Exp(-math.Abs(d))
	tail := math.Log1p(e)
	if d >= 0 {
		return 1 / (1 + e), -won*tail - lost*(d+tail)
	}
	return e / (1 + e), -won*(tail-d) - lost*tail
}

// solve sets m.step to the Newton step by conjugate gradients, preconditioned by the diagonal. The step of a
// bot without deals is 0. The system is singular, but it has solutions because the gradient is a sum of
// gradients of d. The iteration stops when the squared residual, relative to the squared gradient, is below
// share or, for small gradients, below a bound that falls with the gradient. Therefore the first Newton steps
// are cheap, and the last converge faster than linearly.
func (m *model) solve(share float64) {
	norm := 0.0
	for i, g := range m.gradient {
		m.step[i], m.res[i] = 0, g
		m.z[i] = m.precondition(i)
		m.dir[i] = m.z[i]
		norm += g * m.z[i]
	}
	rho, goal := norm, max(norm*min(share, norm), 1e-20*float64(len(m.step)))
	for range 10 * len(m.step) {
		if rho <= goal {
			return
		}
		m.multiply()
		curvature := dot(m.dir, m.image)
		if curvature <= 0 { // only rounding is left
			return
		}
		alpha, last := rho/curvature, rho
		rho = 0
		for i := range m.step {
			m.step[i] += alpha * m.dir[i]
			m.res[i] -= alpha * m.image[i]
			m.z[i] = m.precondition(i)
			rho += m.res[i] * m.z[i]
		}
		for i := range m.dir {
			m.dir[i] = m.z[i] + rho/last*m.dir[i]
		}
	}
}

func (m *model) precondition(i int) float64 {
	if m.diagonal[i] == 0 {
		return 0
	}
	return m.res[i] / m.diagonal[i]
}

// multiply sets m.image to the negated Hessian times m.dir.
func (m *model) multiply() {
	clear(m.image)
	for k, e := range m.ends {
		flow := m.weight[k] * (m.dir[e[0]] - m.dir[e[1]])
		m.image[e[0]] += flow
		m.image[e[1]] -= flow
	}
	for k, b := range m.bouts {
		flow := m.weight[k] * b.lead(m.dir)
		b.each(func(i int, part float64) { m.image[i] += part * flow })
	}
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}
