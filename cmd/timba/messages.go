package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/client"
)

func newMessages() *cobra.Command {
	var last int
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "messages",
		Short:   "Read what the competition has to tell you: failed stages, benched bots",
		Example: "  timba messages\n  timba messages --last 100 --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd, true)
			if err != nil {
				return err
			}
			all, err := client.Collect(c.Messages(cmd.Context()), 0)
			if err != nil {
				return err
			}
			all = all[max(0, len(all)-last):]
			w := cmd.OutOrStdout()
			if asJSON {
				return cli.WriteJSON(w, all)
			}
			if len(all) == 0 {
				fmt.Fprintln(w, "there are no messages for you")
			}
			for _, m := range all {
				fmt.Fprintf(w, "%s  %s\n", since(m.Created), ladder.Plain(m.Text))
			}
			return nil
		},
	}
	cli.CountFlag(cmd, &last, "last", 20, "only so many, the newest")
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}
