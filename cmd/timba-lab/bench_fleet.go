package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/lab/bench/fleetbench"
	"github.com/timba-arena/timba/lab/chart"
	"github.com/timba-arena/timba/referee/text"
)

func newBenchFleet() *cobra.Command {
	b := fleetbench.Bench{Args: []string{"bench", "fleet"}}
	var plotFile string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Measure a server with many workers",
		Long: "Starts a server in a process of its own, with a temporary competition of many versions, whose NATS\n" +
			"is open on loopback with TLS and credentials, and workers in another process that connect, tell of\n" +
			"themselves, take jobs and hand in results as timba worker does. Nothing is played: the results are\n" +
			"made from matches that were played before. Server and workers share the machine.\n\n" +
			"  matches/s       matches that the server has chosen, handed out, checked, rated and stored\n" +
			"  standings       95 % of the requests for them were quicker, of ten a second meanwhile\n" +
			"  CPU             processor time a match of the server, and of all workers\n" +
			"  memory          of the server\n" +
			"  sent, received  bytes of messages from the server and to it, a match, without TLS\n" +
			"  disk            bytes by which the data directory has grown, a match\n\n" +
			"The first table has matches of two short games, by the number of workers. The second has matches of\n" +
			"ladders of the default configuration, with 10 workers and 100 versions. The tables are Markdown, as\n" +
			"in docs/scaling.md, which tells what they mean.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if plan := os.Getenv(fleetbench.ChildEnv); plan != "" {
				return fleetbench.RunChild(cmd.Context(), plan, cli.Version(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			if b.Program, err = os.Executable(); err != nil {
				return fmt.Errorf("bench: %w", err)
			}
			b.Log = cmd.ErrOrStderr()
			return benchFleet(cmd, b, plotFile, asJSON)
		},
	}
	f := cmd.Flags()
	f.IntSliceVar(&b.Workers, "workers", []int{1, 10, 100, 1000}, "`numbers` of workers, of one core each")
	f.IntVar(&b.Versions, "versions", 10_000, "versions on the ladder")
	f.DurationVar(&b.Time, "time", 20*time.Second, "how long each row of the tables is measured")
	f.StringSliceVar(&b.Ladders, "ladders", []string{"brisca-2", "tute-2", "podrida-4", "tebes-6", "teeko"}, "`ladders` of the default configuration, or "+fleetbench.None)
	f.BoolVar(&b.Verify, "verify", false, "verify the database after each row of the first table, as timba admin verify does")
	f.StringVar(&plotFile, "plot", "", "write the curves to this file, .svg, .png or .pdf")
	f.StringVar(&b.Profile, "profile", "", "write a profile of the server's processor time to this `file`, with the last number of workers")
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

func benchFleet(cmd *cobra.Command, b fleetbench.Bench, plotFile string, asJSON bool) error {
	if err := chart.Check(plotFile); err != nil {
		return err
	}
	r, err := b.Run(cmd.Context())
	if err != nil {
		return err
	}
	if plotFile != "" {
		if err := r.Draw(plotFile); err != nil {
			return err
		}
	}
	if asJSON {
		return cli.WriteJSON(cmd.OutOrStdout(), r)
	}
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "%s; %s\n\n", r.Machine, text.Count(r.Versions, "version"))
	writeFleet(w, "workers", r.Rows, func(x fleetbench.Row) any { return x.Workers })
	if len(r.Ladders) > 0 {
		fmt.Fprintln(w)
		writeFleet(w, "ladder", r.Ladders, func(x fleetbench.Row) any { return x.Ladder })
	}
	return nil
}

// writeFleet writes rows that begin with a name or a number as a table.
func writeFleet(w io.Writer, title string, rows []fleetbench.Row, name func(fleetbench.Row) any) {
	t := text.Table(w)
	t.AppendHeader(table.Row{title, "matches/s", "standings", "server CPU", "workers CPU", "memory", "sent", "received", "disk"})
	for _, x := range rows {
		whole := func(v float64, unit string) string { return fmt.Sprintf("%.0f %s", v, unit) }
		t.AppendRow(table.Row{
			name(x), fmt.Sprintf("%.0f", x.Rate), fmt.Sprintf("%.1f ms", x.Standings), whole(x.Server, "µs"), whole(x.Worker, "µs"),
			whole(x.Memory/1e6, "MB"), whole(x.Sent, "B"), whole(x.Received, "B"), whole(x.Disk, "B"),
		})
	}
	t.RenderMarkdown()
}
