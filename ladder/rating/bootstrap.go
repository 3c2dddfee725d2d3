package rating

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
)

// Resampling has the options of Bootstrap; the zero value is the default.
type Resampling struct {
	Samples int    // 0 stands for 1,000
	Seed    uint64 // the same seed gives the same intervals on any machine
}

const (
	defaultSamples = 1000
	maxSamples     = 1_000_000
)

// Bootstrap returns the ratings of FitDeals with 95 % intervals from refitting with
// the deals weighted at random: the Bayesian bootstrap (Rubin 1981), which for
// a likelihood is the weighted likelihood bootstrap (Newton and Raftery 1994).
// Each deal, with all its duels, has a weight from the exponential
// distribution, and so have the virtual half wins and half losses of each bot:
// without that, the interval of a bot that won everything would be a point. Weights
// are never 0, so no resample loses the deals that connect two bots.
func Bootstrap(bots int, deals []Deal, o Options, r Resampling) ([]Estimate, error) {
	if r.Samples == 0 {
		r.Samples = defaultSamples
	}
	if r.Samples < 0 || r.Samples > maxSamples {
		return nil, fmt.Errorf("rating: bootstrap samples cannot be %d: try 1 to %d", r.Samples, maxSamples)
	}
	fit, err := FitDeals(bots, deals, o)
	if err != nil {
		return nil, err
	}
	samples := resample(fit, newDraws(fit, deals), r)
	out := make([]Estimate, bots)
	elos := make([]float64, r.Samples)
	for i := range out {
		if !fit.bounded(i) {
			out[i] = fit.unbounded(i)
			continue
		}
		for s := range samples {
			elos[s] = samples[s][i]
		}
		slices.Sort(elos)
		out[i] = Estimate{
			Value: fit.Elo[i],
			Low:   quantile(elos, (1-Confidence)/2),
			High:  quantile(elos, (1+Confidence)/2),
		}
	}
	return out, nil
}

// resample fits every sample, on all processors; each sample has its own generator,
// so the result does not depend on which processor takes it.
func resample(fit *Fit, d *draws, r Resampling) [][]float64 {
	samples := make([][]float64, r.Samples)
	workers := min(runtime.GOMAXPROCS(0), r.Samples)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			m := newModel(len(fit.nats), fit.pairs)
			nats := make([]float64, len(fit.nats))
			for s := w; s < r.Samples; s += workers {
				d.weigh(m, fit, rand.New(rand.NewPCG(r.Seed, uint64(s))))
				copy(nats, fit.nats)
				m.maximise(nats)
				fit.centre(nats)
				samples[s] = fit.options.scale(nats)
			}
		})
	}
	group.Wait()
	return samples
}

// draws has the duels of every deal, by the index of their pair in the fit.
type draws struct {
	ends  []int // by deal, where its duels end
	duels []draw
}

type draw struct {
	pair  int
	score float64 // of the pair's A
}

func newDraws(fit *Fit, deals []Deal) *draws {
	index := make(map[[2]int]int, len(fit.pairs))
	for k, p := range fit.pairs {
		index[[2]int{p.A, p.B}] = k
	}
	d := new(draws)
	for _, deal := range deals {
		for _, duel := range deal {
			if duel.A > duel.B {
				duel = duel.Reverse()
			}
			d.duels = append(d.duels, draw{pair: index[[2]int{duel.A, duel.B}], score: duel.Score})
		}
		d.ends = append(d.ends, len(d.duels))
	}
	return d
}

// weigh sets the model's counts to one resample's. A virtual half win of A
// over B is one of A's wins and one of B's losses: it has the weight of both.
func (d *draws) weigh(m *model, fit *Fit, r *rand.Rand) {
	// The model's scratch by bot is free until it is maximised.
	win, loss := m.step, m.try
	for i := range win {
		win[i], loss[i] = r.ExpFloat64(), r.ExpFloat64()
	}
	for k, e := range m.ends {
		half := fit.virtual[k] / 2
		m.won[k] = half * win[e[0]] * loss[e[1]]
		m.lost[k] = half * loss[e[0]] * win[e[1]]
	}
	start := 0
	for _, end := range d.ends {
		w := r.ExpFloat64()
		for _, x := range d.duels[start:end] {
			m.won[x.pair] += w * x.score
			m.lost[x.pair] += w * (1 - x.score)
		}
		start = end
	}
}

// quantile interpolates between the sorted values.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
