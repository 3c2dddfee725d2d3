package main

import (
	"context"
	"encoding/json"
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/timba-arena/timba/ladder/matchmaking/simulation"
)

func newBenchLadder() *cobra.Command {
	c := simulation.Config{}
	var plotFile string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ladder",
		Short: "Measure how fast a ladder finds the order of its bots",
		Long: "Plays simulated ladders whose bots' true strength is known: by timba's own matchmaking\n" +
			"and ratings, and by plain Elo and random pairing for comparison. Says how well the\n" +
			"ratings agree with the truth after how many matches a bot, and how fast newcomers to a\n" +
			"settled ladder find their Elo. The tables are Markdown, as in docs/ladder.md.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.Check(); err != nil {
				return err
			}
			if err := checkPlot(plotFile); err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			if asJSON {
				w = io.Discard
			}
			r, err := benchLadder(cmd.Context(), w, c)
			if err != nil {
				return err
			}
			if plotFile != "" {
				if err := plotLadder(r, plotFile); err != nil {
					return err
				}
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.IntVar(&c.Bots, "bots", 500, "bots on the ladder")
	f.IntVar(&c.Deals, "deals", 10, "deals of a match")
	f.IntVar(&c.Matches, "matches", 100, "matches of each bot, on average")
	f.IntVar(&c.Runs, "runs", 10, "ladders played by each method")
	f.Uint64Var(&c.Seed, "seed", 1, "seed of the simulation")
	f.StringVar(&plotFile, "plot", "", "write the curves to this file, .svg, .png or .pdf")
	f.BoolVar(&asJSON, "json", false, "print one JSON document instead of tables")
	return cmd
}

// simulationReport is the document of `timba bench ladder --json`.
type simulationReport struct {
	Bots      int                    `json:"bots"`
	Deals     int                    `json:"deals"`
	Runs      int                    `json:"runs"`
	Seed      uint64                 `json:"seed"`
	Curves    []simulation.Curve     `json:"curves"`
	Newcomers []simulation.Newcomers `json:"newcomers"`
}

func benchLadder(ctx context.Context, w io.Writer, c simulation.Config) (*simulationReport, error) {
	r := &simulationReport{Bots: c.Bots, Deals: c.Deals, Runs: c.Runs, Seed: c.Seed}
	last := c.Matches
	fmt.Fprintf(w, "| method | matches to 0.95 | to 0.99 | rank correlation after 10 | after %d | Kendall | error in Elo | scale |\n", last)
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
	for _, m := range simulation.Methods() {
		curves, err := simulation.Converge(ctx, c, m)
		if err != nil {
			return nil, err
		}
		for _, curve := range curves {
			printCurve(w, curve)
		}
		r.Curves = append(r.Curves, curves...)
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, "| newcomers, by method | matches to within 25 Elo | median error after 5 | 10 | 20 | nine of ten after 10 | the others' shift |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|")
	for _, m := range simulation.Methods() {
		if !m.Arrivals {
			continue
		}
		n, err := simulation.Arrive(ctx, c, m)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(w, "| %s | %s | %.0f | %.0f | %.0f | %.0f | %+.1f |\n", n.Name, orNever(n.Within(25), "%.0f"),
			n.Median[5], n.Median[10], n.Median[20], n.Ninety[10], n.Shift)
		r.Newcomers = append(r.Newcomers, n)
	}
	return r, nil
}

func printCurve(w io.Writer, c simulation.Curve) {
	last := c.Points[len(c.Points)-1]
	ten := c.Points[min(9, len(c.Points)-1)]
	fmt.Fprintf(w, "| %s | %s | %s | %.4f (%.4f to %.4f) | %.4f | %.3f | %.0f | %+.0f |\n", c.Name,
		orNever(c.Reaches(0.95), "%.1f"), orNever(c.Reaches(0.99), "%.1f"),
		ten.Spearman.Mean, ten.Spearman.Low, ten.Spearman.High, last.Spearman.Mean, last.Kendall.Mean, last.Error, last.Scale)
}

func orNever(matches float64, format string) string {
	if math.IsInf(matches, 1) {
		return "never"
	}
	return fmt.Sprintf(format, matches)
}

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

// plotLadder draws the rank correlation by matches a bot, with the band from the
// least to the greatest run.
func plotLadder(r *simulationReport, file string) error {
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
	canvas, err := p.WriterTo(18*vg.Centimeter, 12*vg.Centimeter, plotKind(file))
	if err != nil {
		return err
	}
	return writePlot(file, canvas)
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

func plotKind(file string) string { return strings.TrimPrefix(filepath.Ext(file), ".") }

// checkPlot refuses a file of another kind than a plot can have; "" is no plot.
func checkPlot(file string) error {
	if file != "" && !slices.Contains([]string{"svg", "png", "pdf"}, plotKind(file)) {
		return fmt.Errorf("bench: the plot %q is not .svg, .png or .pdf", file)
	}
	return nil
}

func writePlot(file string, from io.WriterTo) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := from.WriteTo(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
