// Package stats computes the statistics of matches: the Elo difference of two bots, sequential tests, and the
// ratings of a whole tournament. It only computes, and knows nothing of games or processes.
//
// The unit of every statistic is the deal, never the single game. A deal is one shuffle of the cards, played once
// in each rotation of the bots through the seats. Its games share the cards, so they are not independent.
// docs/ratings.md has the formulas, the reasons and the papers.
//
// Begin with Tally for two bots, SPRT for a sequential test, and FitPairs for the ratings of many bots.
package stats

import (
	"encoding/json"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is the confidence level of all intervals in this package.
const Confidence = 0.95

// eloPerNat converts log-odds to Elo: 400 Elo are odds of ten to one.
const eloPerNat = 400 / math.Ln10

// z95 is the number of standard deviations around the mean that contain 95 % of a normal distribution.
var z95 = distuv.UnitNormal.Quantile((1 + Confidence) / 2)

// Duel is the result of bot A against bot B in one deal: in all games that are played with one shuffle, one game
// for each seating of the bots.
type Duel struct {
	A, B   int     // the bots, numbered from 0
	Games  int     // number of games in which the two were opponents
	Score  float64 // A's mean score against B: win 1, tie 0.5, loss 0
	Points float64 // A's mean points per game minus B's
}

// Deal is the result of all games that are played with one shuffle, one game for each seating of the bots. It has
// one Duel for every two bots that were opponents, with A below B.
type Deal []Duel

// Reverse returns the same result with A and B exchanged.
func (d Duel) Reverse() Duel {
	return Duel{A: d.B, B: d.A, Games: d.Games, Score: 1 - d.Score, Points: -d.Points}
}

// Estimate is an estimated value with its 95 % interval from Low to High. If the data do not bound one end, that
// end is infinite, and null in JSON.
type Estimate struct {
	Value, Low, High float64
}

// PlusMinus returns half the width of the interval, the number after the ± sign.
func (e Estimate) PlusMinus() float64 { return (e.High - e.Low) / 2 }

// Reverse returns the estimate of the negated value.
func (e Estimate) Reverse() Estimate {
	return Estimate{Value: -e.Value, Low: -e.High, High: -e.Low}
}

// MarshalJSON returns {"value":..,"low":..,"high":..}, with null for infinite numbers.
func (e Estimate) MarshalJSON() ([]byte, error) {
	finite := func(x float64) *float64 {
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return nil
		}
		return &x
	}
	return json.Marshal(estimateJSON{finite(e.Value), finite(e.Low), finite(e.High)})
}

// UnmarshalJSON reads what MarshalJSON writes: null becomes NaN as a value, and infinite as an end of the interval.
func (e *Estimate) UnmarshalJSON(data []byte) error {
	var j estimateJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	number := func(x *float64, unknown float64) float64 {
		if x == nil {
			return unknown
		}
		return *x
	}
	*e = Estimate{number(j.Value, math.NaN()), number(j.Low, math.Inf(-1)), number(j.High, math.Inf(1))}
	return nil
}

type estimateJSON struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// Elo returns the rating difference, in Elo, for which a player's expected score is score, from 0 to 1. It is
// infinite for 0 and 1.
func Elo(score float64) float64 {
	return eloPerNat * (math.Log(score) - math.Log1p(-score))
}

// Score returns the expected score, from 0 to 1, of a player whose rating is higher by elo.
func Score(elo float64) float64 { return logistic(elo / eloPerNat) }

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// Mean returns the mean of independent values, such as one for each deal, with Student's interval. For fewer
// than two values the interval is infinite.
func Mean(values []float64) Estimate {
	var m moments
	for _, x := range values {
		m.add(x)
	}
	return m.estimate()
}

// moments accumulates the number of values, their mean, and the sum of their squared deviations from it, by
// Welford's algorithm.
type moments struct {
	n        int
	mean, ss float64
}

func (m *moments) add(x float64) {
	m.n++
	d := x - m.mean
	m.mean += d / float64(m.n)
	m.ss += d * (x - m.mean)
}

func (m *moments) estimate() Estimate {
	if m.n < 2 {
		return Estimate{Value: m.mean, Low: math.Inf(-1), High: math.Inf(1)}
	}
	n := float64(m.n)
	h := studentQuantile(n-1) * math.Sqrt(m.ss/(n-1)/n)
	return Estimate{Value: m.mean, Low: m.mean - h, High: m.mean + h}
}

func studentQuantile(degrees float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: degrees}.Quantile((1 + Confidence) / 2)
}
