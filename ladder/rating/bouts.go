package rating

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Bout is a match between two teams in counts: some deals of the same members,
// who are different bots.
type Bout struct {
	A, B  []int // the members by number from 0, at least one each
	Deals float64
	Score float64 // sum of A's scores over the deals, 0..Deals
}

const (
	// ridge is the precision, in log-odds, of the prior of a rating about the mean: a
	// deviation of 17,000 Elo. It decides only what no bout does, such as which of
	// two permanent partners is better.
	ridge = 1e-4
	// boundless is half the width of an interval, in Elo, that only the ridge bounds.
	boundless = 5000
)

// FitBouts finds the ratings under which the bouts of teams are most likely,
// with their 95 % intervals. It is the model of FitPairs with the mean of a
// team's members as its strength: a member's rating is what it adds to its
// teams, twice as much in a team of two. Duels between the members would not be
// enough: they ignore the partners, and count one result several times.
//
// Intervals are by the sandwich estimator with the bout as the unit, since its
// deals have the members in common. Time grows with bots³ and bots×bouts.
func FitBouts(bots int, bouts []Bout, o Options) ([]Estimate, error) {
	if err := o.check(bots); err != nil {
		return nil, err
	}
	if bots == 0 {
		return nil, nil
	}
	m := &boutModel{bots: bots, ratings: make([]float64, bots)}
	for i, b := range bouts {
		if err := b.check(bots); err != nil {
			return nil, fmt.Errorf("rating: bout %d: %w", i, err)
		}
		if b.Deals > 0 {
			m.bouts = append(m.bouts, b)
		}
	}
	m.spreadPrior(o.prior() / 2)
	inverse, err := m.maximise()
	if err != nil {
		return nil, err
	}
	return m.estimates(inverse, o), nil
}

func (b Bout) check(bots int) error {
	if len(b.A) == 0 || len(b.B) == 0 {
		return errors.New("a team has no members")
	}
	members := slices.Concat(b.A, b.B)
	for i, bot := range members {
		if bot < 0 || bot >= bots {
			return fmt.Errorf("bot %d is not one of the %d bots: they are numbered from 0", bot, bots)
		}
		if slices.Contains(members[:i], bot) {
			return fmt.Errorf("bot %d has two seats", bot)
		}
	}
	if !(b.Deals >= 0) || math.IsInf(b.Deals, 0) {
		return fmt.Errorf("deals cannot be %v: try 0 or more", b.Deals)
	}
	if slack := 1e-9 * (1 + b.Deals); !(b.Score >= -slack && b.Score <= b.Deals+slack) {
		return fmt.Errorf("score cannot be %v in %v deals: give the sum, from 0 to the deals", b.Score, b.Deals)
	}
	return nil
}

// each calls do with every member and its part in the team's lead.
func (b Bout) each(do func(bot int, part float64)) {
	for _, bot := range b.A {
		do(bot, 1/float64(len(b.A)))
	}
	for _, bot := range b.B {
		do(bot, -1/float64(len(b.B)))
	}
}

// lead returns the sum of the values by the members' parts.
func (b Bout) lead(values []float64) float64 {
	sum := 0.0
	b.each(func(bot int, part float64) { sum += part * values[bot] })
	return sum
}

// boutModel is the log-likelihood of ratings in log-odds.
type boutModel struct {
	bots    int
	bouts   []Bout
	virtual []float64 // by bout, the prior's deals
	ratings []float64
}

// spreadPrior gives half of each bot's virtual deals to each of its bouts in
// proportion to the deals, as Fit does for pairs.
func (m *boutModel) spreadPrior(half float64) {
	deals := make([]float64, m.bots)
	for _, b := range m.bouts {
		b.each(func(bot int, _ float64) { deals[bot] += b.Deals })
	}
	m.virtual = make([]float64, len(m.bouts))
	for k, b := range m.bouts {
		b.each(func(bot int, _ float64) { m.virtual[k] += half * b.Deals / deals[bot] })
	}
}

// counts returns a bout's wins and losses of A with the virtual deals.
func (m *boutModel) counts(k int) (won, lost float64) {
	b, v := m.bouts[k], m.virtual[k]/2
	return b.Score + v, b.Deals - b.Score + v
}

func (m *boutModel) value(ratings []float64) float64 {
	sum := 0.0
	for _, r := range ratings {
		sum -= ridge * r * r / 2
	}
	for k, b := range m.bouts {
		won, lost := m.counts(k)
		_, v := curve(b.lead(ratings), won, lost)
		sum += v
	}
	return sum
}

// derivatives returns the gradient and minus the Hessian.
func (m *boutModel) derivatives() ([]float64, *mat.SymDense) {
	gradient := make([]float64, m.bots)
	hessian := mat.NewSymDense(m.bots, nil)
	for i, r := range m.ratings {
		gradient[i] = -ridge * r
		hessian.SetSym(i, i, ridge)
	}
	for k, b := range m.bouts {
		won, lost := m.counts(k)
		g, _ := curve(b.lead(m.ratings), won, lost)
		pull, weight := won*(1-g)-lost*g, (won+lost)*g*(1-g)
		b.each(func(i int, p float64) {
			gradient[i] += p * pull
			b.each(func(j int, q float64) {
				if i <= j {
					hessian.SetSym(i, j, hessian.At(i, j)+weight*p*q)
				}
			})
		})
	}
	return gradient, hessian
}

// maximise moves the ratings to the maximum by Newton's method and returns the
// inverse of minus the Hessian there.
func (m *boutModel) maximise() (*mat.SymDense, error) {
	value := m.value(m.ratings)
	for range maxNewton {
		gradient, hessian := m.derivatives()
		var chol mat.Cholesky
		if !chol.Factorize(hessian) {
			return nil, errors.New("rating: the fit's curvature is not positive definite: give a larger prior")
		}
		var step mat.VecDense
		// A badly conditioned system is still usable: the ridge bounds it.
		if err := chol.SolveVecTo(&step, mat.NewVecDense(m.bots, gradient)); err != nil && !errors.As(err, new(mat.Condition)) {
			return nil, err
		}
		if longest := mat.Norm(&step, math.Inf(1)); longest < converged || !m.improve(&value, step.RawVector().Data, longest) {
			inverse := mat.NewSymDense(m.bots, nil)
			if err := chol.InverseTo(inverse); err != nil && !errors.As(err, new(mat.Condition)) {
				return nil, err
			}
			return inverse, nil
		}
	}
	return nil, errors.New("rating: the fit does not converge: give a larger prior")
}

// improve moves along the step, halved until the value does not fall.
func (m *boutModel) improve(value *float64, step []float64, longest float64) bool {
	try := make([]float64, m.bots)
	scale := maxStep / max(longest, maxStep)
	for range maxHalving {
		for i := range try {
			try[i] = m.ratings[i] + scale*step[i]
		}
		if next := m.value(try); next >= *value {
			improved := next > *value
			copy(m.ratings, try)
			*value = next
			return improved
		}
		scale /= 2
	}
	return false
}

// estimates returns the ratings relative to the anchor, or to the mean, with intervals.
func (m *boutModel) estimates(inverse *mat.SymDense, o Options) []Estimate {
	origin := make([]float64, m.bots) // what a rating is relative to
	zero := 0.0
	if o.Anchor != nil {
		origin[o.Anchor.Bot] = 1
		zero = o.Anchor.Elo
	} else {
		for i := range origin {
			origin[i] = 1 / float64(m.bots)
		}
	}
	base := 0.0
	for i, part := range origin {
		base += part * m.ratings[i]
	}
	spread := m.spread()
	out := make([]Estimate, m.bots)
	for i := range out {
		against := mat.NewVecDense(m.bots, nil)
		for j, part := range origin {
			against.SetVec(j, -part)
		}
		against.SetVec(i, against.AtVec(i)+1)
		var c mat.VecDense
		c.MulVec(inverse, against)
		h := z95 * eloPerNat * math.Sqrt(m.variance(c.RawVector().Data, spread))
		if h > boundless {
			h = math.Inf(1)
		}
		elo := zero + (m.ratings[i]-base)*eloPerNat
		out[i] = Estimate{Value: elo, Low: elo - h, High: elo + h}
	}
	return out
}

// spread returns the square of each bout's score less its expectation, inflated by
// one bout for every free rating, and the virtual deals' own.
func (m *boutModel) spread() []float64 {
	n := float64(len(m.bouts))
	inflate := n / max(n-float64(m.bots)+1, n/2)
	out := make([]float64, len(m.bouts))
	for k, b := range m.bouts {
		g, _ := curve(b.lead(m.ratings), 1, 1)
		rest := b.Score - b.Deals*g
		out[k] = inflate*rest*rest + m.virtual[k]*m.virtual[k]/4
	}
	return out
}

// variance returns the variance of the contrast c in the ratings, from the bouts and
// the ridge.
func (m *boutModel) variance(c, spread []float64) float64 {
	sum := 0.0
	for _, x := range c {
		sum += ridge * x * x
	}
	for k, b := range m.bouts {
		d := b.lead(c)
		sum += spread[k] * d * d
	}
	return sum
}
