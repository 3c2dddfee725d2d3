package bench

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/timba-arena/timba/lab/chart"
)

// fleetCurves are those that are drawn, in the order of the legend.
var fleetCurves = []struct {
	name  string
	color color.NRGBA
	value func(fleetRow) float64
}{
	{"matches a second", color.NRGBA{0x00, 0x57, 0xb7, 0xff}, func(r fleetRow) float64 { return r.rate }},
	{"standings, p95 in ms", color.NRGBA{0xd9, 0x5f, 0x02, 0xff}, func(r fleetRow) float64 { return r.standings }},
	{"memory of the server in MB", color.NRGBA{0x1b, 0x9e, 0x77, 0xff}, func(r fleetRow) float64 { return r.memory / 1e6 }},
}

// draw draws matches a second, the time of the standings and the server's memory by the number of
// workers, both axes by factors, to the file Plot.
func (b Fleet) draw(measured []fleetRow) error {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%d versions, server and workers on one machine", b.Versions)
	p.X.Label.Text = "workers"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	rows := slices.SortedFunc(slices.Values(measured), func(a, b fleetRow) int { return a.workers - b.workers })
	low, high := math.Inf(1), 0.0
	p.Add(plotter.NewGrid())
	for _, c := range fleetCurves {
		var points plotter.XYs
		for _, row := range rows {
			y := max(c.value(row), 0.1) // the axis has no zero
			points = append(points, plotter.XY{X: float64(row.workers), Y: y})
			low, high = min(low, y), max(high, y)
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		line.Color, line.Width = c.color, vg.Points(1.5)
		dots.Color, dots.Shape = c.color, draw.CircleGlyph{}
		p.Add(line, dots)
		p.Legend.Add(c.name, line, dots)
	}
	last := float64(rows[len(rows)-1].workers)
	p.X.Min, p.X.Max = float64(rows[0].workers), max(last, 10)
	p.Y.Min, p.Y.Max = math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high)))
	p.X.Tick.Marker, p.Y.Tick.Marker = ticks(p.X.Min, p.X.Max), ticks(p.Y.Min, p.Y.Max)
	p.X.Max, p.Y.Max = 1.1*p.X.Max, 3*p.Y.Max // room for the last number, and for the legend
	p.Legend.Left, p.Legend.Top = true, true
	return chart.Save(p, b.Plot)
}

// ticks returns those of an axis that grows by factors: 1, 2, 5, 10 and so on.
func ticks(from, to float64) (list plot.ConstantTicks) {
	for power := math.Floor(math.Log10(from)); power <= math.Log10(to); power++ {
		for _, x := range []float64{1, 2, 5} {
			if v := x * math.Pow(10, power); v >= from*0.999 && v <= to*1.001 {
				list = append(list, plot.Tick{Value: v, Label: fmt.Sprint(float64(int(v*100+0.5)) / 100)})
			}
		}
	}
	return list
}
