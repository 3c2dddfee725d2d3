package simulation

import (
	"context"
	"fmt"
	"io"
)

// Report is the result of all simulations.
type Report struct {
	Bots      int         `json:"bots"`
	Deals     int         `json:"deals"`
	Runs      int         `json:"runs"`
	Seed      uint64      `json:"seed"`
	Curves    []Curve     `json:"curves"`
	Newcomers []Newcomers `json:"newcomers"`
	// Populations are typical ladders, rated by the method of timba's ladders.
	Populations []PopulationResult `json:"populations"`
}

// Measure runs all simulations for all methods and returns their results. It writes its progress to log.
func Measure(ctx context.Context, c Config, log io.Writer) (*Report, error) {
	r := &Report{Bots: c.Bots, Deals: c.Deals, Runs: c.Runs, Seed: c.Seed}
	for _, m := range Methods() {
		fmt.Fprintf(log, "playing ladders: %s\n", m.Name)
		curves, err := SimulateConvergence(ctx, c, m)
		if err != nil {
			return nil, err
		}
		r.Curves = append(r.Curves, curves...)
		if !m.WithNewcomers {
			continue
		}
		n, err := SimulateNewcomers(ctx, c, m)
		if err != nil {
			return nil, err
		}
		r.Newcomers = append(r.Newcomers, n)
	}
	fmt.Fprintln(log, "playing ladders as competitions have them")
	var err error
	r.Populations, err = SimulatePopulations(ctx, c)
	return r, err
}
