// Package tebesfit fits the weights of the bots for Tebes to figures that a study printed without the weights. Begin
// with Fit.
package tebesfit

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/optimize"

	"github.com/timba-arena/timba/lab/experiment"
	"github.com/timba-arena/timba/referee"
)

// tables names the tables to which the weights are fitted, each as a table of an experiment. All other tables of the
// study are held out.
var tables = [...]struct{ experiment, number string }{
	{"tebes-depth-4", "5.1"}, {"tebes-depth-6", "5.2"}, {"tebes-weights", "5.5"},
}

// Search says how long a fit searches, and with which games.
type Search struct {
	Games       int // games for each cell of the tables in a trial
	Evaluations int // number of trials
	Finalists   int // how many of the most likely trials are made again, with finalFactor times as many games
	Seed        uint64
	Play        experiment.Options        // how games are played; Fit sets the scale and the seed
	Progress    func(trials, planned int) // called after each trial
}

// finalFactor is the factor by which a finalist plays more games than the trials before.
const finalFactor = 4

// byHand is a set of weights that was chosen by hand, in which each level is about half of the level before. It is a
// finalist, too.
const byHand = "b1=60,b2=30,b3=15,b4=8,b5=6,b6=3,p1=60,p2=30,p3=15,c2=1500,c3=5"

// WeightTrial is a set of weights that a trial has tested, with its likelihoods.
type WeightTrial struct {
	Games   int    // for each cell
	Weights string // options of the bots, such as "b1=60,b2=30"
	// LogLikelihoods has, for each table, the logarithm of the probability of the published counts, given our games.
	LogLikelihoods [len(tables)]float64
}

// Sum returns the logarithm of the probability of all tables.
func (t *WeightTrial) Sum() (sum float64) {
	for _, x := range t.LogLikelihoods {
		sum += x
	}
	return sum
}

// Fit searches the weights that make the published counts most likely, by the evolution strategy CMA-ES (Hansen and
// Ostermeier, 2001; in the form of Krause, Arbonès and Igel, 2016). It returns all trials in their order. The last
// ones are the finalists, the most likely first.
func Fit(ctx context.Context, c Search) ([]WeightTrial, error) {
	var trials []WeightTrial
	var failure error
	try := func(weights string, games int) float64 {
		if failure != nil {
			return math.Inf(1)
		}
		var t WeightTrial
		if t, failure = c.evaluate(ctx, weights, games); failure != nil {
			return math.Inf(1)
		}
		trials = append(trials, t)
		c.Progress(len(trials), c.Evaluations+c.Finalists)
		return -t.Sum()
	}
	problem := optimize.Problem{Func: func(x []float64) float64 { return try(weightsAt(x), c.Games) }}
	settings := &optimize.Settings{FuncEvaluations: c.Evaluations, Converger: optimize.NeverTerminate{}}
	method := &optimize.CmaEsChol{InitStepSize: 0.5, Src: rand.NewPCG(c.Seed, 0)}
	if _, err := optimize.Minimize(problem, start[:], settings, method); err != nil && failure == nil {
		return nil, fmt.Errorf("fit of the weights: %w", err)
	}
	found := slices.Clone(trials)
	byLikelihood := func(a, b WeightTrial) int { return cmp.Compare(b.Sum(), a.Sum()) }
	slices.SortStableFunc(found, byLikelihood)
	finalists := found[:min(len(found), c.Finalists)]
	if len(finalists) > 0 {
		finalists = append(slices.Clone(finalists), WeightTrial{Weights: byHand})
	}
	for _, t := range finalists {
		try(t.Weights, finalFactor*c.Games)
	}
	slices.SortStableFunc(trials[len(found):], byLikelihood)
	return trials, failure
}

// start has the parameters at which the search begins: bonuses from 120 and penalties from 60, each half of the level
// before, and the weights 200 and 5 of pieces and threats.
var start = [...]float64{math.Log(120), 0, math.Log(60), 0, math.Log(200), math.Log(5)}

// weightsAt returns the options of the bots for the parameters x: the logarithms of the greatest bonus and penalty,
// each before the logit of the ratio of a level to the level before, and the logarithms of the weights of pieces and
// threats. All weights are whole numbers in the order that the study prints, B1 > ... > B6 > 0 and P1 > P2 > P3 > 0.
func weightsAt(x []float64) string {
	options := append(levels("b", 6, x[0], x[1]), levels("p", 3, x[2], x[3])...)
	c2, c3 := min(math.Round(math.Exp(x[4])), 10000), min(math.Round(math.Exp(x[5])), 1000)
	return strings.Join(append(options, fmt.Sprintf("c2=%.0f", c2), fmt.Sprintf("c3=%.0f", c3)), ",")
}

// levels returns the options of the given number of levels, from the greatest weight down. Each weight is the same part
// of the one before, but less by at least 1.
func levels(name string, count int, logTop, logit float64) (options []string) {
	weight, ratio, above := math.Exp(logTop), 1/(1+math.Exp(-logit)), 1001.0
	for level := range count {
		above = max(float64(count-level), min(math.Round(weight), above-1))
		options = append(options, fmt.Sprintf("%s%d=%.0f", name, level+1, above))
		weight *= ratio
	}
	return options
}

// evaluate plays the given number of games for each cell of the tables with the given weights.
func (c *Search) evaluate(ctx context.Context, weights string, games int) (WeightTrial, error) {
	t := WeightTrial{Games: games, Weights: weights}
	for i, table := range tables {
		e, err := experiment.Find(table.experiment)
		if err != nil {
			return t, err
		}
		for name := range e.Bots {
			e.Bots[name] += "," + weights
		}
		o := c.Play
		o.Scale = float64(games) / float64(e.Games)
		if o.Seed, err = referee.ParseSeed(strconv.FormatUint(c.Seed, 10)); err != nil {
			return t, err
		}
		found, err := e.Run(ctx, o)
		if err != nil {
			return t, err
		}
		for _, compared := range found.Tables {
			if compared.Number == table.number {
				t.LogLikelihoods[i] = logLikelihood(&compared)
			}
		}
	}
	return t, nil
}

// logLikelihood returns the logarithm of the probability of the published counts of a table, given our own. In each
// cell the probability of a win is unknown; it has the distribution that follows from our games and a uniform prior.
func logLikelihood(table *experiment.Comparison) (sum float64) {
	for _, f := range table.Figures {
		if f.Row == experiment.TotalRow {
			continue
		}
		n, m := float64(f.StudyGames), float64(f.Games)
		published, ours := math.Round(f.PublishedEstimate.Value*n/100), math.Round(f.OurEstimate.Value*m/100)
		sum += mathext.Lbeta(published+ours+1, n-published+m-ours+1) - mathext.Lbeta(ours+1, m-ours+1)
		sum -= math.Log(n+1) + mathext.Lbeta(published+1, n-published+1) // the binomial coefficient
	}
	return sum
}

// Write writes the trials of the search as CSV.
func (c *Search) Write(to io.Writer, trials []WeightTrial) error {
	fmt.Fprintf(to, "# command: timba-lab train tebes-weights --games %d --evaluations %d --finalists %d --seed %d\n", c.Games, c.Evaluations, c.Finalists, c.Seed)
	fmt.Fprintf(to, "# sample: by row, games is the number for each of the 36 cells; log likelihoods of the published counts, seed %d\n", c.Seed)
	w := csv.NewWriter(to)
	head := []string{"trial", "games", "weights"}
	for _, table := range tables {
		head = append(head, "table "+table.number)
	}
	w.Write(append(head, "all"))
	for i, t := range trials {
		row := []string{strconv.Itoa(i + 1), strconv.Itoa(t.Games), t.Weights}
		for _, x := range append(t.LogLikelihoods[:], t.Sum()) {
			row = append(row, strconv.FormatFloat(x, 'f', 1, 64))
		}
		w.Write(row)
	}
	w.Flush()
	return w.Error()
}
