package commands

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/web/client"
	"github.com/timba-arena/timba/web/wire"
)

// ladderReport is an element of the JSON document of `timba standings --json`.
type ladderReport struct {
	wire.Ladder
	Standings []wire.Standing `json:"standings"`
}

func newStandings() *cobra.Command {
	var all bool
	var limit int
	cmd := &cobra.Command{
		Use:   "standings [LADDER]",
		Short: "Show the standings of the ladders",
		Long: "Shows the standings of all ladders, or of one. Elo changes with every match; fit is the\n" +
			"maximum-likelihood rating over all matches, with its 95 % interval. The rank is by fit; a version\n" +
			"without a match has none. A rating is provisional until its interval is below ± 100 and the version\n" +
			"has met three others.",
		Example: "  timba standings\n  timba standings brisca-2 --all",
		Args:    cobra.MaximumNArgs(1),
	}
	cmd.Flags().BoolVar(&all, "all", false, "also show inactive versions and ladders")
	cli.CountFlag(cmd, &limit, "limit", 0, "the largest number of places on a ladder (default: all)")
	return fromServer(cmd, false, func(ctx context.Context, c *client.Client, args []string) ([]ladderReport, error) {
		ladders, err := c.Ladders(ctx)
		switch {
		case err != nil:
		case len(args) > 0:
			ladders, err = oneLadder(ladders, args[0])
		case !all:
			ladders = slices.DeleteFunc(ladders, func(l wire.Ladder) bool { return !l.Active })
		}
		if err != nil {
			return nil, err
		}
		reports := []ladderReport{}
		for _, l := range ladders {
			places, err := client.Collect(c.Standings(ctx, l.Name, all), limit)
			if err != nil {
				return nil, err
			}
			reports = append(reports, ladderReport{l, places})
		}
		return reports, nil
	}, func(w io.Writer, reports []ladderReport) {
		for i, r := range reports {
			if i > 0 {
				fmt.Fprintln(w)
			}
			paused := ""
			if !r.PausedAt.IsZero() {
				paused = " (paused)"
			}
			fmt.Fprintf(w, "%s: %s%s\n", r.Name, r.Title, paused)
			printStandings(w, r.Standings, false)
		}
	})
}

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
