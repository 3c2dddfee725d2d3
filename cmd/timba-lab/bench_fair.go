package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/lab/bench/fairness"
	"github.com/timba-arena/timba/referee/text"
)

func newBenchFair() *cobra.Command {
	var b fairness.Bench
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "fair",
		Short: "Measure what attackers cost the others of a competition",
		Long: "Starts a server in a process of its own, with a temporary competition between house bots and\n" +
			"with people who submit bots and ask for the ladders. Attacks it in " + text.Count(len(fairness.Names()), "way") + ": " + strings.Join(fairness.Names(), ", ") + ".\n" +
			"Counts, without and with each attack by turns, how many rated matches, submissions and requests\n" +
			"of the others come through, and shows the medians. The attackers run on the same machine.\n\n" +
			"  kept   the part of the rate that remains; in brackets, of what the attack is not due: matches\n" +
			"         that people ask for may have limits.share percent of the workers' time, and\n" +
			fmt.Sprintf("         submissions half of it. The goal is %.1f. See docs/operating.md", fairness.Goal),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if b.Program, err = findTimba(b.Program); err != nil {
				return err
			}
			b.Log = cmd.ErrOrStderr()
			var all []fairness.Row
			if err := b.Run(cmd.Context(), func(rows []fairness.Row) { all = append(all, rows...) }); err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), all)
			}
			writeFair(cmd, all)
			return nil
		},
	}
	f := cmd.Flags()
	f.DurationVar(&b.Window, "time", 10*time.Second, "how long each count takes")
	f.IntVar(&b.Rounds, "rounds", 5, "counts without and with each attack")
	f.IntVar(&b.Workers, "workers", 0, "workers of the server (default: one for each core)")
	f.StringSliceVar(&b.Attacks, "attacks", nil, "make only these `attacks` (default: all)")
	programFlag(cmd, &b.Program)
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

func writeFair(cmd *cobra.Command, all []fairness.Row) {
	w := cmd.OutOrStdout()
	writeMachine(w)
	t := text.Table(w)
	t.AppendHeader(table.Row{"attack", "of the others", "without", "with", "kept", "goal"})
	for _, r := range all {
		kept, goal := fmt.Sprintf("%.2f", r.Ratio), fmt.Sprintf("%.2f", fairness.Goal)
		if r.Due > 0 {
			kept += fmt.Sprintf(" (%.2f)", r.Kept())
		}
		if r.Kept() < fairness.Goal {
			goal += " missed"
		}
		t.AppendRow(table.Row{r.Attack, r.What, fmt.Sprintf("%.1f/%s", r.Without, r.Unit), fmt.Sprintf("%.1f/%s", r.With, r.Unit), kept, goal})
	}
	t.Render()
}
