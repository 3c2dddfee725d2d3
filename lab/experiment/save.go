package experiment

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"github.com/timba-arena/timba/stats"
)

// Save writes the results as a CSV file and the plots as SVG files into dir, and returns the paths of the files.
// If it fails, it returns no paths, although some of the files may exist.
func (r *Findings) Save(dir string) (files []string, err error) {
	save := func(name string, write func(path string) error) {
		if path := filepath.Join(dir, name); err == nil {
			err = write(path)
			files = append(files, path)
		}
	}
	save(r.Experiment+".csv", r.writeCSV)
	for i, t := range r.Tables {
		if t.plot {
			save(fmt.Sprintf("%s-%d.svg", r.Experiment, i+1), t.draw)
		}
	}
	if len(r.Curves) > 0 {
		save(r.Experiment+"-learning.svg", r.drawCurves)
	}
	if err != nil {
		return nil, err
	}
	return files, nil
}

// findingsColumns has the names, joined by commas, of the columns in the CSV file that Findings.Save writes.
const findingsColumns = "table,measure,row,column,games,ours,low,high,models,sample,published,published_low,published_high,verdict,way"

func (r *Findings) writeCSV(path string) error {
	var rows [][]string
	for _, t := range r.Tables {
		for _, g := range t.Figures {
			rows = append(rows, []string{
				t.Number, t.Measure, g.Row, g.Column, strconv.Itoa(g.Games), formatFinite(g.OurEstimate.Value), formatFinite(g.OurEstimate.Low), formatFinite(g.OurEstimate.High),
				strconv.Itoa(max(1, g.Models)), strconv.Itoa(g.StudyGames),
				formatFinite(g.PublishedEstimate.Value), formatFinite(g.PublishedEstimate.Low), formatFinite(g.PublishedEstimate.High), string(g.Verdict), string(t.Way),
			})
		}
	}
	return writeTable(path, r.head(), findingsColumns, rows)
}

// writeTable writes a CSV file: the comment head, which must end with a line feed, then the names of the columns, which
// are joined by commas, and then the rows.
func writeTable(path, head, columns string, rows [][]string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Fprint(f, head)
	w := csv.NewWriter(f)
	w.Write(strings.Split(columns, ","))
	if err := w.WriteAll(rows); err != nil {
		return err
	}
	return f.Close()
}

// head returns the first lines of the CSV file. They name the command that writes it, and say which columns have
// the numbers of games and models behind a figure.
func (r *Findings) head() string {
	command := "timba-lab experiment " + r.Experiment
	for _, f := range []struct {
		flag          string
		value, normal float64
	}{
		{"scale", r.Scale, 1}, {"time-scale", r.TimeScale, 1}, {"nodes-per-second", float64(r.NodeRate), 0}, {"train-scale", r.TrainScale, min(r.Scale, 1)},
	} {
		if f.value != f.normal {
			command += " --" + f.flag + " " + strconv.FormatFloat(f.value, 'f', -1, 64)
		}
	}
	return "# command: " + command + " --seed " + r.Seed + "\n" +
		"# sample: by row, games is our number of games, models that of the trained models, sample the study's number of games\n"
}

func formatFinite(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 8, 64)
}

// errorBars has measured numbers with their intervals in the form that gonum/plot requires.
type errorBars struct {
	plotter.XYs
	plotter.YErrors
}

// draw draws a plot of the measured and the published numbers of a table into the file at path. The extension of
// path determines the format.
func (r *Comparison) draw(path string) error {
	var ours, published errorBars
	var labels []string
	for i, f := range r.Figures {
		label := f.Row
		if len(r.Columns) > 1 {
			label += "\n" + f.Column
		}
		labels = append(labels, label)
		if f.Games > 0 {
			ours.add(float64(i), f.OurEstimate)
			published.add(float64(i)+0.2, f.PublishedEstimate)
		}
	}
	p := plot.New()
	p.Title.Text, p.Y.Label.Text = "table "+r.Number+": "+r.heading(), r.Unit
	p.Add(plotter.NewGrid())
	for i, b := range []errorBars{ours, published} {
		if len(b.XYs) == 0 {
			continue
		}
		points, err := plotter.NewScatter(b)
		if err != nil {
			return err
		}
		ends, err := plotter.NewYErrorBars(b)
		if err != nil {
			return err
		}
		points.Color, ends.Color = plotutil.Color(i), plotutil.Color(i)
		p.Add(points, ends)
		p.Legend.Add([]string{"ours", "published"}[i], points)
	}
	p.NominalX(labels...)
	p.Legend.Top = true
	if measures[r.Measure].share {
		p.Y.Min, p.Y.Max = 0, 100
	}
	p.X.Tick.Label.Rotation = math.Pi / 4
	p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = -1, -0.5
	return p.Save(vg.Length(10+len(labels))*vg.Centimeter, 10*vg.Centimeter, path)
}

// add adds a number at position x of the axis. If its value is NaN, nothing is added. An infinite end of its
// interval gets a bar of length 0.
func (b *errorBars) add(x float64, e stats.Estimate) {
	if math.IsNaN(e.Value) {
		return
	}
	length := func(d float64) float64 {
		if math.IsInf(d, 0) || math.IsNaN(d) {
			return 0
		}
		return d
	}
	b.XYs = append(b.XYs, plotter.XY{X: x, Y: e.Value})
	b.YErrors = append(b.YErrors, struct{ Low, High float64 }{length(e.Value - e.Low), length(e.High - e.Value)})
}

// drawCurves draws a plot into the file at path: the share of games won in the course of each training.
func (r *Findings) drawCurves(path string) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = r.Title, "games", "won, % of the last hundred"
	p.Y.Min, p.Y.Max = 0, 100
	p.Add(plotter.NewGrid())
	var lines []any // names and points in turn
	for _, c := range r.Curves {
		points := make(plotter.XYs, len(c.Games))
		for i := range points {
			points[i] = plotter.XY{X: float64(c.Games[i]), Y: c.WinPercent[i]}
		}
		lines = append(lines, c.Name, points)
	}
	if err := plotutil.AddLines(p, lines...); err != nil {
		return err
	}
	return p.Save(16*vg.Centimeter, 10*vg.Centimeter, path)
}
