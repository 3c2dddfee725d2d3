// Package curves draws how fast simulated ladders find the order of their bots.
package curves

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/timba-arena/timba/lab/chart"
	"github.com/timba-arena/timba/lab/simulation"
)

// plotted are the curves that are drawn, in the order of the legend.
var plotted = []struct {
	name  string
	color color.NRGBA
}{
	{"timba, fit", color.NRGBA{0x1b, 0x9e, 0x77, 0xff}},
	{"timba", color.NRGBA{0x00, 0x57, 0xb7, 0xff}},
	{"timba's Elo, random pairing", color.NRGBA{0x66, 0xa6, 0xe8, 0xff}},
	{"TrueSkill a game, random pairing", color.NRGBA{0xe6, 0xab, 0x02, 0xff}},
	{"Elo K=128 a match, random pairing", color.NRGBA{0xd9, 0x5f, 0x02, 0xff}},
	{"Elo K=32 a match, random pairing", color.NRGBA{0xa5, 0x1c, 0x30, 0xff}},
	{"Elo K=32 a game, random pairing", color.NRGBA{0x7f, 0x7f, 0x7f, 0xff}},
}

// Draw draws the rank correlation by matches a bot, with the band from the least to
// the greatest run, to a file that chart.Check allows.
func Draw(r *simulation.Report, file string) error {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%d bots, matches of %d duplicate deals, %d runs", r.Bots, r.Deals, r.Runs)
	p.X.Label.Text, p.Y.Label.Text = "matches a bot", "rank correlation with the true strength"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, matchTicks
	p.Y.Min, p.Y.Max = 0.8, 1
	p.Y.Tick.Marker = plot.ConstantTicks{{Value: 0.8, Label: "0.80"}, {Value: 0.85, Label: "0.85"}, {Value: 0.9, Label: "0.90"},
		{Value: 0.95, Label: "0.95"}, {Value: 0.99, Label: "0.99"}, {Value: 1, Label: "1"}}
	p.Legend.YOffs, p.Legend.XOffs = vg.Points(20), vg.Points(-10)
	p.Add(plotter.NewGrid())
	for _, style := range plotted {
		i := slices.IndexFunc(r.Curves, func(c simulation.Curve) bool { return c.Name == style.name })
		if i < 0 {
			continue
		}
		if err := drawCurve(p, r.Curves[i], style.color); err != nil {
			return err
		}
	}
	return chart.Save(p, file)
}

// matchTicks are those of the axis of matches, which grows by factors.
var matchTicks = plot.ConstantTicks{{Value: 1, Label: "1"}, {Value: 2, Label: "2"}, {Value: 5, Label: "5"}, {Value: 10, Label: "10"},
	{Value: 20, Label: "20"}, {Value: 50, Label: "50"}, {Value: 100, Label: "100"}, {Value: 200, Label: "200"}, {Value: 500, Label: "500"}}

func drawCurve(p *plot.Plot, c simulation.Curve, hue color.NRGBA) error {
	var mean, edge plotter.XYs
	for _, point := range c.Points {
		if point.Spearman.Mean < p.Y.Min {
			continue
		}
		x := float64(point.Matches)
		mean = append(mean, plotter.XY{X: x, Y: point.Spearman.Mean})
		edge = append(edge, plotter.XY{X: x, Y: point.Spearman.High})
	}
	for _, point := range slices.Backward(c.Points) {
		if point.Spearman.Mean >= p.Y.Min {
			edge = append(edge, plotter.XY{X: float64(point.Matches), Y: max(point.Spearman.Low, p.Y.Min)})
		}
	}
	if len(mean) == 0 {
		return nil
	}
	band, err := plotter.NewPolygon(edge)
	if err != nil {
		return err
	}
	band.LineStyle.Width = 0
	pale := hue
	pale.A = 0x40
	band.Color = pale
	line, err := plotter.NewLine(mean)
	if err != nil {
		return err
	}
	line.Color, line.Width = hue, vg.Points(1.5)
	p.Add(band, line)
	p.Legend.Add(c.Name, line)
	return nil
}
