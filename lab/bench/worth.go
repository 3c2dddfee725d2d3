package bench

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/timba-arena/timba/stats"
)

// worth compares duplicate deals with the same number of single games, each on its
// own deal with the bots seated at random.
type worth struct {
	rotations int            // games a deal
	mean      stats.Estimate // of the deals' means
	// gameVariance is the variance of one game on its own deal, dealVariance that of
	// a deal's mean over its rotations.
	gameVariance, dealVariance float64
}

// factor returns how many single games have as much information as one game of a
// duplicate deal: gameVariance / (rotations × dealVariance). 1 means that duplicate
// deals gain nothing; it is +Inf when all deals have the same mean but the games
// differ.
func (w worth) factor() float64 {
	if w.gameVariance == 0 {
		return 1
	}
	return w.gameVariance / (float64(w.rotations) * w.dealVariance)
}

// newWorth returns the worth of duplicate deals from a bot's scores (or points)
// by deal and rotation: two deals or more, each with all of its rotations.
func newWorth(deals [][]float64) worth {
	var means, within []float64
	for _, games := range deals {
		mean, variance := stat.PopMeanVariance(games, nil)
		means, within = append(means, mean), append(within, variance)
	}
	w := worth{rotations: len(deals[0]), mean: stats.Mean(means), dealVariance: stat.Variance(means, nil)}
	// The variance of a game of a random deal and rotation is the variance between
	// deals plus the mean variance within a deal.
	w.gameVariance = w.dealVariance + stat.Mean(within, nil)
	return w
}

// requiredDeals returns how many independent deals, whose means have the given variance, it
// takes for the 95 % interval to exclude 0 with probability power (by convention
// 0.8) when the true effect is effect, in the unit of the standard deviation: by the
// normal approximation, ((z(0.975)+z(power)) × sd / effect)², rounded up, at least 2.
// ok is false where no number of deals is enough.
func requiredDeals(effect, variance, power float64) (deals int, ok bool) {
	z := distuv.UnitNormal.Quantile((1+stats.Confidence)/2) + distuv.UnitNormal.Quantile(power)
	n := math.Ceil(z * z * variance / (effect * effect))
	if effect == 0 || n > 1<<53 {
		return 0, false
	}
	return max(int(n), 2), true
}

// budget is what it takes to distinguish an effect from 0, with duplicate deals and
// without.
type budget struct {
	deals          int // duplicate deals
	duplicateGames int // the games in them
	singleGames    int // each on its own deal
}

// budget applies needed to both kinds of deal.
func (w worth) budget(effect, power float64) (b budget, ok bool) {
	deals, ok := requiredDeals(effect, w.dealVariance, power)
	games, enough := requiredDeals(effect, w.gameVariance, power)
	return budget{deals: deals, duplicateGames: deals * w.rotations, singleGames: games}, ok && enough
}
