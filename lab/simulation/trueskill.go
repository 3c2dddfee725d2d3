package simulation

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/timba-arena/timba/ladder/rating"
)

// TrueSkill for two players (Herbrich, Minka and Graepel, 2007), applied after every game as on other sites
// for bots. The constants have the ratios of the paper, on the scale of Elo. beta is the standard deviation
// of a bot's performance in one game; with this value the expected scores are nearest to those of Elo.
const (
	beta         = 209.0
	initialSigma = 2 * beta           // of a newcomer
	tau          = initialSigma / 100 // its square is added to the variance before each game
	drawMargin   = 0.1257 * math.Sqrt2 * beta
)

// rateByTrueSkill plays the games of a match between two bots, each game on its own deal, and updates the bots'
// ratings by TrueSkill. In an Entry, it stores the variance of a rating as a multiple of noiseVariance.
func rateByTrueSkill(w *world, bots []int) {
	s := w.skillDifference(bots)
	a, b := &w.entries[bots[0]], &w.entries[bots[1]]
	va, vb := variance(a), variance(b)
	for range 2 * w.deals {
		va, vb = va+tau*tau, vb+tau*tau
		if a.Fixed {
			va = 0
		}
		if b.Fixed {
			vb = 0
		}
		c2 := 2*beta*beta + va + vb
		c := math.Sqrt(c2)
		shift, shrink := corrections((a.Elo-b.Elo)/c, drawMargin/c, playSingle(w.r, s))
		a.Elo += va / c * shift
		b.Elo -= vb / c * shift
		va *= 1 - va/c2*shrink
		vb *= 1 - vb/c2*shrink
	}
	a.Uncertainty, b.Uncertainty = va/noiseVariance, vb/noiseVariance
	a.Matches++
	b.Matches++
}

// variance returns the variance of a bot's Elo before a match, in Elo², as rateByTrueSkill has stored it.
func variance(e *rating.Entry) float64 {
	if e.Matches == 0 && !e.Fixed {
		return initialSigma * initialSigma
	}
	return e.Uncertainty * noiseVariance
}

// noiseVariance is the variance, in Elo², of a strength that is measured by the mean result of ten deals.
const noiseVariance = 67.0 * 67.0

// corrections returns the values of the functions v and w of the TrueSkill paper for a game with the given score. t
// is the lead in rating, and margin the lead below which a game is a draw, both divided by the standard deviation.
// v shifts the mean of the lead, and w reduces its variance.
func corrections(t, margin, score float64) (v, w float64) {
	n := distuv.UnitNormal
	switch score {
	case 0:
		v, w = corrections(-t, margin, 1)
		return -v, w
	case 1:
		x := t - margin
		v = n.Prob(x) / max(n.CDF(x), 1e-12)
		return v, v * (v + x)
	}
	p := max(n.CDF(margin-t)-n.CDF(-margin-t), 1e-12)
	v = (n.Prob(-margin-t) - n.Prob(margin-t)) / p
	return v, v*v + ((margin-t)*n.Prob(margin-t)+(margin+t)*n.Prob(margin+t))/p
}
