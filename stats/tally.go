package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// sameScore is the distance within which two mean scores are one class: far below the
// smallest step of any game, far above the rounding error of a mean.
const sameScore = 1e-9

// Class is the number of deals with one mean score. With two games a deal there are
// the five classes of the pentanomial: 0, 0.25, 0.5, 0.75, 1.
type Class struct {
	Score float64 `json:"score"`
	Deals int     `json:"deals"`
}

// Tally has the deals between two bots, from the first one's view. Its zero value is
// empty; adding a deal takes time in the number of classes, not of deals.
type Tally struct {
	classes []Class // by score, rising
	games   int
	score   moments
	points  moments
}

// Add adds one deal; the duel's A is the tally's first bot.
func (t *Tally) Add(d Duel) {
	i, _ := slices.BinarySearchFunc(t.classes, d.Score-sameScore, func(c Class, s float64) int {
		if c.Score < s {
			return -1
		}
		return 1
	})
	if i == len(t.classes) || t.classes[i].Score > d.Score+sameScore {
		t.classes = slices.Insert(t.classes, i, Class{Score: d.Score})
	}
	t.classes[i].Deals++
	t.games += d.Games
	t.score.add(d.Score)
	t.points.add(d.Points)
}

// Deals returns the number of deals.
func (t *Tally) Deals() int { return t.score.n }

// Summary has the figures of the first bot against the second.
type Summary struct {
	Deals   int      `json:"deals"`
	Games   int      `json:"games"`
	Classes []Class  `json:"classes"`
	Score   Estimate `json:"score"` // mean of the deals' mean scores
	Elo     Estimate `json:"elo"`   // the score through the logistic curve
	// Swept reports that one side won every game: Elo.Value is then only the least
	// value that rounds to such a score, and one end of the interval is open.
	Swept  bool     `json:"swept"`
	LOS    float64  `json:"los"`    // likelihood of superiority, 0 to 1
	Points Estimate `json:"points"` // points a game, own minus the other's
}

// Summary returns the figures. Without deals they are those of equal bots, with
// unbounded intervals.
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
	// The least score above a loss of every game is half a point in all games
	// together; half of that is the usual continuity correction.
	edge := 1 / (4 * float64(t.games))
	s.Elo = Estimate{Value: Elo(min(max(mean, edge), 1-edge)), Low: Elo(s.Score.Low), High: Elo(s.Score.High)}
	s.LOS = t.los(mean)
	return s
}

// Pentanomial returns the numbers of deals, or pairs of games, that scored 0, 0.5, 1,
// 1.5 and 2; ok is false unless each deal has two games.
func (s Summary) Pentanomial() (deals [5]int, ok bool) {
	for _, c := range s.Classes {
		deals[int(math.Round(4*c.Score))] += c.Deals
	}
	return deals, s.Games == 2*s.Deals
}

// mean returns the mean score. It sums the classes in their order, so that its last
// bits do not depend on the order of the deals.
func (t *Tally) mean() float64 {
	sum := 0.0
	for _, c := range t.classes {
		sum += c.Score * float64(c.Deals)
	}
	return min(sum/float64(t.score.n), 1)
}

// effectiveDeals returns how many all-or-nothing deals the tally is worth: the
// deals divided by their design effect, the ratio of their variance to the
// largest that their mean allows, m(1-m). The ratio includes one pseudo deal of
// ratio 1, so that a few equal deals do not count as certainty; with one deal, or a
// sweep, it is 1.
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

// interval returns Wilson's score interval on the effective number of deals, with
// Student's quantile because the variance is estimated. It lies within 0..1
// and contains the mean.
func (t *Tally) interval(mean float64) Estimate {
	return wilson(mean, t.effectiveDeals(mean), float64(t.score.n))
}

// wilson returns the interval of a mean over n all-or-nothing deals, with the quantile for some
// degrees of freedom.
func wilson(mean, n, degrees float64) Estimate {
	q := studentQuantile(degrees)
	shrink := 1 + q*q/n
	centre := (mean + q*q/(2*n)) / shrink
	half := q / shrink * math.Sqrt(mean*(1-mean)/n+q*q/(4*n*n))
	e := Estimate{Value: mean, Low: max(centre-half, 0), High: min(centre+half, 1)}
	// At a sweep one end is the mean itself, up to rounding.
	if mean == 0 {
		e.Low = 0
	}
	if mean == 1 {
		e.High = 1
	}
	return e
}

// los returns the one-sided level at which Wilson's test rejects "not better": it
// exceeds 97.5 % exactly when the interval is above 0.5.
func (t *Tally) los(mean float64) float64 {
	n := t.effectiveDeals(mean)
	q := (mean - 0.5) * 2 * math.Sqrt(n)
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(t.score.n)}.CDF(q)
}

// Proportion returns a share of n independent games, 0 to 1, with the interval that Summary.Score
// has for as many deals of one game. Without games the interval is 0 to 1.
func Proportion(share float64, n int) Estimate {
	if n < 1 {
		return Estimate{Low: 0, High: 1}
	}
	return wilson(share, float64(n), float64(n))
}
