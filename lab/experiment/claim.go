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

// Claim is a sentence of a study, as a hypothesis that games can refute: its effect is above Threshold. The effect is the
// mean of a measure over the columns Better, minus the mean over the columns Worse, minus Baseline. Shares are in percent.
type Claim struct {
	Quote       string   `json:"claim"`             // section and sentence of the study
	Rows        []string `json:"rows"`              // names of the matches or trainings whose games count
	Against     []string `json:"against,omitempty"` // names of other rows; if there are any, their effect is subtracted
	Measure     string   `json:"measure"`           // a key of measures
	Better      []string `json:"better"`
	Worse       []string `json:"worse,omitempty"`
	Baseline    float64  `json:"baseline"`
	StudyEffect float64  `json:"reported" toml:"reported"` // effect in the study
	Guessed     bool     `json:"guess"`                    // the study prints no figure, so that StudyEffect is a guess
	Threshold   float64  `json:"least" toml:"least"`       // the smallest effect that matters
	Spread      float64  `json:"spread"`                   // standard deviation of a unit, as assumed before the run
	Hours       float64  `json:"hours"`                    // duration of the run on two idle cores, with the training
}

// Evidence is the result of the test of a claim. Before the run, only ID, Claim and Power are set.
type Evidence struct {
	ID string `json:"id"`
	*Claim
	Games   int     `json:"games"`
	Units   int     `json:"units"`   // independent values: games or, where there are several, seeds of the training
	Effect  float64 `json:"effect"`  // mean
	SE      float64 `json:"se"`      // standard error of the mean
	Degrees float64 `json:"degrees"` // degrees of freedom
	P       float64 `json:"p"`       // of the hypothesis that the effect is Threshold; two-sided
	Low     float64 `json:"low"`     // interval of the effect, as wide as Holm's method demands
	High    float64 `json:"high"`
	Power   float64 `json:"power"` // probability of the verdict Holds if the reported effect is the true one
	Verdict Verdict `json:"verdict"`
}

// The verdicts on claims.
const (
	Holds       Verdict = "holds"
	DoesNotHold Verdict = "does not hold"
	Undecided   Verdict = "undecided"
	NotRun      Verdict = "not run"
)

// familyError is the probability, at most, that any of the claims of all studies gets a wrong verdict by chance.
const familyError = 0.05

// studyPrefix begins the names of the files with the claims of a study.
const studyPrefix = "claims-"

// Studies returns the experiments that test the claims of the studies, sorted by name.
func Studies() ([]*Experiment, error) { return readFiles(true) }

// FindStudy returns the experiment that tests the claims of the study with the given name.
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

// StudyName returns the name of the study whose claims the experiment tests.
func (e *Experiment) StudyName() string { return strings.TrimPrefix(e.Name, studyPrefix) }

// checkClaim checks that the claim is complete, and that its rows and columns exist.
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

// ClaimsWithin returns the number of claims, from the first on, that can be tested in the given number of hours.
func (e *Experiment) ClaimsWithin(hours float64) int {
	for i := range e.Claims {
		if hours -= e.Claims[i].Hours; hours < 0 {
			return i
		}
	}
	return len(e.Claims)
}

// NewEvidence returns the evidence of all claims before their run.
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

// plannedUnits returns the number of independent values of the given rows.
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

// TestClaim trains and plays what the claim of f needs, and adds the result to f.
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

// partFor returns a copy of e with only the matches, models and trainings that the claim needs and that have no results.
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

// units returns the independent values of the games in the named rows, and the number of the games. A game is a
// value; if a row has several seeds, the mean of each seed is one.
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

// value returns the effect in one game, without Baseline.
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

// difference returns the effect that independent values show, with its standard error and degrees of freedom, by
// Student's method or, if there are values of other rows, by Welch's.
func (c *Claim) difference(ours, against []float64) (effect, se, degrees float64) {
	mean, variance, degrees := c.meanVariance(ours)
	if len(against) == 0 {
		return mean - c.Baseline, math.Sqrt(variance), degrees
	}
	other, v, d := c.meanVariance(against)
	sum := variance + v
	return mean - other - c.Baseline, math.Sqrt(sum), sum * sum / (variance*variance/degrees + v*v/d)
}

// meanVariance returns the mean of values, its variance, and its degrees of freedom. Equal values do not count as
// certainty: they have about the variance that four more values would give them, at the other end of the measure. Then
// the interval is about that of the binomial distribution.
func (c *Claim) meanVariance(values []float64) (mean, variance, degrees float64) {
	mean, variance = stat.MeanVariance(values, nil)
	n := float64(len(values))
	if variance == 0 {
		opposite := 0.0
		if len(c.Worse) > 0 {
			opposite = -mean
		}
		variance = 4 * (mean - opposite) * (mean - opposite) / (n + 4)
	}
	return mean, variance / n, n - 1
}

// powerRuns is the number of runs that are simulated to find the power of a test.
const powerRuns = 4000

// power returns the probability that a test at the given level finds an effect above Threshold, if the effect is
// the reported one and values vary by Spread. ours and against are the numbers of values.
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

// quantile returns how many standard errors an interval of confidence 1 - level extends to each side.
func quantile(level, degrees float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: degrees}.Quantile(1 - level/2)
}

// Judge sets the intervals and verdicts of the claims of one study that were tested, by Holm's method over the
// claims of all studies. A claim of another study counts as undecided, so that the verdicts do not depend on it.
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
