package simulation

import (
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/timba-arena/timba/stats"
)

// The result of a simulated game between two sides depends on the lead of the first side: the difference of
// skill, plus the luck of the deal, plus noise. Luck changes its sign when the same deal is played with exchanged
// seats; noise is new in every game. Both are normally distributed, and their variances add up to 1. A lead
// between -tieMargin and tieMargin is a tie.
//
// For equal skill the variance of the score is 0.226 for a game and 0.094 for the mean of a deal, as measured in
// Brisca for two players (lab/results/duplicates.csv).
const (
	luckWeight  = 0.509
	noiseWeight = 0.861
	tieMargin   = 0.1225
)

// maxDiff is an upper bound of the difference in Elo between two simulated bots.
const maxDiff = 4000

// skillByElo returns a list that converts a difference in Elo, its index, to the difference of skill that gives the
// same expected score. It computes the list in the first call. At the start of the program this would delay every
// program that imports the package, even in sandboxes.
var skillByElo = sync.OnceValue(func() []float64 {
	n := distuv.UnitNormal
	score := func(skill float64) float64 { return (n.CDF(skill-tieMargin) + n.CDF(skill+tieMargin)) / 2 }
	byElo := make([]float64, maxDiff+2)
	low := 0.0
	for elo := range byElo {
		want, a, b := stats.Score(float64(elo)), low, 40.0
		for range 60 {
			if mid := (a + b) / 2; score(mid) < want {
				a = mid
			} else {
				b = mid
			}
		}
		byElo[elo], low = a, a
	}
	return byElo
})

// skill converts a difference in Elo to the difference of skill that gives the same expected score in the simulated
// game. Both may be negative. The unit of skill is the standard deviation of luck plus noise in a game.
func skill(diff float64) float64 {
	x := min(math.Abs(diff), maxDiff)
	i := int(x)
	byElo := skillByElo()
	s := byElo[i] + (x-float64(i))*(byElo[i+1]-byElo[i])
	return math.Copysign(s, diff)
}

// playGame simulates one game and returns the score of the first bot: 1, 0.5 or 0. skill is the skill of the first
// bot minus the skill of the second, and luck is the advantage of the first from the deal (the shuffle). Both have
// the unit of the function skill and may be negative.
func playGame(r *rand.Rand, skill, luck float64) float64 {
	switch lead := skill + luck + noiseWeight*r.NormFloat64(); {
	case lead > tieMargin:
		return 1
	case lead < -tieMargin:
		return 0
	}
	return 0.5
}

// playDeal simulates two games with the same deal (shuffle) and exchanged seats. It returns the mean score of the
// first bot, from 0 to 1. The argument skill is the first bot's skill minus the second's, as the function skill
// computes it.
func playDeal(r *rand.Rand, skill float64) float64 {
	l := luckWeight * r.NormFloat64()
	return (playGame(r, skill, l) + playGame(r, skill, -l)) / 2
}

// playSingle simulates one game with a deal (shuffle) of its own and returns the score of the first bot. The
// argument skill is the first bot's skill minus the second's, as the function skill computes it.
func playSingle(r *rand.Rand, skill float64) float64 {
	return playGame(r, skill, luckWeight*r.NormFloat64())
}
