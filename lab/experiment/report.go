package experiment

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/stats"
)

// columns is the width, in characters, of the text around the tables.
const columns = 100

// Summary is an entry in the list of experiments.
type Summary struct {
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	Tables []string `json:"tables"`
	Games  int      `json:"games"` // number of games of a run with scale 1
	Cost   string   `json:"cost"`  // measured duration
	Study  string   `json:"study"`
}

func Summaries(list []*Experiment) (all []Summary) {
	for _, e := range list {
		s := Summary{Name: e.Name, Title: e.Title, Games: e.totalGames(&DefaultOptions), Cost: e.Cost, Study: e.Study}
		for _, t := range e.Tables {
			s.Tables = append(s.Tables, t.Number)
		}
		all = append(all, s)
	}
	return all
}

// WriteList prints a table of experiments.
func WriteList(w io.Writer, list []*Experiment) {
	text.Rows(w, "experiment|what|tables|games|time|source", Summaries(list), func(s Summary) []any {
		return []any{s.Name, s.Title, strings.Join(s.Tables, "; "), s.Games, s.Cost, s.Study}
	})
}

// totalGames returns the number of games in a complete run with the given options.
func (e *Experiment) totalGames(o *Options) (n int) {
	for _, m := range e.Matches {
		n += len(e.ways()) * m.seedCount * o.scaledGames(m.Games)
	}
	for _, t := range e.Trainings {
		n += max(1, e.Repeats) * o.scaledGames(t.Games)
	}
	return n
}

// Write writes the findings as text for a terminal. It ignores errors of w.
func (r *Findings) Write(w io.Writer) {
	fmt.Fprintf(w, "%s\n%s\n%s\n", r.Experiment, text.Paragraph("  ", r.Title, columns), text.Paragraph("  source: ", r.Study, columns))
	fmt.Fprintln(w, text.Paragraph("  ", r.Remark, columns))
	if r.Scale != 1 {
		fmt.Fprintf(w, "  not as in the study: %g times its games\n", r.Scale)
	}
	if r.Timed && r.TimeScale != 1 {
		fmt.Fprintf(w, "  not as in the study: %g times the bots' time for a move\n", r.TimeScale)
	}
	if r.Timed && r.NodeRate > 0 {
		fmt.Fprintf(w, "  not as in the study: %d nodes for each second of the bots' time\n", r.NodeRate)
	}
	if len(r.Models) > 0 && r.TrainScale != 1 {
		fmt.Fprintf(w, "  not as in the study: models learn from %g times its games, episodes or generations\n", r.TrainScale)
	}
	fmt.Fprintf(w, "  seed %s; %s\n", r.Seed, r.repeatabilityText())
	state := ""
	if r.Interrupted {
		state = fmt.Sprintf(" of %d: interrupted", r.TotalGames)
	}
	took := time.Duration(r.Seconds * float64(time.Second)).Round(100 * time.Millisecond)
	if r.TotalGames == 0 { // only training times were measured
		fmt.Fprintf(w, "  %s%s\n", took, strings.TrimPrefix(state, " of 0"))
	} else {
		fmt.Fprintf(w, "  %s%s, %d drawn, %s\n", text.Count(r.Games, "game"), state, r.Draws, took)
	}
	r.writeModels(w)
	for i := range r.Tables {
		fmt.Fprintln(w)
		r.Tables[i].write(w)
	}
	if len(r.Notes) > 0 {
		fmt.Fprintln(w)
	}
	for _, note := range r.Notes {
		fmt.Fprintln(w, note)
	}
}

func (r *Findings) writeModels(w io.Writer) {
	if len(r.Models) == 0 {
		return
	}
	fmt.Fprintln(w)
	text.Rows(w, "model||method|mode|learned from|defects|time|run", r.Models, func(m TrainedModel) []any {
		return []any{m.title(), m.Way, m.Method, m.Mode, m.sizeText(), m.defectsText(), run.FormatDuration(m.duration()), m.entry}
	})
}

func (r *Comparison) heading() string {
	if r.Way == "" {
		return r.Title
	}
	return r.Title + ", " + string(r.Way)
}

func formatThousands(x float64) string { return humanize.Comma(int64(math.Round(x))) }

func (r *Findings) repeatabilityText() string {
	if r.Timed && r.NodeRate == 0 {
		return "the clock limits bots, so that the same seed gives other games"
	}
	return "the same seed gives the same games"
}

func (r *Comparison) write(w io.Writer) {
	fmt.Fprintf(w, "table %s: %s\n\n", r.Number, r.heading())
	text.Rows(w, "||ours, "+r.Unit+"|95 %|games|published|95 %|games|", r.Figures, func(f Figure) []any {
		column := f.Column
		if len(r.Columns) == 1 {
			column = ""
		}
		ours, interval, sample := r.formatEstimate(f.OurEstimate), r.formatInterval(f.OurEstimate), strconv.Itoa(f.StudyGames)
		if f.Games == 0 {
			ours, interval = "-", "-"
		}
		if math.IsNaN(f.PublishedEstimate.Value) {
			sample = "-"
		}
		last := string(f.Verdict)
		if m := measures[r.Measure]; m.machine && m.kind == kindModels {
			last = f.ratio()
		}
		return []any{f.Row, column, ours, interval, f.Games, r.formatEstimate(f.PublishedEstimate), r.formatInterval(f.PublishedEstimate), sample, last}
	})
	if slices.ContainsFunc(r.Figures, func(f Figure) bool { return f.Models > 1 }) {
		fmt.Fprint(w, "\nwhere models were trained with several seeds, ours is the mean over them, with Student's interval of\n"+
			"their means: games of one model depend on each other\n")
	}
	if d := r.Discrimination; d != nil {
		fmt.Fprintf(w, "\nlog likelihood ratio of our figures to those of equal bots: %s\n"+
			"of studies of this size, %.1f %% have at least as much if all bots are equal, and %.1f %% at most as much if our\n"+
			"figures are true; the power to tell the two apart is %.2f\n", roundText(d.Statistic), 100*d.FromEqual, 100*d.FromOurs, d.Power)
	}
}

func (r *Comparison) formatEstimate(e stats.Estimate) string {
	if math.IsNaN(e.Value) {
		return "-"
	}
	return r.formatFigure(e.Value)
}

// formatInterval returns the interval of an estimate as text, such as "1.5 to 2.5". It returns "-" if the
// interval is unknown, infinite or a single point.
func (r *Comparison) formatInterval(e stats.Estimate) string {
	if math.IsNaN(e.Low) || math.IsInf(e.Low, 0) || math.IsInf(e.High, 0) || e.Low == e.High && e.Low == e.Value {
		return "-"
	}
	return r.formatFigure(e.Low) + " to " + r.formatFigure(e.High)
}

// formatFigure formats x: from 1000 on without decimals, shares and numbers from 1 on with one decimal, and
// others with two significant digits.
func (r *Comparison) formatFigure(x float64) string {
	size := math.Abs(x)
	switch share := measures[r.Measure].share; {
	case size >= 1000:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case share || size >= 1 || x == 0:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}
