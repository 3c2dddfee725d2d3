package bench

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/timba-arena/timba/stats"
)

// worth compares duplicate deals with single games. A duplicate deal is a shuffle of the cards that is played once
// with every seating of the bots. A single game has its own shuffle and random seats.
type worth struct {
	rotations int            // games of a deal
	mean      stats.Estimate // of the means of the deals
	// gameVariance is the variance of a single game. dealVariance is the variance of the mean of a duplicate deal,
	// which is taken over its games.
	gameVariance, dealVariance float64
}

// factor returns how many single games give as much information about the strength of a bot as one game of a
// duplicate deal: gameVariance / (rotations × dealVariance). 1 means that duplicate deals are no better than single
// games. factor returns +Inf if dealVariance is 0 and gameVariance is not, and 1 if both are 0.
func (w worth) factor() float64 {
	if w.gameVariance == 0 {
		return 1
	}
	return w.gameVariance / (float64(w.rotations) * w.dealVariance)
}

// newWorth computes the worth of duplicate deals from the results of a bot, which are its scores or its points.
// deals has the results by deal and rotation (seating): at least two deals, each with all rotations.
func newWorth(deals [][]float64) worth {
	var means, within []float64
	for _, games := range deals {
		mean, variance := stat.PopMeanVariance(games, nil)
		means, within = append(means, mean), append(within, variance)
	}
	w := worth{rotations: len(deals[0]), mean: stats.Mean(means), dealVariance: stat.Variance(means, nil)}
	// Law of total variance: the variance of a game on a random deal is the variance between
	// deals plus the mean variance within a deal.
	w.gameVariance = w.dealVariance + stat.Mean(within, nil)
	return w
}

// requiredDeals returns how many independent deals are needed so that the 95 % interval of their mean excludes 0
// with probability power (by convention 0.8). effect is the true mean of a deal, and variance its variance. By the
// normal approximation the number is ((z(0.975)+z(power)) × sd / effect)², rounded up, and at least 2. If no number
// of deals is enough, ok is false.
func requiredDeals(effect, variance, power float64) (deals int, ok bool) {
	z := distuv.UnitNormal.Quantile((1+stats.Confidence)/2) + distuv.UnitNormal.Quantile(power)
	n := math.Ceil(z * z * variance / (effect * effect))
	if effect == 0 || n > 1<<53 {
		return 0, false
	}
	return max(int(n), 2), true
}

// budget is the number of games that are needed to distinguish an effect from 0.
type budget struct {
	deals          int // duplicate deals
	duplicateGames int // games of these deals
	singleGames    int // games that each have their own deal
}

// budget returns the numbers of duplicate deals and of single games that are needed to distinguish an effect
// from 0 with probability power. If no number is enough, ok is false.
func (w worth) budget(effect, power float64) (b budget, ok bool) {
	deals, ok := requiredDeals(effect, w.dealVariance, power)
	games, enough := requiredDeals(effect, w.gameVariance, power)
	return budget{deals: deals, duplicateGames: deals * w.rotations, singleGames: games}, ok && enough
}
