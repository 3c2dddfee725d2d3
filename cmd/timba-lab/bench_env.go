package main

import (
	"fmt"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/lab/env"
	"github.com/timba-arena/timba/referee/rules/games"
	"github.com/timba-arena/timba/referee/text"
)

func newBenchEnv() *cobra.Command {
	var each time.Duration
	cmd := &cobra.Command{
		Use:   "env",
		Short: "Measure random games through the client of timba-lab env in Python",
		Long: "Plays random games through the client in Python and timba-lab env, both on one core, and prints\n" +
			"how many games a second are played, by the clock and by the time that the core was used.\n" +
			"The actions are chosen by numpy from the lists or from the masks of the legal ones, or\n" +
			"without numpy. Brisca is compared with the environment of a study.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if each <= 0 {
				return fmt.Errorf("bench env: time cannot be %v: try 1s", each)
			}
			return benchEnv(cmd, each)
		},
	}
	cmd.Flags().DurationVar(&each, "time", 2*time.Second, "about how long each figure is measured")
	return cmd
}

func benchEnv(cmd *cobra.Command, each time.Duration) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	_, numpy, err := env.FindPython(cmd.Context())
	if err != nil {
		return err
	}
	if !numpy {
		fmt.Fprintln(cmd.ErrOrStderr(), "bench env: numpy is missing: only the standard library is measured")
	}
	var names []string
	for _, g := range games.All() {
		names = append(names, g.Name)
	}
	writeMachine(cmd.OutOrStdout())
	t := text.Table(cmd.OutOrStdout())
	t.AppendHeader(table.Row{"env", "actions chosen by", "games/s", "games/s of CPU", "moves/s of CPU", "study's games/s", "ratio", "of CPU"})
	err = env.Bench(cmd.Context(), self, names, each, func(r env.Rate) {
		wall, cpu := float64(r.Games)/r.Wall, float64(r.Games)/r.CPU
		row := table.Row{r.Game, r.Way, fmt.Sprintf("%.0f", wall), fmt.Sprintf("%.0f", cpu), fmt.Sprintf("%.0f", float64(r.Moves)/r.CPU)}
		if r.Game == "brisca" {
			row = append(row, env.StudyRate, fmt.Sprintf("%.0f", wall/env.StudyRate), fmt.Sprintf("%.0f", cpu/env.StudyRate))
		}
		t.AppendRow(row)
	})
	if err != nil {
		return err
	}
	t.Render()
	return nil
}
