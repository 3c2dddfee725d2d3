package simulation

import (
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/timba-arena/timba/stats"
)

// A simulated game of two: the first is ahead by the difference of skill, the
// luck of the deal, which the other rotation turns round, and noise, which is
// new in every game. Their variances add up to 1; a lead within tie of 0 is a
// tie. With these figures and equal skill the variance of a game is 0.226 and of
// a deal's mean 0.094, which are those of Brisca for two, measured for the table
// in lab/results/duplicates.csv.
const (
	luckWeight  = 0.509
	noiseWeight = 0.861
	tieMargin   = 0.1225
)

// maxDiff is beyond any difference of Elo that is asked for.
const maxDiff = 4000

// skillByElo has the skill at which the expected score is that of a difference of
// 0, 1, 2... Elo. It is made when it is asked for: every start of the program, and
// of every sandbox, would wait for it.
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

// skill returns the difference of skill with the expected score of diff Elo.
func skill(diff float64) float64 {
	x := min(math.Abs(diff), maxDiff)
	i := int(x)
	byElo := skillByElo()
	s := byElo[i] + (x-float64(i))*(byElo[i+1]-byElo[i])
	return math.Copysign(s, diff)
}

// playGame returns one game's score, on a deal with the luck given.
func playGame(r *rand.Rand, skill, luck float64) float64 {
	switch lead := skill + luck + noiseWeight*r.NormFloat64(); {
	case lead > tieMargin:
		return 1
	case lead < -tieMargin:
		return 0
	}
	return 0.5
}

// playDeal plays one deal with both rotations and returns the first bot's mean score.
func playDeal(r *rand.Rand, skill float64) float64 {
	l := luckWeight * r.NormFloat64()
	return (playGame(r, skill, l) + playGame(r, skill, -l)) / 2
}

// playSingle plays one game on its own deal and returns the first bot's score.
func playSingle(r *rand.Rand, skill float64) float64 {
	return playGame(r, skill, luckWeight*r.NormFloat64())
}
