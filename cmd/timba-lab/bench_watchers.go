package main

import (
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/lab/bench/livebench"
	"github.com/timba-arena/timba/referee/text"
)

func newBenchWatchers() *cobra.Command {
	c := livebench.Config{}
	cmd := &cobra.Command{
		Use:   "watchers",
		Short: "Measure what watchers cost a match",
		Long: "Measures turns a second of one match while sockets watch it and while they do not, in turn in\n" +
			"one run, and the memory of a socket. The clients of the sockets share the machine with the match.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.Check(); err != nil {
				return fmt.Errorf("bench: %w", err)
			}
			bot, err := livebench.Bot()
			if err != nil {
				return err
			}
			r, err := livebench.Run(cmd.Context(), c, bot)
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			writeMachine(w)
			t := text.Table(w)
			t.AppendHeader(table.Row{"site", "count", "turns/s with", "turns/s without", "ratio", "messages", "MiB", "KiB each"})
			t.AppendRow(table.Row{
				"watchers", c.Watchers, fmt.Sprintf("%.0f", r.With), fmt.Sprintf("%.0f", r.Without), fmt.Sprintf("%.2f", r.Ratio()),
				r.Messages, r.Bytes >> 20, fmt.Sprintf("%.1f", float64(r.Memory)/1024),
			})
			t.Render()
			return nil
		},
	}
	f := cmd.Flags()
	f.IntVar(&c.Watchers, "watchers", 1000, "sockets that watch one match")
	f.IntVar(&c.Rounds, "rounds", 5, "slices of time with and without them")
	f.DurationVar(&c.Time, "time", time.Second, "length of a slice")
	return cmd
}
