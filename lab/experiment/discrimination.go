package experiment

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Discrimination says how well the published figures of a table tell two hypotheses apart: that all bots are equally
// strong, and that our measured figures are the true ones. If the columns of the table are not bots, the first
// hypothesis is that all rows have the same figures. Shares come from simulated studies of the same size and are from 0
// to 1.
type Discrimination struct {
	Games     int     // number of games in the study, in all rows; a guess if the study does not print it
	Statistic float64 // log likelihood of the published figures under ours, minus that if bots are equal
	FromEqual float64 // share of studies of equal bots with at least this Statistic
	FromOurs  float64 // share of studies with at most this Statistic, if our figures are true
	Power     float64 // share of studies with our figures whose Statistic is above 95 % of equal bots'
}

// discriminationRuns is the number of studies that are simulated for each of the two hypotheses of a Discrimination.
const discriminationRuns = 4000

// hypotheses has the figures in one row of a table three times, by column: equal as they would be if all bots were
// equally strong, ourFigures as we measured them, and studyFigures as the study published them. If the measure of the
// table is a share, figures are probabilities, and the last is that of results that no column counts. Otherwise figures
// are means.
type hypotheses struct {
	games                           int // number of games in the study
	equal, ourFigures, studyFigures []float64
	errors                          []float64 // standard errors of the published means, by column; nil for shares
}

// discrimination computes how well the published figures in table r tell equal bots from our figures. times is a factor
// for the study's number of games; only tests use another than 1. ok is false if the table cannot be used: its figures
// depend on the machine or have no sampling error, are not both published and measured, or equal those of equal bots.
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

// hypotheses returns one value for each row of table r that has published and measured figures. times is a factor for
// the study's number of games; it narrows the standard errors of published means by its square root.
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

// smoothValue returns our measured figure. If m is a share, the result is in percent and counts one more game, which is
// half won, so that it is never 0 or 100.
func (f *Figure) smoothValue(m measure) float64 {
	if !m.share {
		return f.OurEstimate.Value
	}
	n := float64(f.Games)
	return (f.OurEstimate.Value*n + 50) / (n + 1)
}

// equalFigure returns the figure that a column of table r would have in one row if all bots were equally strong. If the
// columns are not bots, it is the mean of the column over all rows; in a training, wins and losses are then equal. The
// result is in percent if the measure is a share. row is the index of the row in e.rows.
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

// seatsOf returns how many seats of a match a column of a table covers. bots has the bot of each seat. column is the
// name of a bot or seatColumn, which covers only seat 0. The result is a float64 because callers use it as a weight.
func seatsOf(bots []string, column string) (n float64) {
	for seat, bot := range bots {
		n += indicator(bot == column || column == seatColumn && seat == 0)
	}
	return n
}

// complete converts shares in percent to probabilities and appends one more, for the results that no column counts.
// This last one gets 0.5 % more than what is missing to 100 %, so that it is never 0. If the shares add up to more than
// 100, because a game that several bots win counts for each of them, they are scaled down.
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

// statistic returns the log likelihood of figures if our measured figures are true, minus their log likelihood if all
// bots are equally strong. Above 0, figures fit ours better. figures has one number for each in h.equal.
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

// draw returns random figures that a study of h.games games could find if truth has the true figures. truth and the
// result have one number for each in h.equal.
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
