package simulation

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/timba-arena/timba/ladder/rating"
)

// TrueSkill for two (Herbrich, Minka and Graepel 2007), which other sites rate
// bots with, after every game. Its constants stand to each other as the paper
// has them, on the scale of Elo: beta is the deviation of a performance, at which
// the curve is nearest to Elo's.
const (
	beta         = 209.0              // beta
	initialSigma = 2 * beta           // sigma of a newcomer
	tau          = initialSigma / 100 // tau
	drawMargin   = 0.1257 * math.Sqrt2 * beta
)

// rateByTrueSkill plays as many games as a match has, on a deal each. The variance is
// kept as the uncertainty of package ladder/rating, in the unit of a match's noise.
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

// variance returns that of a bot's Elo before a match.
func variance(e *rating.Entry) float64 {
	if e.Matches == 0 && !e.Fixed {
		return initialSigma * initialSigma
	}
	return e.Uncertainty * noiseVariance
}

// noiseVariance is the variance of a match's noise in Elo: that of a mean of ten deals.
const noiseVariance = 67.0 * 67.0

// corrections returns the mean and the loss of variance of a lead of t, cut to what a
// score says of it: v and w of the paper.
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
