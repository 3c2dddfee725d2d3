package experiment

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/timba-arena/timba/stats"
)

// Comparison is a table of measured numbers next to the published ones.
type Comparison struct {
	Number string `json:"number"`
	Title  string `json:"title"`
	// Way says whether the bots were trained with all defects of the study's program or with none. It is "" unless
	// Experiment.BothWays is set.
	Way            way             `json:"way,omitempty"`
	Measure        string          `json:"measure"`
	Unit           string          `json:"unit"`
	Columns        []string        `json:"columns"`
	Figures        []Figure        `json:"figures"`
	Discrimination *Discrimination `json:"discrimination,omitempty"` // nil if no figures can be compared
	plot           bool
}

// Verdict is the result of a comparison. Agrees, Differs and NotCompared say whether a measured number agrees with the
// published one; Holds, DoesNotHold, Undecided and NotRun say whether a conclusion of a study (a Claim) holds.
type Verdict string

// The verdicts on figures. Figures agree if their intervals overlap. They are not compared if there is no published
// figure, if the measure depends on the machine, or if there are too few games for an interval.
const (
	Agrees      Verdict = "agrees"
	Differs     Verdict = "differs"
	NotCompared Verdict = ""
)

// Figure is a measured number and the published one, with 95 % intervals. If there is no published number,
// PublishedEstimate is NaN. If the spread of the published number is unknown, its interval is infinite.
type Figure struct {
	Row               string         `json:"row"`
	Column            string         `json:"column"`
	Games             int            `json:"games"`            // our number of games, or the amount of training
	Models            int            `json:"models,omitempty"` // number of seeds that OurEstimate covers, if more than one
	OurEstimate       stats.Estimate `json:"ours"`
	StudyGames        int            `json:"sample"` // the same number in the study
	PublishedEstimate stats.Estimate `json:"published"`
	Verdict           Verdict        `json:"verdict"`
}

// TotalRow is the value of Figure.Row in a figure that covers all rows of a table together.
const TotalRow = "all"

// compare compares measured results with the published table t. It uses the games whose models were trained in
// the way w. rows has the results by row of the table.
func (e *Experiment) compare(t *Table, w way, rows [][]result) Comparison {
	m := measures[t.Measure]
	r := Comparison{Way: w, Number: t.Number, Title: t.Title, Measure: t.Measure, Unit: m.unit, Columns: t.columns(), plot: t.Plot}
	sample := 0
	for i, row := range e.rows {
		sample += row.games
		for at, column := range t.columns() {
			if !row.has(column) {
				continue
			}
			published := t.publishedFigure(i, at)
			if t.Counts {
				published *= 100 / float64(row.games)
			}
			r.Figures = append(r.Figures, figure(m, rows[i], column, published, row))
		}
	}
	for at, published := range t.Totals {
		if t.Counts {
			published *= 100 / float64(sample)
		}
		r.Figures = append(r.Figures, figure(m, slices.Concat(rows...), t.columns()[at], published, row{name: TotalRow, games: sample, seedCount: 1}))
	}
	if d, ok := e.discrimination(&r, 1); ok {
		r.Discrimination = &d
	}
	return r
}

func figure(m measure, games []result, column string, published float64, of row) Figure {
	f := Figure{Row: of.name, Column: column, Games: len(games), OurEstimate: m.estimate(games, column), StudyGames: of.games}
	if m.kind == kindModels && len(games) > 0 {
		f.Games = games[0].size
	}
	f.PublishedEstimate = m.publishedEstimate(published, of.games, f.OurEstimate, len(games))
	if of.seedCount > 1 {
		f.Models, f.OurEstimate = m.estimateBySeed(games, column, of.seedCount)
	}
	f.Verdict = m.verdict(f)
	return f
}

// publishedEstimate returns value, a published number, with its interval. sample is the number of games in the
// study. Studies do not publish the spread of a mean. It is derived from the spread of our own result for the same
// number, which is the argument ours; games is the number of our games.
func (m *measure) publishedEstimate(value float64, sample int, ours stats.Estimate, games int) stats.Estimate {
	switch {
	case math.IsNaN(value), m.exact:
		return stats.Estimate{Value: value, Low: value, High: value}
	case m.share:
		return percent(stats.Proportion(value/100, sample))
	case m.machine:
		return stats.Estimate{Value: value, Low: math.Inf(-1), High: math.Inf(1)}
	}
	half := ours.PlusMinus() * math.Sqrt(float64(games)/float64(sample))
	return stats.Estimate{Value: value, Low: value - half, High: value + half}
}

func (m *measure) verdict(f Figure) Verdict {
	switch {
	case math.IsNaN(f.PublishedEstimate.Value) || m.machine || f.Games == 0 || math.IsInf(f.OurEstimate.Low, 0):
		return NotCompared
	case f.OurEstimate.Low <= f.PublishedEstimate.High && f.PublishedEstimate.Low <= f.OurEstimate.High:
		return Agrees
	}
	return Differs
}

// ratio returns our training time divided by the published time as text, such as "1/250". Both are times for one
// game, episode or generation. If the ratio is unknown, it returns "".
func (f *Figure) ratio() string {
	x := f.PublishedEstimate.Value / float64(max(1, f.StudyGames)) / (f.OurEstimate.Value / float64(max(1, f.Games)))
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0) || x <= 0:
		return ""
	case x >= 1:
		return "1/" + formatThousands(x)
	}
	return formatThousands(1 / x)
}

// MarshalJSON encodes the verdict as a string, and NotCompared as null.
func (v Verdict) MarshalJSON() ([]byte, error) {
	if v == NotCompared {
		return []byte("null"), nil
	}
	return json.Marshal(string(v))
}
