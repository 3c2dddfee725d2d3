// Package tebesfit searches weights for the bots of the game Tebes. A study printed results of its bots without their
// weights; the package searches the weights with which our games fit these results best. Begin with Fit.
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

// tables names the published tables to which the weights are fitted: each is a table of an embedded experiment, with
// its number in the study. The other tables of the study are not used, so that they can test the weights.
var tables = [...]struct{ experiment, number string }{
	{"tebes-depth-4", "5.1"}, {"tebes-depth-6", "5.2"}, {"tebes-weights", "5.5"},
}

// Search is the configuration of a search for weights.
type Search struct {
	Games       int                       // games of a trial for each cell (pairing) of the tables
	Evaluations int                       // number of trials (of one set of weights each) before the finalists
	Finalists   int                       // how many of the best trials are repeated, with more games
	Seed        uint64                    // seed of the search and of all games
	Play        experiment.Options        // how games are played; Fit sets the scale and the seed
	Progress    func(trials, planned int) // called after each trial; must not be nil
}

// finalFactor is the number of games of a finalist for each cell of the tables, as a multiple of Search.Games.
const finalFactor = 4

// byHand is a set of weights that was chosen by hand, as options of the bots. Most bonuses (b) and penalties (p) are
// about half of the one before. It is played among the finalists, for comparison.
const byHand = "b1=60,b2=30,b3=15,b4=8,b5=6,b6=3,p1=60,p2=30,p3=15,c2=1500,c3=5"

// WeightTrial is a set of weights that was tried, with the likelihood of the published results.
type WeightTrial struct {
	Games   int    // number of games for each cell of the tables
	Weights string // options of the bots, such as "b1=60,b2=30"
	// LogLikelihoods has, for each of the tables, the natural logarithm of the probability of the published numbers
	// of wins, given the results of our games with these weights.
	LogLikelihoods [len(tables)]float64
}

// Sum returns the natural logarithm of the probability of the published numbers of wins in all tables together. It is
// the sum of t.LogLikelihoods.
func (t *WeightTrial) Sum() (sum float64) {
	for _, x := range t.LogLikelihoods {
		sum += x
	}
	return sum
}

// Fit searches the weights that make the published numbers of wins most likely, by the evolution strategy CMA-ES
// (Hansen and Ostermeier, 2001; in the form of Krause, Arbonès and Igel, 2016). It returns all trials: first those of
// the search in their order, then the finalists, the most likely first. If games cannot be played, it also returns the
// trials before.
func Fit(ctx context.Context, c Search) ([]WeightTrial, error) {
	var trials []WeightTrial
	var failure error
	planned := c.Evaluations + c.Finalists
	if c.Finalists > 0 {
		planned++ // byHand
	}
	try := func(weights string, games int) float64 {
		if failure != nil {
			return math.Inf(1)
		}
		var t WeightTrial
		if t, failure = c.evaluate(ctx, weights, games); failure != nil {
			return math.Inf(1)
		}
		trials = append(trials, t)
		c.Progress(len(trials), planned)
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

// start is the point at which the search begins, in the form of the argument of weightsAt. The bonuses begin with 120
// and the penalties with 60, each half of the one before. The weights of pieces and threats are 200 and 5.
var start = [...]float64{math.Log(120), 0, math.Log(60), 0, math.Log(200), math.Log(5)}

// weightsAt returns the options of the bots, such as "b1=60,b2=30", for a point x of the search. x has six numbers: the
// logarithm of the highest bonus, the logit of the ratio of each bonus to the one before, the same two for the
// penalties, and the logarithms of the weights of pieces (c2) and threats (c3). All weights are whole numbers. Bonuses
// fall from b1 to b6, and penalties from p1 to p3, as the study demands; none of them is 0.
func weightsAt(x []float64) string {
	options := append(levels("b", 6, x[0], x[1]), levels("p", 3, x[2], x[3])...)
	c2, c3 := min(math.Round(math.Exp(x[4])), 10000), min(math.Round(math.Exp(x[5])), 1000)
	return strings.Join(append(options, fmt.Sprintf("c2=%.0f", c2), fmt.Sprintf("c3=%.0f", c3)), ",")
}

// levels returns a number of options with falling weights, such as "b1=60" and "b2=30". name is their letter and count
// their number. The first weight is exp(logTop). The ratio of each weight to the one before is 1/(1+exp(-logit)).
// Weights are then rounded and adjusted to be from 1 to 1000, each at least 1 below the one before.
func levels(name string, count int, logTop, logit float64) (options []string) {
	weight, ratio, above := math.Exp(logTop), 1/(1+math.Exp(-logit)), 1001.0
	for level := range count {
		above = max(float64(count-level), min(math.Round(weight), above-1))
		options = append(options, fmt.Sprintf("%s%d=%.0f", name, level+1, above))
		weight *= ratio
	}
	return options
}

// evaluate plays games with the given weights, which are options of the bots, and returns how likely these games make
// the published results. games is the number of games for each cell of the tables.
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

// logLikelihood returns the natural logarithm of the probability of the published numbers of wins in a table, given our
// own numbers. In each cell, the unknown probability of a win has the distribution that follows from our games and a
// uniform prior. The row of totals does not count.
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

// Write writes the trials to the writer to as CSV, in their order, after two lines of comment. Each line has the
// weights of a trial and its log likelihoods, by table and in all.
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
