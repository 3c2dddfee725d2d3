package rating

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Worth compares duplicate deals with the same number of single games, each on its
// own deal with the bots seated at random.
type Worth struct {
	Deals     int      `json:"deals"`
	Rotations int      `json:"rotations"` // games a deal
	Mean      Estimate `json:"mean"`      // of the deals' means
	// GameVariance is the variance of one game on its own deal, DealVariance that of
	// a deal's mean over its rotations.
	GameVariance float64 `json:"game_variance"`
	DealVariance float64 `json:"deal_variance"`
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
// by deal and rotation; every deal must have the same number of rotations.
func MeasureWorth(deals [][]float64) (Worth, error) {
	if len(deals) < 2 {
		return Worth{}, fmt.Errorf("rating: %d deals have no variance: give at least 2", len(deals))
	}
	rotations := len(deals[0])
	var means moments
	within := 0.0
	for i, games := range deals {
		if len(games) != rotations || rotations == 0 {
			return Worth{}, fmt.Errorf("rating: deal %d has %d games, the first has %d: give every rotation of each deal",
				i, len(games), rotations)
		}
		var m moments
		for _, x := range games {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return Worth{}, fmt.Errorf("rating: deal %d has the score %v, not a finite number", i, x)
			}
			m.add(x)
		}
		means.add(m.mean)
		within += m.ss / float64(rotations)
	}
	n := float64(len(deals))
	w := Worth{Deals: len(deals), Rotations: rotations, Mean: means.estimate(), DealVariance: means.ss / (n - 1)}
	// The variance of a game of a random deal and rotation is the variance between
	// deals plus the mean variance within a deal.
	w.GameVariance = w.DealVariance + within/n
	return w, nil
}

// Needed returns how many independent deals, whose means have the given variance, it
// takes for the 95 % interval to exclude 0 with probability power (by convention
// 0.8) when the true effect is effect, in the unit of the standard deviation: by the
// normal approximation, ((z(0.975)+z(power)) × sd / effect)², rounded up, at least 2.
func Needed(effect, variance, power float64) (int, error) {
	switch {
	case effect == 0 || math.IsNaN(effect) || math.IsInf(effect, 0):
		return 0, fmt.Errorf("rating: effect %v cannot be distinguished from 0 with any number of deals", effect)
	case !(variance >= 0) || math.IsInf(variance, 0):
		return 0, fmt.Errorf("rating: variance %v is not 0 or more", variance)
	case !(power >= 0.5 && power < 1):
		return 0, fmt.Errorf("rating: power %v is not from 0.5 to below 1: try 0.8", power)
	}
	z := z95 + distuv.UnitNormal.Quantile(power)
	n := math.Ceil(z * z * variance / (effect * effect))
	if n > 1<<53 {
		return 0, fmt.Errorf("rating: effect %v is too small to be distinguished from 0 with the variance %v", effect, variance)
	}
	return max(int(n), 2), nil
}

// Budget is what it takes to distinguish an effect from 0, with duplicate deals and
// without.
type Budget struct {
	Deals          int `json:"deals"`           // duplicate deals
	DuplicateGames int `json:"duplicate_games"` // the games in them
	SingleGames    int `json:"single_games"`    // each on its own deal
}

// Budget applies Needed to both kinds of deal.
func (w Worth) Budget(effect, power float64) (Budget, error) {
	deals, err := Needed(effect, w.DealVariance, power)
	if err != nil {
		return Budget{}, err
	}
	games, err := Needed(effect, w.GameVariance, power)
	if err != nil {
		return Budget{}, err
	}
	return Budget{Deals: deals, DuplicateGames: deals * w.Rotations, SingleGames: games}, nil
}
