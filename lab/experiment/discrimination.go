package experiment

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Discrimination says how well the published figures of a study's table separate two hypotheses. One is that all bots
// are equally strong, the other that our measured figures are the true ones. For a table whose columns are not bots,
// the first hypothesis is that all rows have the same figures or, for trainings, that all columns of a row but "drawn"
// have the same figure. Many studies of the same size are simulated under each hypothesis. Shares are from 0 to 1.
type Discrimination struct {
	Games     int     // games of the study in rows with published and measured figures; assumed if it does not say
	Statistic float64 // log likelihood of the published figures if ours are true, minus that if bots are equal
	FromEqual float64 // share of the simulated studies of equal bots with this Statistic or a higher one
	FromOurs  float64 // share of the simulated studies under our figures with this Statistic or a lower one
	Power     float64 // share of studies under our figures with a higher Statistic than 95 % of those of equal bots
}

// discriminationRuns is the number of studies that are simulated under each of the two hypotheses of a Discrimination.
const discriminationRuns = 4000

// hypotheses has the figures of one row of a table, from three sources. Each list has one figure for each column. If
// the table has shares of games, the figures are probabilities, and each list ends with one more: the probability of a
// result that no column counts. Otherwise the figures are means.
type hypotheses struct {
	games                           int       // number of games that the study played for the row
	equal, ourFigures, studyFigures []float64 // expected of equally strong bots; measured by us; published
	errors                          []float64 // standard errors of the published means, by column; nil for shares
}

// discrimination computes how well the published figures of table r separate two hypotheses: all bots are equally
// strong, and our measured figures are true. The study's number of games is multiplied by times, which is 1 except in
// tests. ok is false in these cases: the figures depend on the machine; published figures have no sampling error; no
// figure is both published and measured; or both hypotheses expect the same figures.
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

// hypotheses returns the figures under each hypothesis for each row of table r. It leaves out figures that are not both
// published and measured, and rows that have no others. The study's number of games is multiplied by times, so the
// standard errors of published means are divided by the square root of times.
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

// smoothValue returns the figure that we measured. If m measures a share of games, the result is in percent, as if one
// more game had been played and half won. So the share is never 0 or 100.
func (f *Figure) smoothValue(m measure) float64 {
	if !m.share {
		return f.OurEstimate.Value
	}
	n := float64(f.Games)
	return (f.OurEstimate.Value*n + 50) / (n + 1)
}

// equalFigure returns the figure expected in one row and column of table r if all bots were equally strong. row is the
// index in e.rows. Shares are in percent. If the columns are bots, a share is the part of the seats that the bot has,
// and a mean is the measured mean of all seats in the row. Otherwise the figure is the measured mean of the column over
// all rows. In a table of trainings, it is the mean of the row's columns other than "drawn"; for "drawn" it is as
// measured.
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

// seatsOf returns the number of seats in a match that belong to a column of a table. bots has the name of the bot at
// each seat. column is the name of a bot, or seatColumn for seat 0 alone. The result is a float64 because callers use
// it as a weight.
func seatsOf(bots []string, column string) (n float64) {
	for seat, bot := range bots {
		n += indicator(bot == column || column == seatColumn && seat == 0)
	}
	return n
}

// complete converts the shares of the columns from percent to probabilities, and appends the probability of a result
// that no column counts. It adds 0.5 percentage points to the share of such results, so that their probability is never
// 0. The shares can add up to more than 100, because several bots can win one game. Then they are scaled down. The sum
// of the result is 1.
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
// bots are equally strong. A result above 0 means that figures fit our measured ones better. figures must have the
// length of h.equal.
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

// draw simulates a study of h.games games with random results, and returns its figures. truth has the true figures:
// probabilities, or means if h.errors is not nil. truth and the result have the length of h.equal.
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
