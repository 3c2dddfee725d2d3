package rating

import "math"

// model is the log-likelihood of ratings in log-odds (nats):
//
//	sum over pairs of  won*log g(d) + lost*log g(-d)      d = r[A]-r[B]
//
// with g the logistic function. Where won and lost are above 0 it is strictly
// concave but for a constant added to a whole group of connected bots. Minus
// its Hessian is the Laplacian of the graph of pairs, each with the weight
// (won+lost)*g(d)*g(-d).
type model struct {
	ends      [][2]int32 // by pair
	won, lost []float64  // by pair, of its A, with the virtual deals
	weight    []float64

	gradient  []float64 // by bot, from here on
	diagonal  []float64
	step, try []float64
	res, dir  []float64 // conjugate gradients
	image, z  []float64
}

func newModel(bots int, pairs []Pair) *model {
	size, block := bots, make([]float64, 8*bots+3*len(pairs))
	cut := func() []float64 {
		part := block[:size:size]
		block = block[size:]
		return part
	}
	m := &model{
		gradient: cut(), diagonal: cut(), step: cut(), try: cut(),
		res: cut(), dir: cut(), image: cut(), z: cut(),
		ends: make([][2]int32, len(pairs)),
	}
	size = len(pairs)
	m.won, m.lost, m.weight = cut(), cut(), cut()
	for k, p := range pairs {
		m.ends[k] = [2]int32{int32(p.A), int32(p.B)}
	}
	return m
}

const (
	// converged is the Newton step at which a fit is done: 1e-6 nats are two
	// ten-thousandths of an Elo, and the step after it would be its square.
	converged = 1e-6
	// maxStep limits a step to where the quadratic approximation is useful.
	maxStep    = 4.0
	maxNewton  = 100
	maxHalving = 40
)

// maximise moves r, from any start, to the maximum by a truncated Newton method: the
// step is found by conjugate gradients and halved until it improves the value.
func (m *model) maximise(r []float64) {
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
	clear(m.gradient)
	clear(m.diagonal)
	value := 0.0
	for k, e := range m.ends {
		won, lost := m.won[k], m.lost[k]
		g, v := curve(r[e[0]]-r[e[1]], won, lost)
		value += v
		pull := won*(1-g) - lost*g
		m.gradient[e[0]] += pull
		m.gradient[e[1]] -= pull
		w := (won + lost) * g * (1 - g)
		m.weight[k] = w
		m.diagonal[e[0]] += w
		m.diagonal[e[1]] += w
	}
	return value
}

// curve returns the logistic function at d, and the log-likelihood of won and lost
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
// the diagonal; a bot without deals stays. The gradient sums to 0 over each
// group, so the system has solutions though it is singular. What may be left of the square of the
// gradient is the share most, and tightens with the gradient: the first steps are cheap, and the last converge
// faster than linearly.
func (m *model) solve(most float64) {
	norm := 0.0
	for i, g := range m.gradient {
		m.step[i], m.res[i] = 0, g
		m.z[i] = m.precondition(i)
		m.dir[i] = m.z[i]
		norm += g * m.z[i]
	}
	rho, goal := norm, max(norm*min(most, norm), 1e-20*float64(len(m.step)))
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

// multiply sets image to minus the Hessian times dir.
func (m *model) multiply() {
	clear(m.image)
	for k, e := range m.ends {
		flow := m.weight[k] * (m.dir[e[0]] - m.dir[e[1]])
		m.image[e[0]] += flow
		m.image[e[1]] -= flow
	}
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}
