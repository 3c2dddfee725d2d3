package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Claim is a conclusion of a study, put as a hypothesis that games can refute: its effect is above Threshold. The value
// of one game is Measure averaged over the columns Better, minus Measure averaged over the columns Worse. The effect is
// the mean value in the games of Rows, minus the mean value in the games of Against, minus Baseline. If Measure is a
// share of games, effects are in percent; otherwise they have the unit of Measure.
type Claim struct {
	Quote       string   `json:"claim"`                    // section of the study, a colon, and the sentence
	Rows        []string `json:"rows"`                     // names of the matches or trainings whose games count
	Against     []string `json:"against,omitempty"`        // names of the rows to compare with; nil for none
	Measure     string   `json:"measure"`                  // a key of the map measures, such as "wins"
	Better      []string `json:"better"`                   // columns of the table, such as names of bots
	Worse       []string `json:"worse,omitempty"`          // columns to compare with; nil for none
	Baseline    float64  `json:"baseline"`                 // a constant, such as the 25 % of each of four equal bots
	StudyEffect float64  `json:"reported" toml:"reported"` // effect in the study; above Threshold
	Guessed     bool     `json:"guess"`                    // true if StudyEffect is a guess: the study has no figure
	Threshold   float64  `json:"least" toml:"least"`       // the smallest effect that matters
	Spread      float64  `json:"spread"`                   // expected standard deviation of the independent values
	Hours       float64  `json:"hours"`                    // estimated hours on two idle cores, with the training
}

// Evidence is a claim of a study with the result of its test. Before the test, only ID, Claim and Power are set, and
// Verdict is NotRun.
type Evidence struct {
	ID string `json:"id"` // name of the study and number of the claim from 1, such as "teeko-1"
	*Claim
	Games   int     `json:"games"`   // number of games from which the result comes
	Units   int     `json:"units"`   // number of independent values: seeds if the training has several, otherwise games
	Effect  float64 `json:"effect"`  // measured effect, as Claim defines it
	SE      float64 `json:"se"`      // standard error of Effect
	Degrees float64 `json:"degrees"` // degrees of freedom of the t distribution of Effect
	P       float64 `json:"p"`       // two-sided p-value of the hypothesis that the true effect is Threshold
	Low     float64 `json:"low"`     // lower end of the confidence interval of the effect, see Judge
	High    float64 `json:"high"`    // upper end of the interval
	Power   float64 `json:"power"`   // probability of the verdict Holds, if the effect in the study is the true one
	Verdict Verdict `json:"verdict"`
}

// The verdicts on claims. They depend on where the confidence interval of the effect lies.
const (
	Holds       Verdict = "holds"         // the interval is above the claim's threshold
	DoesNotHold Verdict = "does not hold" // the interval is below the threshold
	Undecided   Verdict = "undecided"     // the threshold is in the interval
	NotRun      Verdict = "not run"       // the claim was not tested
)

// familyError is the highest accepted probability that chance alone gives a wrong verdict to any claim. It covers the
// claims of all studies together.
const familyError = 0.05

// studyPrefix is the beginning of the names of experiments that test claims of a study, such as "claims-teeko".
const studyPrefix = "claims-"

// Studies returns the embedded experiments that test claims (conclusions of studies), sorted by name. There is one for
// each study. Studies returns an error if a file of an experiment is not valid.
func Studies() ([]*Experiment, error) { return readFiles(true) }

// FindStudy returns the embedded experiment that tests the claims (conclusions) of the study with the given name, such
// as brisca-levels. If there is none, the error lists the names of all studies.
func FindStudy(name string) (*Experiment, error) {
	list, err := Studies()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range list {
		if e.StudyName() == name {
			return e, nil
		}
		names = append(names, e.StudyName())
	}
	return nil, fmt.Errorf("study %q does not exist: try %s", name, strings.Join(names, ", "))
}

// StudyName returns the name of the study whose claims e tests. It is e.Name without the prefix "claims-".
func (e *Experiment) StudyName() string { return strings.TrimPrefix(e.Name, studyPrefix) }

// checkClaim returns an error if a required field of c is missing, if its measure, rows or columns do not exist in e,
// or if its StudyEffect is not above its Threshold.
func (e *Experiment) checkClaim(c *Claim) error {
	m, ok := measures[c.Measure]
	switch {
	case c.Quote == "":
		return errors.New("the quote is missing")
	case !ok || m.kind != e.kind():
		return fmt.Errorf("measure %q does not exist: try %s", c.Measure, strings.Join(measureNames(e.kind()), ", "))
	case len(c.Rows) == 0 || len(c.Better) == 0:
		return errors.New("rows or better are missing")
	case c.Spread <= 0 || c.Hours <= 0:
		return errors.New("spread and hours must be above 0")
	case c.StudyEffect <= c.Threshold:
		return fmt.Errorf("reported is %g: it must be above least, %g", c.StudyEffect, c.Threshold)
	}
	columns := m.columns
	if columns == nil {
		columns = append(e.players(), seatColumn)
	}
	for _, name := range slices.Concat(c.Better, c.Worse) {
		if !slices.Contains(columns, name) {
			return fmt.Errorf("column %q does not exist: try %s", name, strings.Join(columns, ", "))
		}
	}
	for _, name := range slices.Concat(c.Rows, c.Against) {
		if e.rowIndex(name) < 0 {
			return fmt.Errorf("row %q does not exist", name)
		}
	}
	return nil
}

func (e *Experiment) rowIndex(name string) int {
	return slices.IndexFunc(e.rows, func(r row) bool { return r.name == name })
}

// ClaimsWithin returns how many claims of e can be tested in the given number of hours, by the estimates in
// Claim.Hours. It counts from the first claim on and stops at the first one for which no time is left.
func (e *Experiment) ClaimsWithin(hours float64) int {
	for i := range e.Claims {
		if hours -= e.Claims[i].Hours; hours < 0 {
			return i
		}
	}
	return len(e.Claims)
}

// NewEvidence returns one Evidence for each claim of e. Each has the power of its planned test and the verdict NotRun;
// TestClaim adds the results. NewEvidence returns an error if it cannot read the experiments of all studies.
func (e *Experiment) NewEvidence() (list []Evidence, err error) {
	studies, err := Studies()
	if err != nil {
		return nil, err
	}
	level := familyError / float64(claimCount(studies))
	for i := range e.Claims {
		c := &e.Claims[i]
		list = append(list, Evidence{
			ID: fmt.Sprintf("%s-%d", e.StudyName(), i+1), Claim: c, Verdict: NotRun,
			Power: c.power(e.plannedUnits(c.Rows), e.plannedUnits(c.Against), level),
		})
	}
	return list, nil
}

func claimCount(studies []*Experiment) (n int) {
	for _, e := range studies {
		n += len(e.Claims)
	}
	return n
}

// plannedUnits returns how many independent values a complete run gives for the named rows. If the training of a row is
// repeated with several seeds, this is the number of seeds. Otherwise it is the number of games of all named rows. It
// is 0 if rows is empty.
func (e *Experiment) plannedUnits(rows []string) (n int) {
	for _, name := range rows {
		r := e.rows[e.rowIndex(name)]
		if r.seedCount > 1 {
			return r.seedCount
		}
		n += r.games
	}
	return n
}

// TestClaim runs the trainings and games that the claim of f needs and stores the result of the test in f, except for
// its interval and verdict, which Judge sets. The scales and NodeRate in o are ignored, because the sample of a claim
// is fixed. The results of games are kept in e, so that another claim with the same rows does not play them again.
// After an error f is unchanged.
func (e *Experiment) TestClaim(ctx context.Context, o Options, f *Evidence) error {
	if e.claimResults == nil {
		e.claimResults = map[string][]result{}
	}
	part := e.partFor(f.Claim)
	o.Scale, o.TimeScale, o.TrainScale, o.NodeRate = 1, 1, 1, 0
	if o.Progress == nil {
		o.Progress = func(string, string, int, int) {}
	}
	rows, err := part.computeResults(ctx, &o, &Findings{TotalGames: part.totalGames(&o)})
	if err != nil {
		return err
	}
	for i, r := range part.rows {
		e.claimResults[r.name] = rows[i]
	}
	ours, n := e.units(f.Claim, f.Rows)
	against, m := e.units(f.Claim, f.Against)
	f.Games, f.Units = n+m, len(ours)+len(against)
	f.Effect, f.SE, f.Degrees = f.difference(ours, against)
	t := distuv.StudentsT{Sigma: 1, Nu: f.Degrees}
	f.P = 2 * t.CDF(-math.Abs(f.Effect-f.Threshold)/f.SE)
	return nil
}

// partFor returns a copy of e that has only what is left to run for the claim c: the rows that c names and that have no
// results yet, with their matches and models, and with the trainings from which they take weights.
func (e *Experiment) partFor(c *Claim) *Experiment {
	part := *e
	names := slices.DeleteFunc(slices.Concat(c.Rows, c.Against), func(name string) bool { return e.claimResults[name] != nil })
	part.Trainings = nil
	for _, t := range slices.Backward(e.Trainings) {
		if slices.Contains(names, t.Name) {
			part.Trainings = slices.Insert(part.Trainings, 0, t)
			names = append(names, t.From, t.Opponent)
		}
	}
	var bots []string
	part.Matches = slices.DeleteFunc(slices.Clone(e.Matches), func(m Matchup) bool { return !slices.Contains(names, m.Name) })
	for _, m := range part.Matches {
		bots = append(bots, m.Bots...)
	}
	part.Models = slices.DeleteFunc(slices.Clone(e.Models), func(m Model) bool { return !slices.Contains(bots, m.Name) })
	part.rows = slices.DeleteFunc(slices.Clone(e.rows), func(r row) bool { return !slices.Contains(names, r.name) })
	return &part
}

// units returns the independent values of claim c in the results of the named rows, and the number of their games. If
// the rows are trained with one seed, each game gives one value. If they are trained with several seeds, each seed
// gives one value: the mean of its games.
func (e *Experiment) units(c *Claim, names []string) (values []float64, games int) {
	seeds := 1
	var all []result
	for _, name := range names {
		seeds = e.rows[e.rowIndex(name)].seedCount
		all = append(all, e.claimResults[name]...)
	}
	bySeed := make([][]float64, seeds)
	for i := range all {
		bySeed[all[i].instance] = append(bySeed[all[i].instance], c.value(&all[i]))
	}
	if seeds == 1 {
		return bySeed[0], len(all)
	}
	for _, list := range bySeed {
		values = append(values, stat.Mean(list, nil))
	}
	return values, len(all)
}

// value returns the value of the claim in one game r: its measure averaged over the columns Better, minus the measure
// averaged over Worse. It is in percent if the measure is a share. Baseline is not subtracted.
func (c *Claim) value(r *result) (x float64) {
	m := measures[c.Measure]
	for _, column := range c.Better {
		x += m.value(r, column) / float64(len(c.Better))
	}
	for _, column := range c.Worse {
		x -= m.value(r, column) / float64(len(c.Worse))
	}
	if m.share {
		return 100 * x
	}
	return x
}

// difference returns the effect of the claim, its standard error, and the degrees of freedom of its t distribution.
// ours has the independent values in the games of Rows, against those in the games of Against. The method is Student's
// t test for one sample or, if against is not empty, Welch's t test for two.
func (c *Claim) difference(ours, against []float64) (effect, se, degrees float64) {
	mean, variance, degrees := c.meanVariance(ours)
	if len(against) == 0 {
		return mean - c.Baseline, math.Sqrt(variance), degrees
	}
	other, v, d := c.meanVariance(against)
	sum := variance + v
	return mean - other - c.Baseline, math.Sqrt(sum), sum * sum / (variance*variance/degrees + v*v/d)
}

// meanVariance returns the mean of values, the variance of this mean, and the degrees of freedom. If all values are
// equal, their own variance is 0, which would make the mean look certain. It is then replaced by about the variance
// that the values would have with four more at the other end of the scale: at 0 or, if the claim has Worse, at the
// negated mean; of shares that are all 0, at 100. The confidence interval becomes about as wide as a binomial one. If all
// values are 0 points, the variance remains 0.
func (c *Claim) meanVariance(values []float64) (mean, variance, degrees float64) {
	mean, variance = stat.MeanVariance(values, nil)
	n := float64(len(values))
	if variance == 0 {
		opposite := 0.0
		switch {
		case mean == 0 && measures[c.Measure].share:
			opposite = 100
		case len(c.Worse) > 0:
			opposite = -mean
		}
		variance = 4 * (mean - opposite) * (mean - opposite) / (n + 4)
	}
	return mean, variance / n, n - 1
}

// powerRuns is the number of simulated tests of a claim from which its power is estimated.
const powerRuns = 4000

// power returns the probability that a test of the claim has the verdict Holds, if the effect in the study is the true
// one. It simulates tests with ours values for Rows and against values for Against, which are normally distributed with
// the standard deviation Spread. level is the probability that the confidence interval misses the true effect.
func (c *Claim) power(ours, against int, level float64) float64 {
	r := rand.New(rand.NewPCG(1, 0))
	draw := func(n int, mean float64) (values []float64) {
		for range n {
			values = append(values, mean+c.Spread*r.NormFloat64())
		}
		return values
	}
	found := 0.0
	for range powerRuns {
		effect, se, degrees := c.difference(draw(ours, c.StudyEffect+c.Baseline), draw(against, 0))
		found += indicator(effect-quantile(level, degrees)*se > c.Threshold)
	}
	return found / powerRuns
}

// quantile returns how many standard errors a confidence interval extends to each side of the mean, by Student's t
// distribution. level is the probability that the interval misses the true value, such as 0.05.
func quantile(level, degrees float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: degrees}.Quantile(1 - level/2)
}

// Judge sets the confidence interval (Low and High) and the verdict of each tested claim in list, which has the claims
// of one study. It uses Holm's method over the claims of all studies, so that the probability of any wrong verdict is
// at most familyError. All claims that were not tested in list count as undecided, so that verdicts do not depend on
// other studies. Judge returns an error if it cannot read the experiments of all studies.
func Judge(list []Evidence) error {
	studies, err := Studies()
	if err != nil {
		return err
	}
	var tested []*Evidence
	for i := range list {
		if list[i].Units > 0 {
			tested = append(tested, &list[i])
		}
	}
	slices.SortStableFunc(tested, func(a, b *Evidence) int { return cmp.Compare(a.P, b.P) })
	left := claimCount(studies)
	for _, f := range tested {
		level := familyError / float64(left)
		half := quantile(level, f.Degrees) * f.SE
		f.Low, f.High = f.Effect-half, f.Effect+half
		if measures[f.Measure].share {
			f.Low, f.High = max(f.Low, -100), min(f.High, 100)
		}
		switch {
		case f.Low > f.Threshold:
			f.Verdict = Holds
		case f.High < f.Threshold:
			f.Verdict = DoesNotHold
		default:
			f.Verdict = Undecided
			continue
		}
		left--
	}
	return nil
}
