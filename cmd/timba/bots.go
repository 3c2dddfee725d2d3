package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/referee/text"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/client"
)

type botsFlags struct {
	mine, json bool
	owner      string
}

func newBots() *cobra.Command {
	var f botsFlags
	cmd := &cobra.Command{
		Use:   "bots [BOT]",
		Short: "List the bots of the competition, or one bot's versions and standings",
		Long: "Lists the bots of the competition, or with BOT its versions and standings; a bot that is called\n" +
			"like a command below needs timba bots show BOT. The commands below are for your own bots, show\n" +
			"and history for any.",
		Example: "  timba bots --mine\n  timba bots mybot\n  timba bots withdraw mybot",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.mine && (f.owner != "" || len(args) > 0) {
				return errors.New("bots: --mine excludes --owner and a bot's name: choose one")
			}
			c, err := connect(cmd, f.mine)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return f.list(cmd, c)
			}
			return f.one(cmd, c, args[0])
		},
	}
	cmd.Flags().BoolVar(&f.mine, "mine", false, "only your own bots")
	cmd.Flags().StringVar(&f.owner, "owner", "", "only the bots of this person")
	cli.JSONFlag(cmd, &f.json)
	cmd.AddCommand(newBotsShow(), newBotsWithdraw(), newBotsRestore(), newBotsUse(), newBotsCancel(), newBotsFetch(), newBotsHistory())
	return cmd
}

// newBotsShow shows a bot of any name, also of a command's.
func newBotsShow() *cobra.Command {
	var f botsFlags
	cmd := &cobra.Command{
		Use:     "show BOT",
		Short:   "Show one bot's versions and standings",
		Example: "  timba bots show mybot",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd, false)
			if err != nil {
				return err
			}
			return f.one(cmd, c, args[0])
		},
	}
	cli.JSONFlag(cmd, &f.json)
	return cmd
}

func (f *botsFlags) list(cmd *cobra.Command, c *client.Client) error {
	list := c.Bots(cmd.Context(), f.owner)
	if f.mine {
		list = c.MyBots(cmd.Context())
	}
	bots, err := client.Collect(list, 0)
	if err != nil {
		return err
	}
	if f.json {
		return cli.WriteJSON(cmd.OutOrStdout(), bots)
	}
	if len(bots) == 0 {
		fmt.Fprintln(cmd.OutOrStdout(), "no bots yet: send one with timba submit DIR")
		return nil
	}
	t := text.Table(cmd.OutOrStdout())
	t.AppendHeader(table.Row{"bot", "owner", "plays", "last version", "state", "submitted"})
	for _, b := range bots {
		row := table.Row{b.Name, ownerText(b.Owner, b.House), "-", "-", "-", "-"}
		if b.Live > 0 {
			row[2] = fmt.Sprintf("@%d", b.Live)
			if v := b.Latest; v != nil && v.Remote && v.Version == b.Live {
				row[2] = fmt.Sprintf("@%d, remote, %s", b.Live, onlineText(*v))
			}
		}
		if v := b.Latest; v != nil {
			row[3], row[4], row[5] = versionText(*v), v.State, since(v.Created)
		}
		if !b.Withdrawn.IsZero() {
			row[4] = "withdrawn"
		}
		t.AppendRow(row)
	}
	t.Render()
	return nil
}

// onlineText returns whether a remote version is connected.
func onlineText(v wire.Version) string {
	if v.Online {
		return "online"
	}
	return "offline"
}

func ownerText(owner string, house bool) string {
	if house {
		return "(house)"
	}
	return cli.OrDash(owner)
}

// versionText returns a version's number and, in brackets, the label from its manifest.
func versionText(v wire.Version) string {
	if v.Label == "" {
		return fmt.Sprintf("@%d", v.Version)
	}
	return fmt.Sprintf("@%d (%s)", v.Version, v.Label)
}

// botReport is the document of `timba bots BOT --json`.
type botReport struct {
	wire.Bot
	Versions []wire.Version `json:"versions"`
}

func (f *botsFlags) one(cmd *cobra.Command, c *client.Client, name string) error {
	b, err := c.Bot(cmd.Context(), name)
	if err != nil {
		return err
	}
	versions, err := client.Collect(c.Versions(cmd.Context(), name), 0)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if f.json {
		return cli.WriteJSON(w, botReport{b, versions})
	}
	fmt.Fprintf(w, "%s, owner: %s\n", b.Name, ownerText(b.Owner, b.House))
	if !b.Withdrawn.IsZero() {
		fmt.Fprintf(w, "withdrawn %s\n", since(b.Withdrawn))
	}
	fmt.Fprintln(w)
	t := text.Table(w)
	t.AppendHeader(table.Row{"version", "state", "language", "games", "submitted", "hash"})
	for _, v := range versions {
		games := strings.Join(v.Games, ",")
		if games == "" {
			games = "all"
		}
		t.AppendRow(table.Row{versionText(v), v.State, cli.OrDash(v.Language), games, since(v.Created), cli.OrDash(v.SHA256[:min(len(v.SHA256), 12)])})
	}
	t.Render()
	for _, v := range versions {
		if v.Reason != "" {
			fmt.Fprintf(w, "@%d: %s\n", v.Version, v.Reason)
		}
	}
	if len(b.Standings) > 0 {
		fmt.Fprintln(w)
		printStandings(w, b.Standings, true)
	}
	return nil
}

// printStandings prints a table of standings; ladders adds a column with the ladder.
func printStandings(w io.Writer, standings []wire.Standing, ladders bool) {
	t := text.Table(w)
	header := table.Row{"", "bot", "owner", "Elo", "fit", "± 95 %", "matches", "games", "wins", "draws", "losses", "faults", "last"}
	if ladders {
		header = append(table.Row{"ladder"}, header...)
	}
	t.AppendHeader(header)
	for _, s := range standings {
		fit, width := "-", "-"
		if s.Fit != nil && s.Fit.Elo != nil {
			fit = fmt.Sprintf("%.1f", *s.Fit.Elo)
		}
		if s.Fit != nil && s.Fit.PlusMinus != nil {
			width = fmt.Sprintf("%.1f", *s.Fit.PlusMinus)
		}
		name := fmt.Sprintf("%s@%d", s.Bot, s.Version)
		if s.Remote {
			name += " (remote)"
		}
		if !s.Active {
			name += " (inactive)"
		}
		row := table.Row{s.Rank, name, ownerText(s.Owner, s.House), fmt.Sprintf("%.1f", s.Elo), fit, width, s.Matches, s.Games, s.Wins, s.Draws, s.Losses, s.Faults, since(s.Last)}
		if ladders {
			row = append(table.Row{s.Ladder}, row...)
		}
		t.AppendRow(row)
	}
	t.Render()
}
