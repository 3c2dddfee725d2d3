//go:build soak

package house

import (
	"cmp"
	"flag"
	"math"
	"slices"
	"testing"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/brisca"
)

// studyWeights are weights with which plusAppraiser values answers as the study does.
var studyWeights = plusWeights{gain: 9.5, plain: 2, steep: 20, late: 1}

// fitDeals is low by default, which only shows that the weights improve.
var fitDeals = flag.Int("fit", 20, "deals that TestFitBriscaPlus plays for each candidate; 2000 to fit the weights")

// fields returns pointers to the weights that are fitted: all except gain, which is the unit.
func (w *plusWeights) fields() []*float64 {
	return []*float64{&w.plain, &w.value, &w.trump, &w.steep, &w.late, &w.draw}
}

// rivals returns the agents against which the weights are fitted.
func rivals() []*briscaAgent {
	greedy := &plusAppraiser{weights: plusWeights{gain: 1, plain: 0.05, value: 0.15, trump: 4, steep: 0.7, late: 0.5}}
	return []*briscaAgent{
		{appraiser: &studyAppraiser{gain: 9.5, cost: 2, maxLead: studyMaxLead}, ending: newBriscaEnding()},
		{appraiser: greedy, ending: newBriscaEnding()},
	}
}

// duel plays deals between two agents, each deal twice with the seats swapped. It returns the average score
// of the first agent and its standard error.
func duel(one, other *briscaAgent, deals int, seed uint64) (mean, deviation float64) {
	sum, squares := 0.0, 0.0
	for deal := range deals {
		points := 0.0
		for seat := range 2 {
			r := rules.NewRand(seed*1_000_003 + uint64(deal))
			stream := rules.FastStream(r)
			var s brisca.State
			s.Deal(brisca.Rules{Players: 2}, &stream)
			for s.Turn() != rules.Over {
				a := other
				if s.Turn() == seat {
					a = one
				}
				m, _ := a.think(nil, &s, r, nil)
				s.Apply(m, nil)
			}
			points += float64(duelScore(int(s.Table.Points[seat]), int(s.Table.Points[1-seat]))) / 2
		}
		sum += points
		squares += points * points
	}
	n := float64(deals)
	return sum / n, math.Sqrt(max(0, squares/n-sum/n*sum/n) / n)
}

// rivalry returns the average score of an agent with the weights against the rivals.
func rivalry(w plusWeights, deals int, seed uint64) (sum float64) {
	one, against := &briscaAgent{appraiser: &plusAppraiser{weights: w}, ending: newBriscaEnding()}, rivals()
	for _, other := range against {
		m, _ := duel(one, other, deals, seed)
		sum += m / float64(len(against))
	}
	return sum
}

// fitPlus finds weights by the cross-entropy method (Rubinstein, 1999): it draws candidates around the
// study's weights, plays each against the rivals, and continues around the best ones.
func fitPlus(t *testing.T, generations, deals int) plusWeights {
	const candidates, best = 24, 6
	r := rules.NewRand(31)
	mean, spread := studyWeights, plusWeights{plain: 2, value: 3, trump: 20, steep: 8, late: 0.3, draw: 0.7}
	type candidate struct {
		w     plusWeights
		score float64
	}
	for g := range generations {
		list := make([]candidate, candidates)
		for i := range list {
			w := mean
			for f, x := range w.fields() {
				*x += *spread.fields()[f] * normal(r)
			}
			list[i] = candidate{w, rivalry(w, deals, uint64(g))}
		}
		slices.SortFunc(list, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
		for f := range mean.fields() {
			sum, squares := 0.0, 0.0
			for i := range list[:best] {
				x := *list[i].w.fields()[f]
				sum += x / best
				squares += x * x / best
			}
			*mean.fields()[f] = sum
			*spread.fields()[f] = math.Sqrt(max(0, squares-sum*sum)) * 1.1
		}
		t.Logf("generation %d: best %.4f, mean %+v", g, list[0].score, mean)
	}
	return mean
}

// TestFitBriscaPlus checks that a short fit finds better weights than the study's, but not better ones than
// those of @brisca-plus, on deals to which neither was fitted. With -fit 2000 it makes the long fit by which
// the weights of @brisca-plus were found.
func TestFitBriscaPlus(t *testing.T) {
	generations := 3
	if *fitDeals >= 100 {
		generations = 14
	}
	found := fitPlus(t, generations, *fitDeals)
	const fresh, deals = 1000, 1000
	study, short, long := rivalry(studyWeights, deals, fresh), rivalry(found, deals, fresh), rivalry(fittedWeights, deals, fresh)
	t.Logf("fresh deals: study %.4f, found %.4f, fitted %.4f", study, short, long)
	// The standard error of a score is about 0.01, and that of a difference on the same deals less.
	if short < study+0.02 {
		t.Errorf("the fit scores %.4f, the study's weights %.4f", short, study)
	}
	if long < short-0.01 {
		t.Errorf("@brisca-plus scores %.4f, a fit of %d deals %.4f", long, *fitDeals, short)
	}
}

// normal returns an approximately normally distributed random number with mean 0 and variance 1.
func normal(r *rules.Rand) (sum float64) {
	for range 12 {
		sum += float64(r.Below(1<<20)) / (1 << 20)
	}
	return sum - 6
}
