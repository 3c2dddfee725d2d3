package rating

import (
	"math"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/stats"
)

// The ratings of people are by Glicko-2: Mark E. Glickman, "Example of the Glicko-2 system", 2013, whose numbers of
// steps and names of values the comments have. A game is a rating period for those who play it.
const (
	personStart = 1500.0
	personScale = 173.7178 // of a rating and its deviation in the paper's μ and φ
	tau         = 0.5      // how much volatilities change
)

// Person is the rating of a person in a game.
type Person struct {
	Rating     float64
	Deviation  float64 // within twice as much the rating is right with a probability of 95 %
	Volatility float64
}

// NewPerson is a rating before the first game.
var NewPerson = Person{personStart, 350, 0.06}

// People returns the ratings of the people of a game after it, by seat, from those before it and the ranks: each
// has played against each of the other sides.
func People(v *rules.Variant, before []Person, ranks []int) []Person {
	after := make([]Person, len(before))
	for seat, p := range before {
		var duels []duel
		for other, opponent := range before {
			if v.Side(other) == v.Side(seat) {
				continue
			}
			duels = append(duels, duel{opponent, stats.RankScore(ranks[seat], ranks[other])})
		}
		after[seat] = p.after(duels)
	}
	return after
}

// duel is a result against one other.
type duel struct {
	opponent Person // before the period
	score    float64
}

// after returns the rating after a period with at least one result. Each product is rounded separately, as in exp.
func (p Person) after(duels []duel) Person {
	mu, phi := (p.Rating-personStart)/personScale, p.Deviation/personScale // step 2
	information, sum := 0.0, 0.0                                           // 1/v and Δ/v, steps 3 and 4
	for _, d := range duels {
		deviation := d.opponent.Deviation / personScale
		g := 1 / math.Sqrt(1+float64(3*deviation*deviation)/(math.Pi*math.Pi))
		e := logistic(g * (mu - (d.opponent.Rating-personStart)/personScale))
		information += float64(g * g * e * (1 - e))
		sum += float64(g * (d.score - e))
	}
	square := float64(phi * phi)
	sigma := p.volatility(square, 1/information, sum/information)
	square = 1 / (1/(square+float64(sigma*sigma)) + information) // steps 6 and 7
	return Person{p.Rating + float64(personScale*square*sum), personScale * math.Sqrt(square), sigma}
}

// volatility returns the volatility after a period, step 5. The paper's A and x are the logarithms of the squares of
// the old and the new volatility; here t is their difference.
func (p Person) volatility(square, variance, delta float64) float64 {
	old := float64(p.Volatility * p.Volatility)
	f := func(t float64) float64 {
		grown := float64(old * power(t))
		whole := square + variance + grown
		return float64(grown*(float64(delta*delta)-whole))/float64(2*whole*whole) - float64(t/(tau*tau))
	}
	end := tau
	if f(0) < 0 {
		end = -tau
	}
	for f(end) > 0 == (end > 0) {
		end *= 2
	}
	low := 0.0
	for range 64 { // f falls
		if middle := (low + end) / 2; f(middle) > 0 == (end > 0) {
			low = middle
		} else {
			end = middle
		}
	}
	return p.Volatility * power(low/2)
}

// power returns e to the power of x, as exp does.
func power(x float64) float64 {
	if x > 0 {
		return 1 / exp(-x)
	}
	return exp(x)
}

// logistic returns 1 / (1 + e to the power of -x).
func logistic(x float64) float64 {
	if x < 0 {
		e := exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + exp(-x))
}
