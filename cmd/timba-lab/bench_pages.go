package main

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/lab/bench/sitebench"
	"github.com/timba-arena/timba/referee/text"
)

// pagesFlags are the flags of timba-lab bench site for its pages.
type pagesFlags struct {
	size           sitebench.Size
	requests, rate int
}

func (p *pagesFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&p.size.Matches, "matches", 100_000, "finished matches of the competition")
	f.IntVar(&p.size.Bots, "bots", 500, "bots of people")
	f.IntVar(&p.requests, "requests", 200, "requests for each page")
	f.IntVar(&p.rate, "rate", 20, "matches finished in a second meanwhile, at most")
}

// check returns an error for a flag that makes no sense.
func (p *pagesFlags) check() error {
	for _, x := range []struct {
		name       string
		value, low int
	}{{"matches", p.size.Matches, 0}, {"bots", p.size.Bots, 40}, {"requests", p.requests, 1}, {"rate", p.rate, 1}} {
		if x.value < x.low {
			return fmt.Errorf("bench site: --%s cannot be %d: try at least %d", x.name, x.value, x.low)
		}
	}
	return nil
}

// poolSize is the number of matches of each ladder that are really played.
const poolSize = 20

// benchPages measures the pages and prints them.
func benchPages(cmd *cobra.Command, p pagesFlags) error {
	if err := p.check(); err != nil {
		return err
	}
	p.size.Pool = poolSize
	r, err := sitebench.Pages(cmd.Context(), p.size, p.requests, p.rate)
	if err != nil {
		return err
	}
	t := text.Table(cmd.OutOrStdout())
	t.AppendHeader(table.Row{"page", "CPU ms", "median ms", "p95 ms", "first load KB"})
	ms := func(seconds float64) string { return fmt.Sprintf("%.1f", 1000*seconds) }
	for _, x := range r.Pages {
		t.AppendRow(table.Row{x.Name, ms(x.CPU.Seconds()), ms(x.Median.Seconds()), ms(x.P95.Seconds()), fmt.Sprintf("%.1f", float64(x.Load)/1000)})
	}
	t.Render()
	fmt.Fprintf(cmd.OutOrStdout(), "%d matches were made in %.0f s; %.1f were finished a second beside the requests\n", p.size.Matches, r.Filled.Seconds(), r.Finished)
	return nil
}
