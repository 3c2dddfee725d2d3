package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/client"
)

func newBots() *cobra.Command {
	var mine bool
	var owner string
	cmd := &cobra.Command{
		Use:   "bots [BOT]",
		Short: "List the bots of the competition, or one bot's versions and standings",
		Long: "Lists the bots of the competition, or with BOT its versions and standings; a bot that is called\n" +
			"like a command below needs timba bots show BOT. The commands below are for your own bots, show\n" +
			"and history for any.",
		Example: "  timba bots --mine\n  timba bots mybot\n  timba bots withdraw mybot",
		Args:    cobra.MaximumNArgs(1),
	}
	cmd.Flags().BoolVar(&mine, "mine", false, "only your own bots")
	cmd.Flags().StringVar(&owner, "owner", "", "only the bots of this person")
	cmd.MarkFlagsMutuallyExclusive("mine", "owner")
	cmd.AddCommand(newBotsShow(), newBotsWithdraw(), newBotsRestore(), newBotsUse(), newBotsCancel(), newBotsFetch(), newBotsHistory())
	return cli.Result(cmd, func(cmd *cobra.Command, args []string) (any, error) {
		if mine && len(args) > 0 {
			return nil, errors.New("bots: --mine excludes a bot's name: choose one")
		}
		c, err := connect(cmd, mine)
		switch {
		case err != nil:
			return nil, err
		case len(args) > 0:
			return oneBot(cmd.Context(), c, args)
		case mine:
			return client.Collect(c.MyBots(cmd.Context()), 0)
		}
		return client.Collect(c.Bots(cmd.Context(), owner), 0)
	}, func(w io.Writer, answer any) {
		switch answer := answer.(type) {
		case botReport:
			showBot(w, answer)
		case []wire.Bot:
			showBots(w, answer)
		}
	})
}

// newBotsShow shows a bot of any name, also of a command's.
func newBotsShow() *cobra.Command {
	return fromServer(&cobra.Command{
		Use:     "show BOT",
		Short:   "Show one bot's versions and standings",
		Example: "  timba bots show mybot",
		Args:    cobra.ExactArgs(1),
	}, false, oneBot, showBot)
}

func showBots(w io.Writer, bots []wire.Bot) {
	if len(bots) == 0 {
		fmt.Fprintln(w, "no bots yet: send one with timba submit DIR")
		return
	}
	cli.Rows(w, "bot|owner|plays|last version|state|submitted", bots, func(b wire.Bot) []any {
		plays, last, state, submitted := "-", "-", "-", "-"
		if b.Live > 0 {
			plays = fmt.Sprintf("@%d", b.Live)
		}
		if v := b.Latest; v != nil {
			last, state, submitted = versionText(*v), v.State, since(v.Created)
			if v.Remote && v.Version == b.Live {
				plays += ", remote, " + onlineText(*v)
			}
		}
		if !b.Withdrawn.IsZero() {
			state = "withdrawn"
		}
		return []any{b.Name, ownerText(b.Owner, b.House), plays, last, state, submitted}
	})
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

func oneBot(ctx context.Context, c *client.Client, args []string) (r botReport, err error) {
	if r.Bot, err = c.Bot(ctx, args[0]); err != nil {
		return r, err
	}
	r.Versions, err = client.Collect(c.Versions(ctx, args[0]), 0)
	return r, err
}

func showBot(w io.Writer, b botReport) {
	fmt.Fprintf(w, "%s, owner: %s\n", b.Name, ownerText(b.Owner, b.House))
	if !b.Withdrawn.IsZero() {
		fmt.Fprintf(w, "withdrawn %s\n", since(b.Withdrawn))
	}
	fmt.Fprintln(w)
	cli.Rows(w, "version|state|language|games|submitted|hash", b.Versions, func(v wire.Version) []any {
		games := cmp.Or(strings.Join(v.Games, ","), "all")
		return []any{versionText(v), v.State, cli.OrDash(v.Language), games, since(v.Created), hashText(v.SHA256)}
	})
	for _, v := range b.Versions {
		if v.Reason != "" {
			fmt.Fprintf(w, "@%d: %s\n", v.Version, v.Reason)
		}
	}
	if len(b.Standings) > 0 {
		fmt.Fprintln(w)
		printStandings(w, b.Standings, true)
	}
}

// hashText returns the beginning of a version's hash.
func hashText(sha256 string) string { return cli.OrDash(sha256[:min(len(sha256), 12)]) }

// printStandings prints a table of standings; ladders adds a column with the ladder.
func printStandings(w io.Writer, standings []wire.Standing, ladders bool) {
	head := "|bot|owner|Elo|fit|± 95 %|matches|games|wins|draws|losses|faults|last"
	if ladders {
		head = "ladder|" + head
	}
	cli.Rows(w, head, standings, func(s wire.Standing) []any {
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
		row := []any{s.Rank, name, ownerText(s.Owner, s.House), fmt.Sprintf("%.1f", s.Elo), fit, width, s.Matches, s.Games, s.Wins, s.Draws, s.Losses, s.Faults, since(s.Last)}
		if ladders {
			row = append([]any{s.Ladder}, row...)
		}
		return row
	})
}
