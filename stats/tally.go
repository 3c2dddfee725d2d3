package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// sameScore is the maximum difference between two mean scores that count as equal. It is far below the smallest
// difference that any game can cause, and far above the rounding error of a mean.
const sameScore = 1e-9

// ScoreClass is a number of deals that have the same mean score. If a deal has two games, there are five classes,
// with the scores 0, 0.25, 0.5, 0.75 and 1 (the pentanomial distribution).
type ScoreClass struct {
	Score float64 `json:"score"`
	Deals int     `json:"deals"`
}

// Tally accumulates the results of one bot against another, from the view of the first. The unit is the deal: one
// shuffle, played in every seating. The zero value is empty. The time to add a deal does not grow with the number
// of deals.
type Tally struct {
	classes []ScoreClass // in increasing order of Score
	games   int
	score   moments
	points  moments
}

// Add adds the result of one deal, in which d.A must be the first bot.
func (t *Tally) Add(d Duel) {
	i, _ := slices.BinarySearchFunc(t.classes, d.Score-sameScore, func(c ScoreClass, s float64) int {
		if c.Score < s {
			return -1
		}
		return 1
	})
	if i == len(t.classes) || t.classes[i].Score > d.Score+sameScore {
		t.classes = slices.Insert(t.classes, i, ScoreClass{Score: d.Score})
	}
	t.classes[i].Deals++
	t.games += d.Games
	t.score.add(d.Score)
	t.points.add(d.Points)
}

// Deals returns the number of deals.
func (t *Tally) Deals() int { return t.score.n }

// Summary has statistics of the first of two bots against the second.
type Summary struct {
	Deals   int          `json:"deals"`
	Games   int          `json:"games"`
	Classes []ScoreClass `json:"classes"`
	Score   Estimate     `json:"score"` // mean score of a deal, from 0 to 1
	Elo     Estimate     `json:"elo"`   // Score converted to a difference in Elo
	// Swept is set if one bot won every game. Then Elo.Value is only the smallest difference whose score
	// rounds to this result, and one end of its interval is infinite.
	Swept  bool     `json:"swept"`
	LOS    float64  `json:"los"`    // likelihood, from 0 to 1, that the first bot is stronger
	Points Estimate `json:"points"` // mean over the deals: points per game minus those of the second bot
}

// Summary returns the statistics of the deals added so far. If there are none, it returns those of two equal bots,
// with intervals that contain every possible value.
func (t *Tally) Summary() Summary {
	s := Summary{Deals: t.score.n, Games: t.games, Classes: slices.Clone(t.classes), Points: t.points.estimate()}
	if t.score.n == 0 {
		s.Score = Estimate{Value: 0.5, Low: 0, High: 1}
		s.Elo = Estimate{Low: math.Inf(-1), High: math.Inf(1)}
		s.LOS = 0.5
		return s
	}
	mean := t.mean()
	s.Score = t.interval(mean)
	s.Swept = mean == 0 || mean == 1
	// The smallest score above 0 is half a point in all games together. Half of that is the usual continuity
	// correction.
	edge := 1 / (4 * float64(t.games))
	s.Elo = Estimate{Value: Elo(min(max(mean, edge), 1-edge)), Low: Elo(s.Score.Low), High: Elo(s.Score.High)}
	s.LOS = t.los(mean)
	return s
}

// Pentanomial returns how many deals of two games gave the first bot 0, 0.5, 1, 1.5 and 2 points. ok is false if
// the deals do not have two games each.
func (s Summary) Pentanomial() (deals [5]int, ok bool) {
	for _, c := range s.Classes {
		deals[int(math.Round(4*c.Score))] += c.Deals
	}
	return deals, s.Games == 2*s.Deals
}

// mean returns the mean score of the deals. It sums over the classes, so that rounding does not depend on the
// order of the deals.
func (t *Tally) mean() float64 {
	sum := 0.0
	for _, c := range t.classes {
		sum += c.Score * float64(c.Deals)
	}
	return min(sum/float64(t.score.n), 1)
}

// effectiveDeals returns how many independent wins and losses would give the same information as the deals in t.
// mean is their mean score. The result is the number of deals divided by the ratio of their variance to
// mean*(1-mean), the largest variance for this mean. One virtual deal of ratio 1 is included, so that a few equal
// deals do not count as certainty. With one deal, or if one bot won everything, the ratio is 1.
func (t *Tally) effectiveDeals(mean float64) float64 {
	n := float64(t.score.n)
	widest := mean * (1 - mean)
	if widest == 0 {
		return n
	}
	ss := 0.0
	for _, c := range t.classes {
		ss += float64(c.Deals) * (c.Score - mean) * (c.Score - mean)
	}
	effect := min((ss/widest+1)/n, 1)
	return n / effect
}

// interval returns the mean score with Wilson's interval for the effective number of deals. It uses Student's
// quantile because the variance is estimated. The interval lies within 0 to 1 and contains the mean.
func (t *Tally) interval(mean float64) Estimate {
	return wilson(mean, t.effectiveDeals(mean), float64(t.score.n))
}

// wilson returns mean, the fraction of n deals that were won, with Wilson's interval. The quantile is that of
// Student's distribution with the given degrees of freedom.
func wilson(mean, n, degrees float64) Estimate {
	q := studentQuantile(degrees)
	shrink := 1 + q*q/n
	centre := (mean + q*q/(2*n)) / shrink
	half := q / shrink * math.Sqrt(mean*(1-mean)/n+q*q/(4*n*n))
	e := Estimate{Value: mean, Low: max(centre-half, 0), High: min(centre+half, 1)}
	// If one side won everything, one end is the mean itself, up to rounding.
	if mean == 0 {
		e.Low = 0
	}
	if mean == 1 {
		e.High = 1
	}
	return e
}

// los returns the likelihood that the first bot is stronger. mean is its mean score. The result is 1 minus the
// one-sided p-value of Wilson's test for the opposite. It exceeds 97.5 % exactly if the interval of the score is
// above 0.5.
func (t *Tally) los(mean float64) float64 {
	n := t.effectiveDeals(mean)
	q := (mean - 0.5) * 2 * math.Sqrt(n)
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(t.score.n)}.CDF(q)
}

// Proportion returns share, the fraction of n independent games that have some property, with its Wilson
// interval. If n is 0, the interval is 0 to 1.
func Proportion(share float64, n int) Estimate {
	if n < 1 {
		return Estimate{Low: 0, High: 1}
	}
	return wilson(share, float64(n), float64(n))
}
