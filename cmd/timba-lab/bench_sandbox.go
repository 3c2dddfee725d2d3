package main

import (
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/lab/bench"
	"github.com/timba-arena/timba/referee/text"
)

func newBenchSandbox() *cobra.Command {
	var b bench.Bench
	var languages []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Measure the cost of sandboxes",
		Long: "Measures bots without a sandbox and in one: at each level with namespaces that this\n" +
			"machine has and, where possible, with the bot stopped between turns. The measurements\n" +
			"alternate. The table shows medians, quartiles and the ratio to the bot without a\n" +
			"sandbox.\n\n" +
			"  start     from the start of a bot to its ready, for the starters of timba init in each\n" +
			"            language that this machine has\n" +
			"  turn      one turn through the referee, with two bots that answer at once\n" +
			"  twelve    from the simultaneous start of twelve Python bots to the last one's ready",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if b.Time <= 0 {
				return fmt.Errorf("bench: time cannot be %v: try 2s", b.Time)
			}
			b.Log = cmd.ErrOrStderr()
			costs, err := b.Sandbox(cmd.Context(), languages)
			if err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), costs)
			}
			writeCosts(cmd.OutOrStdout(), costs)
			return nil
		},
	}
	cmd.Flags().DurationVar(&b.Time, "time", 2*time.Second, "about how long each row is measured")
	cmd.Flags().StringSliceVar(&languages, "languages", nil, "start only bots in these `languages` (default: all that this machine has)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the figures as JSON")
	return cmd
}

func writeCosts(w io.Writer, costs []bench.Cost) {
	writeMachine(w)
	t := text.Table(w)
	t.AppendHeader(table.Row{"what", "bot", "way", "median", "quartiles", "over bare", "ratio", "goal"})
	for _, c := range costs {
		goal := ""
		if c.Goal > 0 {
			goal = fmt.Sprintf("%.2f", c.Goal)
			if c.Ratio > c.Goal {
				goal += " missed"
			}
		}
		over, ratio := "", ""
		if c.Way != "bare" {
			over, ratio = fmt.Sprintf("%+.2f", c.Over), fmt.Sprintf("%.2f", c.Ratio)
		}
		t.AppendRow(table.Row{c.What, c.Bot, c.Way, fmt.Sprintf("%.2f %s", c.Median, c.Unit), fmt.Sprintf("%.2f %.2f", c.Low, c.High), over, ratio, goal})
	}
	t.Render()
}
