package experiment

import (
	"encoding/csv"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Save writes the figures as CSV, and the plots as SVG, into a directory. It returns the files.
func (r *Report) Save(dir string) (files []string, err error) {
	path := filepath.Join(dir, r.Experiment+".csv")
	if err := r.saveCSV(path); err != nil {
		return nil, err
	}
	files = append(files, path)
	for i, t := range r.Tables {
		if !t.plot {
			continue
		}
		path := filepath.Join(dir, fmt.Sprintf("%s-%d.svg", r.Experiment, i+1))
		if err := t.draw(path); err != nil {
			return nil, err
		}
		files = append(files, path)
	}
	if len(r.Curves) > 0 {
		path := filepath.Join(dir, r.Experiment+"-learning.svg")
		if err := r.drawCurves(path); err != nil {
			return nil, err
		}
		files = append(files, path)
	}
	return files, nil
}

func (r *Report) saveCSV(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := csv.NewWriter(f)
	w.Write([]string{"table", "measure", "row", "column", "games", "ours", "low", "high", "sample", "published", "published_low", "published_high", "verdict", "way"})
	for _, t := range r.Tables {
		for _, g := range t.Figures {
			w.Write([]string{
				t.Number, t.Measure, g.Row, g.Column, strconv.Itoa(g.Games), finite(g.Ours.Value), finite(g.Ours.Low), finite(g.Ours.High),
				strconv.Itoa(g.Sample), finite(g.Published.Value), finite(g.Published.Low), finite(g.Published.High), string(g.Verdict), t.Way,
			})
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return f.Close()
}

// finite returns a number as text, "" for none.
func finite(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 8, 64)
}

// hues are the colours of what is drawn: ours, published, and others.
var hues = []color.NRGBA{
	{0x00, 0x57, 0xb7, 0xff}, {0xa5, 0x1c, 0x30, 0xff}, {0x1b, 0x9e, 0x77, 0xff}, {0xe6, 0xab, 0x02, 0xff},
}

// bars are figures with their intervals, as gonum/plot draws them.
type bars struct {
	plotter.XYs
	plotter.YErrors
}

// draw draws the figures of a table beside the published ones.
func (r *Result) draw(path string) error {
	p := plot.New()
	p.Title.Text, p.Y.Label.Text = "table "+r.Number+": "+r.heading(), r.Unit
	var labels []string
	for side, name := range []string{"ours", "published"} {
		var b bars
		for i, f := range r.Figures {
			e, label := f.Ours, f.Row
			if len(r.Columns) > 1 {
				label += "\n" + f.Column
			}
			if side == 0 {
				labels = append(labels, label)
			} else {
				e = f.Published
			}
			if f.Games == 0 || math.IsNaN(e.Value) {
				continue
			}
			b.XYs = append(b.XYs, plotter.XY{X: float64(i) + 0.2*float64(side), Y: e.Value})
			b.YErrors = append(b.YErrors, struct{ Low, High float64 }{spread(e.Value - e.Low), spread(e.High - e.Value)})
		}
		if len(b.XYs) == 0 {
			continue
		}
		points, err := plotter.NewScatter(b.XYs)
		if err != nil {
			return err
		}
		errors, err := plotter.NewYErrorBars(b)
		if err != nil {
			return err
		}
		points.Color, errors.Color = hues[side], hues[side]
		p.Add(points, errors)
		p.Legend.Add(name, points)
	}
	p.Add(plotter.NewGrid())
	p.NominalX(labels...)
	p.Legend.Top = true
	if measures[r.Measure].share {
		p.Y.Min, p.Y.Max = 0, 100
	}
	p.X.Tick.Label.Rotation = math.Pi / 4
	p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = -1, -0.5
	return p.Save(vg.Length(10+len(labels))*vg.Centimeter, 10*vg.Centimeter, path)
}

// spread returns the length of an error bar: none where an end is unbounded.
func spread(x float64) float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return 0
	}
	return x
}

// drawCurves draws how the trainings went.
func (r *Report) drawCurves(path string) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = r.Title, "games", "won, % of the last hundred"
	p.Y.Min, p.Y.Max = 0, 100
	p.Add(plotter.NewGrid())
	for i, c := range r.Curves {
		var points plotter.XYs
		for j, games := range c.Games {
			points = append(points, plotter.XY{X: float64(games), Y: c.Won[j]})
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		line.Color = hues[i%len(hues)]
		p.Add(line)
		p.Legend.Add(c.Name, line)
	}
	return p.Save(16*vg.Centimeter, 10*vg.Centimeter, path)
}
