package main

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/lab/bench"
	"github.com/timba-arena/timba/referee/text"
)

func newBench() *cobra.Command {
	var b bench.Bench
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure this machine",
		Long: "Measures the speed of timba on this machine. Where a lower bound exists, it is measured\n" +
			"in the same run:\n\n" +
			"  turn      one turn through the referee, with two bots that answer at once, compared\n" +
			"            with a bare program that exchanges the same bytes with the same bots\n" +
			"  playout   random games through the rules, on one core\n" +
			"  games     whole games between @random processes, on all cores\n" +
			"  restart   games of a C bot against @greedy at Teeko, compared with a referee that\n" +
			"            starts new processes for each game",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if b.Time <= 0 {
				return fmt.Errorf("bench: time cannot be %v: try 1s", b.Time)
			}
			b.Log = cmd.ErrOrStderr()
			return runBench(cmd, b)
		},
	}
	cmd.AddCommand(newBenchDuplicates(), newBenchEnv(), newBenchFair(), newBenchFleet(), newBenchLadder(), newBenchOpenings(), newBenchRemote(), newBenchSandbox(), newBenchSite(), newBenchWatchers())
	cmd.Flags().DurationVar(&b.Time, "time", time.Second, "about how long each figure is measured")
	return cmd
}

func runBench(cmd *cobra.Command, b bench.Bench) error {
	ctx, w := cmd.Context(), cmd.OutOrStdout()
	writeMachine(w)
	turns, err := b.Turns(ctx)
	if err != nil {
		return err
	}
	t := text.Table(w)
	t.AppendHeader(table.Row{"turn", "referee µs", "floor µs", "ratio"})
	for _, row := range turns {
		t.AppendRow(table.Row{row.Game, fmt.Sprintf("%.2f", row.Referee), fmt.Sprintf("%.2f", row.Floor), fmt.Sprintf("%.2f", row.Ratio)})
	}
	t.Render()
	fmt.Fprintln(w)
	playouts, err := b.Playouts(ctx)
	if err != nil {
		return err
	}
	writeRates(w, "playout", playouts, func(moves float64) string { return fmt.Sprintf("%.2g million", moves/1e6) })
	fmt.Fprintln(w)
	games, err := b.Games(ctx)
	if err != nil {
		return err
	}
	writeRates(w, "games", games, func(moves float64) string { return fmt.Sprintf("%.0f", moves) })
	r, err := b.Restart(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nrestart: %d games at %.0f a second; with new processes for each game %.0f a second: ratio %.1f\n", r.Games, r.Kept, r.Anew, r.Kept/r.Anew)
	return nil
}

func writeMachine(w io.Writer) {
	fmt.Fprintf(w, "%s %s/%s, %d cores\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
}

func writeRates(w io.Writer, title string, rates []bench.Rate, moves func(float64) string) {
	t := text.Table(w)
	t.AppendHeader(table.Row{title, "games/s", "moves/s"})
	for _, r := range rates {
		t.AppendRow(table.Row{r.Game, fmt.Sprintf("%.0f", r.Games), moves(r.Moves)})
	}
	t.Render()
}
