package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/text"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/client"
	"github.com/timba-arena/timba/web/server"
)

// newWorkers returns the command that shows the machines.
func (f *adminFlags) newWorkers() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workers",
		Short: "Show the machines that play matches, what they play, and why one gets none",
		Long: "Shows the server's own machine and all workers: whether they get matches and why not, their version\n" +
			"of timba, what they play, and what they have finished since the server started. Workers with\n" +
			"credentials that are not connected are away. With --data it shows what a running server has\n" +
			"written in the last seconds; while none runs, all workers are away.",
		Example: "  timba admin workers\n  timba admin workers --data /var/lib/timba",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := f.workers(cmd)
			if err != nil {
				return err
			}
			if f.json {
				return cli.WriteJSON(cmd.OutOrStdout(), list)
			}
			showWorkers(cmd.OutOrStdout(), list)
			return nil
		},
	}
	cli.JSONFlag(cmd, &f.json)
	return cmd
}

// workers returns the machines, from the data directory if --data is set, else from the server.
func (f *adminFlags) workers(cmd *cobra.Command) (list []wire.Machine, err error) {
	if f.data == "" {
		c, err := adminClient(cmd)
		if err != nil {
			return nil, err
		}
		return client.Collect(c.Machines(cmd.Context()), 0)
	}
	runs := false
	err = f.onData(func(*store.Store) (err error) { // it is the directory of a competition
		list, runs, err = server.ReadMachines(datadir.Dir(f.data), time.Now())
		return err
	})
	if err == nil && !runs {
		fmt.Fprintln(cmd.ErrOrStderr(), "no server runs with this data directory: nothing is played")
	}
	return list, err
}

// showWorkers shows machines as a table, then what each plays, then why some get no matches.
func showWorkers(w io.Writer, list []wire.Machine) {
	t := text.Table(w)
	t.AppendHeader(table.Row{"name", "state", "cores", "playing", "last hour", "matches", "void", "starved", "broken", "timba", "system", "sandbox", "seen"})
	for _, m := range list {
		o := m.Operator
		if o == nil {
			o = &wire.MachineOperator{}
		}
		system := cli.OrDash(m.Arch)
		if o.OS != "" {
			system = o.OS + "/" + m.Arch
		}
		t.AppendRow(table.Row{m.Name, m.State, m.Cores, len(m.Playing), m.LastHour, m.Finished, m.Void, m.Starved, o.Broken, cli.OrDash(m.Version), system, cli.OrDash(m.Sandbox), since(m.Seen)})
	}
	t.Render()
	showPlaying(w, list)
	for _, m := range list {
		if m.Reason == "" {
			continue
		}
		until := ""
		if m.State == string(ladder.MachineResting) {
			until = ", until " + m.Until.Local().Format(time.TimeOnly)
		}
		fmt.Fprintf(w, "\n%s %s: %s%s\n", m.Name, m.State, m.Reason, until)
	}
}

func showPlaying(w io.Writer, list []wire.Machine) {
	t := text.Table(w)
	t.AppendHeader(table.Row{"machine", "match", "attempt", "ladder", "bots", "began"})
	n := 0
	for _, m := range list {
		for _, p := range m.Playing {
			t.AppendRow(table.Row{m.Name, p.Match, p.Attempt, cli.OrDash(p.Ladder), strings.Join(p.Bots, ", "), since(p.Began)})
			n++
		}
	}
	if n > 0 {
		fmt.Fprintln(w)
		t.Render()
	}
}
