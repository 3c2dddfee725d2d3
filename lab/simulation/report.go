package simulation

import (
	"context"
	"fmt"
	"io"
	"math"
)

// Report is the document of `timba-lab bench ladder --json`.
type Report struct {
	Bots      int         `json:"bots"`
	Deals     int         `json:"deals"`
	Runs      int         `json:"runs"`
	Seed      uint64      `json:"seed"`
	Curves    []Curve     `json:"curves"`
	Newcomers []Newcomers `json:"newcomers"`
}

// Measure plays ladders by every method, and writes Markdown tables as it goes.
func Measure(ctx context.Context, w io.Writer, c Config) (*Report, error) {
	r := &Report{Bots: c.Bots, Deals: c.Deals, Runs: c.Runs, Seed: c.Seed}
	last := c.Matches
	fmt.Fprintf(w, "| method | matches to 0.95 | to 0.99 | rank correlation after 10 | after %d | Kendall | error in Elo | scale |\n", last)
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
	for _, m := range Methods() {
		curves, err := Converge(ctx, c, m)
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
	for _, m := range Methods() {
		if !m.Arrivals {
			continue
		}
		n, err := Arrive(ctx, c, m)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(w, "| %s | %s | %.0f | %.0f | %.0f | %.0f | %+.1f |\n", n.Name, orNever(n.Within(25), "%.0f"),
			n.Median[5], n.Median[10], n.Median[20], n.Ninety[10], n.Shift)
		r.Newcomers = append(r.Newcomers, n)
	}
	return r, nil
}

func printCurve(w io.Writer, c Curve) {
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
