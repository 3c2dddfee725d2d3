package bench

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/timba-arena/timba/lab/simulation"
)

// Ladder simulates a ladder with different methods of pairing and rating. It measures the number of matches
// after which each method ranks the bots in their true order.
type Ladder struct {
	simulation.Config
	Plot string // file for the curves; "" means none
}

func (b Ladder) Run(ctx context.Context, log io.Writer) (*Report, error) {
	if err := checkPlot(b.Plot); err != nil {
		return nil, err
	}
	found, err := simulation.Measure(ctx, b.Config, log)
	if err != nil {
		return nil, err
	}
	if b.Plot != "" {
		if err := b.draw(found); err != nil {
			return nil, err
		}
	}
	order := newTable(fmt.Sprintf("method|matches to 0.95|to 0.99|rank correlation after 10|after %d|Kendall|error in Elo|scale", b.Matches))
	for _, c := range found.Curves {
		ten, last := c.Points[min(9, len(c.Points)-1)], c.Points[len(c.Points)-1]
		order.add(c.Name, matchesOrNever(c.MatchesTo(0.95), "%.1f"), matchesOrNever(c.MatchesTo(0.99), "%.1f"),
			fmt.Sprintf("%.4f (%.4f to %.4f)", ten.Spearman.Mean, ten.Spearman.Low, ten.Spearman.High),
			figure{"%.4f", last.Spearman.Mean}, figure{"%.3f", last.Kendall.Mean}, noDecimals(last.Error), figure{"%+.0f", last.Bias})
	}
	newcomers := newTable("newcomers, by method|matches to within 25 Elo|median error after 5|10|20|nine of ten after 10|the others' shift")
	for _, n := range found.Newcomers {
		newcomers.add(n.Name, matchesOrNever(n.MatchesWithin(25), "%.0f"), noDecimals(n.Median[5]), noDecimals(n.Median[10]), noDecimals(n.Median[20]),
			noDecimals(n.Quantile90[10]), figure{"%+.1f", n.Shift})
	}
	r := newReport(order, newcomers, populationTable(found.Populations))
	r.Details = found
	return r, nil
}

// populationTable returns a table that shows how well ratings agree with the true strengths. It has a row for each
// population (a typical ladder of simulated bots) and each number of matches.
func populationTable(populations []simulation.PopulationResult) Table {
	t := newTable("ladder|deals|matches a bot|wrong order, Elo|wrong order, fit|distance, Elo|distance, fit|error, Elo|error, fit|intervals that hold")
	for _, p := range populations {
		for _, at := range p.Points {
			wrong := func(a simulation.Accuracy) string {
				return fmt.Sprintf("%.1f ± %.1f %%", 100*a.WrongOrder.Value, 100*a.WrongOrder.PlusMinus())
			}
			distance := func(a simulation.Accuracy) string {
				return fmt.Sprintf("%+.0f ± %.0f", a.Bias.Value, a.Bias.PlusMinus())
			}
			t.add(p.Name, p.Deals, at.Matches, wrong(at.Elo), wrong(at.Fit), distance(at.Elo), distance(at.Fit),
				noDecimals(at.Elo.Error.Value), noDecimals(at.Fit.Error.Value), fmt.Sprintf("%.0f %%", 100*at.Coverage.Value))
		}
	}
	return t
}

func matchesOrNever(matches float64, format string) any {
	if math.IsInf(matches, 1) {
		return "never"
	}
	return figure{format, matches}
}
