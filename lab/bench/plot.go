package bench

import (
	"fmt"
	"image/color"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/timba-arena/timba/lab/simulation"
)

// checkPlot returns an error if savePlot cannot write a file with the extension of file. A long measurement calls
// it first, so as not to fail at its end. If file is "", no plot is wanted and the error is nil.
func checkPlot(file string) error {
	if file != "" && !slices.Contains([]string{".svg", ".png", ".pdf"}, filepath.Ext(file)) {
		return fmt.Errorf("bench: the plot %q is not .svg, .png or .pdf", file)
	}
	return nil
}

func savePlot(p *plot.Plot, file string) error {
	return p.Save(18*vg.Centimeter, 12*vg.Centimeter, file)
}

// ticks returns the ticks of a logarithmic axis: 1, 2, 5, 10, 20 and so on. from and to are the ends of the axis,
// which must be powers of ten.
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

// ladderCurves are the curves in the plot of a Ladder measurement, in the order of the legend. Each name is
// that of a method in simulation.Report.
var ladderCurves = []struct {
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

// draw draws the plot in the file b.Plot: the rank correlation of each method by the number of matches of each bot.
// A band around each curve goes from the lowest to the highest run of the simulation.
func (b Ladder) draw(r *simulation.Report) error {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%d bots, matches of %d duplicate deals, %d runs", r.Bots, r.Deals, r.Runs)
	p.X.Label.Text, p.Y.Label.Text = "matches a bot", "rank correlation with the true strength"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, ticks(1, 500)
	p.Y.Min, p.Y.Max = 0.8, 1
	p.Y.Tick.Marker = plot.ConstantTicks{{Value: 0.8, Label: "0.80"}, {Value: 0.85, Label: "0.85"}, {Value: 0.9, Label: "0.90"},
		{Value: 0.95, Label: "0.95"}, {Value: 0.99, Label: "0.99"}, {Value: 1, Label: "1"}}
	p.Legend.YOffs, p.Legend.XOffs = vg.Points(20), vg.Points(-10)
	p.Add(plotter.NewGrid())
	for _, style := range ladderCurves {
		i := slices.IndexFunc(r.Curves, func(c simulation.Curve) bool { return c.Name == style.name })
		if i < 0 {
			continue
		}
		if err := drawCurve(p, r.Curves[i], style.color); err != nil {
			return err
		}
	}
	return savePlot(p, b.Plot)
}

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
