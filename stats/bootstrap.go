package stats

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
)

// samples is the number of random reweightings from which Bootstrap computes its intervals.
const samples = 1000

// Bootstrap returns the ratings of FitPairs with 95 % intervals, by bot. It repeats the fit many times. Each time
// it gives every deal (all games with one shuffle) a random weight, which is exponentially distributed: the
// Bayesian bootstrap (Rubin 1981) or weighted likelihood bootstrap (Newton and Raftery 1994). A weight applies to
// all duels of the deal. It is never 0, so that no fit loses the deals that connect two bots. The virtual ties that
// FitPairs adds have random weights too; otherwise the interval of a bot that won everything would be a point. The
// interval of a bot without deals is infinite. The same deals give the same intervals on every machine.
func Bootstrap(bots int, deals []Deal) []Estimate { return bootstrap(bots, deals, samples, 0) }

func bootstrap(bots int, deals []Deal, samples int, seed uint64) []Estimate {
	fit := FitPairs(bots, Count(deals), nil)
	fits := resample(fit, drawsOf(fit, deals), samples, seed)
	out := make([]Estimate, bots)
	elos := make([]float64, samples)
	for i, elo := range fit.Elo {
		out[i] = Estimate{Value: elo, Low: math.Inf(-1), High: math.Inf(1)}
		if !fit.bounded(i) {
			continue
		}
		for s := range fits {
			elos[s] = fits[s][i]
		}
		slices.Sort(elos)
		out[i].Low, out[i].High = quantile(elos, (1-Confidence)/2), quantile(elos, (1+Confidence)/2)
	}
	return out
}

// resample fits the ratings again as many times as samples says, each time with other random weights for the deals.
// draws has the scores of each deal. The result has the ratings in Elo, by repetition, then by bot. It depends on
// seed, but not on the number of processors.
func resample(fit *Fit, draws [][]draw, samples int, seed uint64) [][]float64 {
	fits := make([][]float64, samples)
	workers := min(runtime.GOMAXPROCS(0), samples)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			m := fit.model()
			nats := make([]float64, len(fit.nats))
			for s := w; s < samples; s += workers {
				weigh(m, fit, draws, rand.New(rand.NewPCG(seed, uint64(s))))
				copy(nats, fit.nats)
				m.maximize(nats)
				fit.center(nats)
				fits[s] = fit.scale(nats)
			}
		})
	}
	group.Wait()
	return fits
}

// draw is the score of one duel: of one bot against another in all games with one shuffle. It does not mean a tie.
type draw struct {
	pair  int // index in Fit.pairs
	score float64
}

// drawsOf returns the scores of each deal, one for every two bots that were opponents in it. fit must have been
// made from the same deals.
func drawsOf(fit *Fit, deals []Deal) (draws [][]draw) {
	index := make(map[[2]int]int, len(fit.pairs))
	for k, p := range fit.pairs {
		index[[2]int{p.A, p.B}] = k
	}
	for _, deal := range deals {
		var duels []draw
		for _, duel := range deal {
			duels = append(duels, draw{pair: index[[2]int{duel.A, duel.B}], score: duel.Score})
		}
		draws = append(draws, duels)
	}
	return draws
}

// weigh sets the wins and losses of m to sums over draws, the scores of each deal, after it has given each deal a
// random weight. The virtual ties in fit, each half a win and half a loss, get random weights too. The weight of a
// half is the product of a random number for the winner and one for the loser.
func weigh(m *model, fit *Fit, draws [][]draw, r *rand.Rand) {
	// The model does not use these slices until it is maximized.
	win, loss := m.step, m.trial
	for i := range win {
		win[i], loss[i] = r.ExpFloat64(), r.ExpFloat64()
	}
	for k, e := range m.ends {
		half := fit.virtual[k] / 2
		m.wins[k] = half * win[e[0]] * loss[e[1]]
		m.losses[k] = half * loss[e[0]] * win[e[1]]
	}
	for _, deal := range draws {
		w := r.ExpFloat64()
		for _, x := range deal {
			m.wins[x.pair] += w * x.score
			m.losses[x.pair] += w * (1 - x.score)
		}
	}
}

// quantile returns the p-quantile of sorted, a list in ascending order that is not empty. p is from 0 to 1. It
// interpolates linearly.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
