package simulation

import (
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/timba-arena/timba/stats"
)

// The result of a simulated game between two sides depends on the lead of the first one: the difference of
// skill, plus the luck of the deal, plus noise. The luck has the opposite sign in the other rotation of the
// deal; the noise is new in every game. Both are normal, and their variances add up to 1. A lead between
// -tieMargin and tieMargin is a tie.
//
// For equal skill these values give a variance of 0.226 for a game and 0.094 for the mean of a deal. Both
// are those of Brisca for two players, as measured in lab/results/duplicates.csv.
const (
	luckWeight  = 0.509
	noiseWeight = 0.861
	tieMargin   = 0.1225
)

// maxDiff is higher than any difference of Elo in the simulation.
const maxDiff = 4000

// skillByElo returns the differences of skill at which the expected score is that of a difference of 0, 1,
// 2... Elo. It computes them on the first call, because a computation at the start would delay every
// program, also in sandboxes.
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

// skill converts a difference in Elo, which may be negative, to the difference of skill in the simulated
// game that has the same expected score.
func skill(diff float64) float64 {
	x := min(math.Abs(diff), maxDiff)
	i := int(x)
	byElo := skillByElo()
	s := byElo[i] + (x-float64(i))*(byElo[i+1]-byElo[i])
	return math.Copysign(s, diff)
}

// playGame simulates one game and returns the first bot's score: 1, 0.5 or 0. The skill is the difference
// between both bots, and luck is the advantage that the deal gives the first one.
func playGame(r *rand.Rand, skill, luck float64) float64 {
	switch lead := skill + luck + noiseWeight*r.NormFloat64(); {
	case lead > tieMargin:
		return 1
	case lead < -tieMargin:
		return 0
	}
	return 0.5
}

// playDeal simulates a deal in both rotations and returns the first bot's mean score, from 0 to 1, for the
// given difference of skill.
func playDeal(r *rand.Rand, skill float64) float64 {
	l := luckWeight * r.NormFloat64()
	return (playGame(r, skill, l) + playGame(r, skill, -l)) / 2
}

// playSingle simulates one game on its own deal and returns the first bot's score, for a difference of skill.
func playSingle(r *rand.Rand, skill float64) float64 {
	return playGame(r, skill, luckWeight*r.NormFloat64())
}
