package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/client"
)

// ladderReport is an element of the document of `timba standings --json`.
type ladderReport struct {
	wire.Ladder
	Standings []wire.Standing `json:"standings"`
}

func newStandings() *cobra.Command {
	var asJSON, all bool
	var limit int
	cmd := &cobra.Command{
		Use:   "standings [LADDER]",
		Short: "Show the standings of the ladders",
		Long: "Shows the standings of all ladders, or of one. Elo changes with every match; fit is the\n" +
			"maximum-likelihood rating over all matches, with its 95 % interval.",
		Example: "  timba standings\n  timba standings brisca-2 --all",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd, false)
			if err != nil {
				return err
			}
			ladders, err := c.Ladders(cmd.Context())
			if err != nil {
				return err
			}
			if len(args) > 0 {
				if ladders, err = oneLadder(ladders, args[0]); err != nil {
					return err
				}
			} else if !all {
				ladders = slices.DeleteFunc(ladders, func(l wire.Ladder) bool { return !l.Active })
			}
			reports := []ladderReport{}
			for _, l := range ladders {
				places, err := client.Collect(c.Standings(cmd.Context(), l.Name, all), limit)
				if err != nil {
					return err
				}
				reports = append(reports, ladderReport{l, places})
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), reports)
			}
			for i, r := range reports {
				if i > 0 {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", r.Name, r.Title)
				printStandings(cmd.OutOrStdout(), r.Standings, false)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "also show inactive versions and ladders")
	cli.CountFlag(cmd, &limit, "limit", 0, "the largest number of places on a ladder (default: all)")
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

// oneLadder returns the ladder with a name.
func oneLadder(ladders []wire.Ladder, name string) ([]wire.Ladder, error) {
	var names []string
	for _, l := range ladders {
		if l.Name == name {
			return []wire.Ladder{l}, nil
		}
		names = append(names, l.Name)
	}
	return nil, fmt.Errorf("ladder %q does not exist: try %s", name, strings.Join(names, ", "))
}
