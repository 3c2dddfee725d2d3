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
	luck  = 0.509
	noise = 0.861
	tie   = 0.1225
)

// maxDiff is beyond any difference of Elo that is asked for.
const maxDiff = 4000

// skills has the skill at which the expected score is that of a difference of
// 0, 1, 2... Elo. It is made when it is asked for: every start of the program, and
// of every sandbox, would wait for it.
var skills = sync.OnceValue(func() []float64 {
	n := distuv.UnitNormal
	score := func(skill float64) float64 { return (n.CDF(skill-tie) + n.CDF(skill+tie)) / 2 }
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
	byElo := skills()
	s := byElo[i] + (x-float64(i))*(byElo[i+1]-byElo[i])
	return math.Copysign(s, diff)
}

// game returns one game's score, on a deal with the luck given.
func game(r *rand.Rand, skill, luck float64) float64 {
	switch lead := skill + luck + noise*r.NormFloat64(); {
	case lead > tie:
		return 1
	case lead < -tie:
		return 0
	}
	return 0.5
}

// deal plays one deal with both rotations and returns the first bot's mean score.
func deal(r *rand.Rand, skill float64) float64 {
	l := luck * r.NormFloat64()
	return (game(r, skill, l) + game(r, skill, -l)) / 2
}

// single plays one game on its own deal and returns the first bot's score.
func single(r *rand.Rand, skill float64) float64 {
	return game(r, skill, luck*r.NormFloat64())
}
