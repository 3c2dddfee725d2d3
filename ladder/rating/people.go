package rating

import (
	"math"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/stats"
)

// Glicko is the rating of a person in a game. It is computed by Glicko-2: Mark E. Glickman, "Example of the Glicko-2
// system", 2013. Comments name the steps and symbols of that paper. Each game is a rating period, in the words of the
// paper, for its players.
type Glicko struct {
	Rating     float64 `json:"rating"`
	Deviation  float64 `json:"deviation"`  // the true rating is within twice the deviation with a probability of 95 %
	Volatility float64 `json:"volatility"` // how much the true rating is expected to change with time
}

// People returns the new ratings of the people who played a game of variant v. before has their ratings before the
// game, and ranks has their ranks in the game. Both slices and the result have an element for each seat. For each
// player, the game counts as one result against every player of another side.
func (f Formula) People(v *rules.Variant, before []Glicko, ranks []int) []Glicko {
	after := make([]Glicko, len(before))
	for seat, p := range before {
		var duels []duel
		for other, opponent := range before {
			if v.Side(other) == v.Side(seat) {
				continue
			}
			duels = append(duels, duel{opponent, stats.RankScore(ranks[seat], ranks[other])})
		}
		after[seat] = f.afterPeriod(p, duels)
	}
	return after
}

// duel is the result of a player against one opponent in a game.
type duel struct {
	opponent Glicko  // rating before the game
	score    float64 // from 0 to 1
}

// afterPeriod returns the rating of p after a rating period with the given results, of which there must be at least
// one. It rounds each product separately, so that all machines compute the same.
func (f Formula) afterPeriod(p Glicko, duels []duel) Glicko {
	mu, phi := (p.Rating-f.Person.Rating)/f.Scale, p.Deviation/f.Scale // step 2
	information, sum := 0.0, 0.0                                       // 1/v and Δ/v, steps 3 and 4
	for _, d := range duels {
		deviation := d.opponent.Deviation / f.Scale
		g := 1 / math.Sqrt(1+float64(3*deviation*deviation)/(math.Pi*math.Pi))
		e := logistic(g * (mu - (d.opponent.Rating-f.Person.Rating)/f.Scale))
		information += float64(g * g * e * (1 - e))
		sum += float64(g * (d.score - e))
	}
	square := float64(phi * phi)
	sigma := f.volatility(p, square, 1/information, sum/information)
	square = 1 / (1/(square+float64(sigma*sigma)) + information) // steps 6 and 7
	return Glicko{p.Rating + float64(f.Scale*square*sum), f.Scale * math.Sqrt(square), sigma}
}

// volatility returns the volatility of p after a rating period, by step 5 of the Glicko-2 paper. square is the square
// of phi; variance and delta are v and delta of the paper. In the paper, A and x are the logarithms of the squares of
// the old and the new volatility; the code uses their difference t instead.
func (f Formula) volatility(p Glicko, square, variance, delta float64) float64 {
	old := float64(p.Volatility * p.Volatility)
	rest := func(t float64) float64 {
		grown := float64(old * power(t))
		whole := square + variance + grown
		return float64(grown*(float64(delta*delta)-whole))/float64(2*whole*whole) - float64(t/(f.Tau*f.Tau))
	}
	end := f.Tau
	if rest(0) < 0 {
		end = -f.Tau
	}
	for rest(end) > 0 == (end > 0) {
		end *= 2
	}
	low := 0.0
	for range 64 { // rest decreases
		if middle := (low + end) / 2; rest(middle) > 0 == (end > 0) {
			low = middle
		} else {
			end = middle
		}
	}
	return p.Volatility * power(low/2)
}

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
