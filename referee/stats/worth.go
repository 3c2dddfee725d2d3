package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Worth compares duplicate deals with the same number of single games, each on its
// own deal with the bots seated at random.
type Worth struct {
	Rotations int      // games a deal
	Mean      Estimate // of the deals' means
	// GameVariance is the variance of one game on its own deal, DealVariance that of
	// a deal's mean over its rotations.
	GameVariance, DealVariance float64
}

// Factor returns how many single games have as much information as one game of a
// duplicate deal: GameVariance / (Rotations × DealVariance). 1 means that duplicate
// deals gain nothing; it is +Inf when all deals have the same mean but the games
// differ.
func (w Worth) Factor() float64 {
	if w.GameVariance == 0 {
		return 1
	}
	return w.GameVariance / (float64(w.Rotations) * w.DealVariance)
}

// MeasureWorth returns the worth of duplicate deals from a bot's scores (or points)
// by deal and rotation: two deals or more, each with all of its rotations.
func MeasureWorth(deals [][]float64) Worth {
	rotations := len(deals[0])
	var means moments
	within := 0.0
	for _, games := range deals {
		var m moments
		for _, x := range games {
			m.add(x)
		}
		means.add(m.mean)
		within += m.ss / float64(rotations)
	}
	n := float64(len(deals))
	w := Worth{Rotations: rotations, Mean: means.estimate(), DealVariance: means.ss / (n - 1)}
	// The variance of a game of a random deal and rotation is the variance between
	// deals plus the mean variance within a deal.
	w.GameVariance = w.DealVariance + within/n
	return w
}

// Needed returns how many independent deals, whose means have the given variance, it
// takes for the 95 % interval to exclude 0 with probability power (by convention
// 0.8) when the true effect is effect, in the unit of the standard deviation: by the
// normal approximation, ((z(0.975)+z(power)) × sd / effect)², rounded up, at least 2.
// ok is false where no number of deals is enough.
func Needed(effect, variance, power float64) (deals int, ok bool) {
	z := z95 + distuv.UnitNormal.Quantile(power)
	n := math.Ceil(z * z * variance / (effect * effect))
	if effect == 0 || n > 1<<53 {
		return 0, false
	}
	return max(int(n), 2), true
}

// Budget is what it takes to distinguish an effect from 0, with duplicate deals and
// without.
type Budget struct {
	Deals          int // duplicate deals
	DuplicateGames int // the games in them
	SingleGames    int // each on its own deal
}

// Budget applies Needed to both kinds of deal.
func (w Worth) Budget(effect, power float64) (b Budget, ok bool) {
	deals, ok := Needed(effect, w.DealVariance, power)
	games, enough := Needed(effect, w.GameVariance, power)
	return Budget{Deals: deals, DuplicateGames: deals * w.Rotations, SingleGames: games}, ok && enough
}
