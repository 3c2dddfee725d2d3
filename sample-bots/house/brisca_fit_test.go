package house

import (
	"flag"
	"math"
	"slices"
	"testing"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/brisca"
)

// fitDeals is 20 where the weights are only shown to get better.
var fitDeals = flag.Int("fit", 20, "deals that TestFitBriscaPlus plays for each candidate; 1000 to fit the weights")

// fields returns the weights that are fitted: all but gain, which is the unit.
func (w *plusWeights) fields() []*float64 {
	return []*float64{&w.plain, &w.value, &w.trump, &w.steep, &w.late, &w.draw}
}

// rivals are the agents that the weights are fitted against.
func rivals() []*briscaAgent {
	greedy := &plusAnswer{plus: plusWeights{gain: 1, plain: 0.05, value: 0.15, trump: 4, steep: 0.7, late: 0.5}}
	return []*briscaAgent{
		{appraiser: &studyAnswer{gain: 9.5, cost: 2, lead: studyLead}, ending: newBriscaEnding()},
		{appraiser: greedy, ending: newBriscaEnding()},
	}
}

// duel plays deals of two, from both seats each, and returns the average score of the first agent
// and its standard error.
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
			points += float64(duelScore(int(s.Points[seat]), int(s.Points[1-seat]))) / 2
		}
		sum += points
		squares += points * points
	}
	n := float64(deals)
	return sum / n, math.Sqrt(max(0, squares/n-sum/n*sum/n) / n)
}

// TestFitBriscaPlus finds weights by the cross-entropy method (Rubinstein, 1999): it draws candidates
// around the study's weights, plays each against the rivals, and goes on around the best. With
// -fit 1000 it prints those of @brisca-plus.
func TestFitBriscaPlus(t *testing.T) {
	const candidates, best = 24, 6
	generations := 14
	if *fitDeals < 100 {
		generations = 3
	}
	r := rules.NewRand(31)
	mean, spread := studyWeights, plusWeights{plain: 2, value: 3, trump: 20, steep: 8, late: 0.3, draw: 0.7}
	against := rivals()
	score := func(w plusWeights, seed uint64) (sum float64) {
		one := &briscaAgent{appraiser: &plusAnswer{plus: w}, ending: newBriscaEnding()}
		for _, other := range against {
			m, _ := duel(one, other, *fitDeals, seed)
			sum += m / float64(len(against))
		}
		return sum
	}
	for g := range generations {
		type candidate struct {
			w     plusWeights
			score float64
		}
		list := make([]candidate, candidates)
		for i := range list {
			w := mean
			for f, x := range w.fields() {
				*x += *spread.fields()[f] * normal(r)
			}
			list[i] = candidate{w, score(w, uint64(g))}
		}
		slices.SortFunc(list, func(a, b candidate) int {
			if a.score > b.score {
				return -1
			}
			return 1
		})
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
	const fresh = 1000
	t.Logf("fresh deals: study %.4f, mean %.4f, fitted %.4f", score(studyWeights, fresh), score(mean, fresh), score(fitted, fresh))
}

// normal returns a number of the standard normal distribution, nearly.
func normal(r *rules.Rand) (sum float64) {
	for range 12 {
		sum += float64(r.Below(1<<20)) / (1 << 20)
	}
	return sum - 6
}
