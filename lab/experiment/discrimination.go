package experiment

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Discrimination says how well a published table tells two hypotheses apart: that all bots are equal, and that our
// measured figures are the true ones. Its statistic is the log likelihood ratio of the two: above 0 the published
// figures fit ours better. In tables without bots, equal means that all rows have the same figures.
type Discrimination struct {
	Games     int     // in the study, in all rows; if the study does not print them, a guess
	Statistic float64 // of the published figures
	FromEqual float64 // share of studies of this size with at least this statistic, if all bots are equal
	FromOurs  float64 // share with at most this statistic, if our figures are true
	Power     float64 // share with a statistic above 95 % of those of equal bots, if our figures are true
}

// discriminationRuns is the number of studies that are simulated by each hypothesis.
const discriminationRuns = 4000

// hypotheses are the figures of a row of a table by both hypotheses, with the published ones. The figures of a table
// of shares are probabilities, with one more for what no column counts. Those of other tables are means.
type hypotheses struct {
	games                           int
	equal, ourFigures, studyFigures []float64
	errors                          []float64 // standard errors of published means; nil for shares
}

// discrimination returns the discrimination of a table. If the study has times as many games as we assume, its
// intervals are so much narrower. ok is false if the table has no figures that can be compared.
func (e *Experiment) discrimination(r *Comparison, times int) (d Discrimination, ok bool) {
	m := measures[r.Measure]
	if m.machine || m.exact {
		return d, false
	}
	rows := e.hypotheses(r, times)
	if len(rows) == 0 {
		return d, false
	}
	random := rand.New(rand.NewPCG(1, 0))
	equal, ours := make([]float64, discriminationRuns), make([]float64, discriminationRuns)
	for _, h := range rows {
		d.Games += h.games
		d.Statistic += h.statistic(h.studyFigures)
		for i := range discriminationRuns {
			equal[i] += h.statistic(h.draw(random, h.equal))
			ours[i] += h.statistic(h.draw(random, h.ourFigures))
		}
	}
	slices.Sort(equal)
	limit := equal[discriminationRuns*95/100]
	if limit == equal[0] { // both hypotheses have the same figures
		return d, false
	}
	for i := range discriminationRuns {
		d.FromEqual += indicator(equal[i] >= d.Statistic) / discriminationRuns
		d.FromOurs += indicator(ours[i] <= d.Statistic) / discriminationRuns
		d.Power += indicator(ours[i] > limit) / discriminationRuns
	}
	return d, true
}

// hypotheses returns the rows of a table that have published and measured figures.
func (e *Experiment) hypotheses(r *Comparison, times int) (rows []hypotheses) {
	m := measures[r.Measure]
	for i, of := range e.rows {
		var h hypotheses
		for _, f := range r.Figures {
			if f.Row != of.name || math.IsNaN(f.PublishedEstimate.Value) || f.Games == 0 {
				continue
			}
			h.games = f.StudyGames * times
			h.studyFigures = append(h.studyFigures, f.PublishedEstimate.Value)
			h.ourFigures = append(h.ourFigures, f.smoothValue(m))
			h.equal = append(h.equal, e.equalFigure(r, i, f.Column))
			if !m.share {
				h.errors = append(h.errors, f.PublishedEstimate.PlusMinus()/1.96/math.Sqrt(float64(times)))
			}
		}
		if len(h.studyFigures) == 0 {
			continue
		}
		if m.share {
			h.studyFigures, h.ourFigures, h.equal = complete(h.studyFigures), complete(h.ourFigures), complete(h.equal)
		}
		rows = append(rows, h)
	}
	return rows
}

// smoothValue returns our figure. A share is that of our games and one more, of which half counts, so that none is 0 or 100.
func (f *Figure) smoothValue(m measure) float64 {
	if !m.share {
		return f.OurEstimate.Value
	}
	n := float64(f.Games)
	return (f.OurEstimate.Value*n + 50) / (n + 1)
}

// equalFigure returns the figure in percent or the mean that a column of a row has if all bots are equal.
func (e *Experiment) equalFigure(r *Comparison, row int, column string) float64 {
	m := measures[r.Measure]
	if m.share && m.columns == nil {
		seats := e.Matches[row].Bots
		return 100 * seatsOf(seats, column) / float64(len(seats))
	}
	sum, weight := 0.0, 0.0
	for _, f := range r.Figures {
		w := 1.0
		inRow, inColumn := f.Row == e.rows[row].name, f.Column == column
		switch {
		case f.Row == TotalRow || f.Games == 0:
			continue
		case m.kind == kindTrainings: // won as often as lost
			inRow = inRow && (column == "drawn") == (f.Column == "drawn")
		case m.columns == nil:
			w = seatsOf(e.Matches[row].Bots, f.Column)
		default:
			inRow = inColumn
		}
		if inRow {
			sum, weight = sum+w*f.smoothValue(m), weight+w
		}
	}
	return sum / weight
}

// seatsOf returns the number of seats that a column of a table stands for.
func seatsOf(bots []string, column string) (n float64) {
	for seat, bot := range bots {
		n += indicator(bot == column || column == seatColumn && seat == 0)
	}
	return n
}

// complete returns shares in percent as probabilities, with one more for the rest. Shares of which games that several
// bots share count for all may exceed 100 % together; then they are divided by their sum.
func complete(percents []float64) (list []float64) {
	sum := 0.0
	for _, x := range percents {
		sum += x
	}
	whole := max(100, sum) + 0.5
	for _, x := range percents {
		list = append(list, x/whole)
	}
	return append(list, 1-sum/whole)
}

// statistic returns the logarithm of the likelihood of figures if ours are true, minus that if all bots are equal.
func (h *hypotheses) statistic(figures []float64) (sum float64) {
	for i, x := range figures {
		if h.errors == nil {
			sum += float64(h.games) * x * math.Log(h.ourFigures[i]/h.equal[i])
			continue
		}
		a, b := (x-h.equal[i])/h.errors[i], (x-h.ourFigures[i])/h.errors[i]
		sum += (a*a - b*b) / 2
	}
	return sum
}

// draw returns random figures of a study whose true figures are the given ones.
func (h *hypotheses) draw(r *rand.Rand, truth []float64) []float64 {
	figures := make([]float64, len(truth))
	if h.errors != nil {
		for i, x := range truth {
			figures[i] = x + h.errors[i]*r.NormFloat64()
		}
		return figures
	}
	for range h.games {
		x, i := r.Float64(), 0
		for ; i < len(truth)-1 && x >= truth[i]; i++ {
			x -= truth[i]
		}
		figures[i] += 1 / float64(h.games)
	}
	return figures
}
