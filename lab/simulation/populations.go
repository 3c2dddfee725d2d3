package simulation

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/stats"
)

// population describes the bots and matches of a typical ladder of a competition.
type population struct {
	name           string
	ladder         string                       // name in the default configuration
	deals          int                          // of a match; 0 means that of the ladder
	strengths      func(r *rand.Rand) []float64 // returns the true strength by bot, with the anchor first
	firstVersioned int                          // index from which on bots get new versions; 0 means none
}

// newVersion is the number of matches after which some bots of a population get a new version.
const newVersion = 10

// demoDeals is the number of deals in a match of the demo competition.
const demoDeals = 2

var populations = []population{
	{name: "demo", ladder: "brisca-2", deals: demoDeals, strengths: demoStrengths(0)},
	{name: "demo, wide gap", ladder: "tebes-6-random", deals: demoDeals, strengths: demoStrengths(400)},
	{name: "demo, four seats", ladder: "podrida-4", deals: demoDeals, strengths: demoStrengths(0)},
	{name: "demo, two teams", ladder: "brisca-4-teams", deals: demoDeals, strengths: demoStrengths(0)},
	{name: "default", ladder: "brisca-2", strengths: demoStrengths(0)},
	{name: "default, wide gap", ladder: "tebes-6-random", strengths: demoStrengths(400)},
	{name: "default, two teams", ladder: "brisca-4-teams", strengths: demoStrengths(0)},
	{name: "50 different bots", ladder: "brisca-2", strengths: normalStrengths(50)},
	{name: "20 bots, new versions of 5", ladder: "brisca-2", strengths: normalStrengths(20), firstVersioned: 15},
}

// demoStrengths returns a function that returns the true strengths of the bots in the demo competition. The bots
// are the anchor (with a fixed rating), a weak house bot, thirteen equal starter bots, and six stronger house bots.
// The argument gap, in Elo, is added to the usual strengths of these six.
func demoStrengths(gap float64) func(*rand.Rand) []float64 {
	return func(*rand.Rand) []float64 {
		bots := append([]float64{rating.Current.Anchor, 1050}, slices.Repeat([]float64{1100}, 13)...)
		for _, strength := range []float64{1400, 1600, 1800, 1900, 2000, 2200} {
			bots = append(bots, strength+gap)
		}
		return bots
	}
}

// normalStrengths returns a function that draws the true strengths of the given number of bots. They are normally
// distributed, except for the first bot, the anchor, whose rating is fixed.
func normalStrengths(bots int) func(*rand.Rand) []float64 {
	return func(r *rand.Rand) []float64 { return drawStrengths(r, bots) }
}

// PopulationResult is the result of simulating one typical ladder: how accurate its ratings are. Slots is the
// number of bots in a match, and Deals the number of deals.
type PopulationResult struct {
	Name   string      `json:"name"`
	Bots   int         `json:"bots"`
	Slots  int         `json:"slots"`
	Deals  int         `json:"deals"`
	Points []Agreement `json:"points"`
}

// Agreement shows how well ratings agree with the true strengths after each bot has played a number of matches. Its
// values are means over the runs, with intervals.
type Agreement struct {
	Matches int      `json:"matches"`
	Elo     Accuracy `json:"elo"`
	Fit     Accuracy `json:"fit"` // of the maximum-likelihood ratings
	// Coverage is the share of intervals of maximum-likelihood ratings that contain the true strength.
	Coverage stats.Estimate `json:"covered"`
}

// Accuracy measures in three ways how much ratings differ from the true strengths.
type Accuracy struct {
	WrongOrder stats.Estimate `json:"wrong"`    // share of pairs of unequal bots in the wrong order
	Bias       stats.Estimate `json:"distance"` // mean rating minus mean true strength, with the anchor at its own Elo
	Error      stats.Estimate `json:"error"`    // root mean square error in Elo
}

// smallLadderFactor is the factor for Config.Runs with which populations are simulated. A small ladder gives less
// data, so there are ten times as many.
const smallLadderFactor = 10

// agreementMatches are the numbers of matches of each bot after which the ratings are compared.
var agreementMatches = []int{3, 7, 10, 30, 100}

// agreementSample has the values of one simulated ladder from which an Agreement is computed.
type agreementSample struct {
	elo, fit accuracy
	coverage float64
}

type accuracy struct{ wrongOrder, bias, err float64 }

// SimulatePopulations simulates ladders of several typical populations, rated by the method of timba's ladders.
func SimulatePopulations(ctx context.Context, c Config) (out []PopulationResult, err error) {
	c.Runs *= smallLadderFactor
	ladders := config.Default().Ladders
	for _, p := range populations {
		l := ladders[slices.IndexFunc(ladders, func(l ladder.Ladder) bool { return l.Name == p.ladder })]
		if p.deals > 0 {
			l.Deals = p.deals
		}
		runs := make([][]agreementSample, c.Runs)
		err := c.forEachRun(ctx, func(run int, truth, play *rand.Rand) (err error) {
			runs[run], err = p.sampleLadder(ctx, l, truth, play)
			return err
		})
		if err != nil {
			return nil, err
		}
		result := PopulationResult{Name: p.name, Slots: l.Bots, Deals: l.Deals, Bots: len(p.strengths(rand.New(rand.NewPCG(0, 0))))}
		for i, matches := range agreementMatches {
			mean := func(of func(agreementSample) float64) stats.Estimate {
				values := make([]float64, len(runs))
				for run := range runs {
					values[run] = of(runs[run][i])
				}
				return stats.Mean(values)
			}
			accuracies := func(of func(agreementSample) accuracy) Accuracy {
				return Accuracy{
					WrongOrder: mean(func(a agreementSample) float64 { return of(a).wrongOrder }),
					Bias:       mean(func(a agreementSample) float64 { return of(a).bias }),
					Error:      mean(func(a agreementSample) float64 { return of(a).err }),
				}
			}
			result.Points = append(result.Points, Agreement{
				Matches:  matches,
				Elo:      accuracies(func(a agreementSample) accuracy { return a.elo }),
				Fit:      accuracies(func(a agreementSample) accuracy { return a.fit }),
				Coverage: mean(func(a agreementSample) float64 { return a.coverage }),
			})
		}
		out = append(out, result)
	}
	return out, nil
}

// sampleLadder simulates a ladder with the rules of l. It compares the ratings with the true strengths each time
// that the number of matches of each bot reaches a value of agreementMatches. Random strengths are drawn from
// truth, and random results of games from play.
func (p *population) sampleLadder(ctx context.Context, l ladder.Ladder, truth, play *rand.Rand) (looks []agreementSample, err error) {
	w, err := newWorld(play, l, p.strengths(truth))
	if err != nil {
		return nil, err
	}
	for _, at := range agreementMatches {
		for len(w.sides)*w.matches < at*len(w.live) {
			for _, i := range w.step(ladderMethod) {
				if p.firstVersioned > 0 && i >= p.firstVersioned && w.entries[i].Matches == newVersion {
					w.replace(i, w.strengths[i]+20+50*truth.NormFloat64())
				}
			}
		}
		look, err := w.sampleAgreement()
		if err != nil {
			return nil, err
		}
		looks = append(looks, look)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return looks, nil
}

// sampleAgreement compares the Elo ratings and the maximum-likelihood ratings with the true strengths. It compares
// only bots that still play.
func (w *world) sampleAgreement() (a agreementSample, err error) {
	fitted, err := w.fit().Intervals()
	if err != nil {
		return a, err
	}
	fits := make([]float64, len(fitted))
	for i, e := range fitted {
		fits[i] = e.Value
	}
	for _, i := range w.live {
		if i > 0 && fitted[i].Low <= w.strengths[i] && w.strengths[i] <= fitted[i].High {
			a.coverage += 1 / float64(len(w.live)-1)
		}
	}
	a.elo, a.fit = w.accuracy(w.elos()), w.accuracy(fits)
	return a, nil
}

// accuracy compares ratings, which has a rating for each bot, with the true strengths. It compares only bots that
// still play.
func (w *world) accuracy(ratings []float64) (a accuracy) {
	pairs, others := 0.0, float64(len(w.live)-1) // bots without the anchor
	for _, i := range w.live {
		d := ratings[i] - w.strengths[i]
		a.bias += d / others
		a.err += d * d / others
		for _, j := range w.live {
			if w.strengths[i] <= w.strengths[j] {
				continue
			}
			pairs++
			if ratings[i] < ratings[j] {
				a.wrongOrder++
			} else if ratings[i] == ratings[j] {
				a.wrongOrder += 0.5
			}
		}
	}
	a.wrongOrder, a.err = a.wrongOrder/pairs, math.Sqrt(a.err)
	return a
}
