package commands

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/web/client"
	"github.com/timba-arena/timba/web/wire"
)

func newBots() *cobra.Command {
	var mine bool
	var owner string
	cmd := &cobra.Command{
		Use:   "bots [BOT]",
		Short: "List the bots of the competition, or one bot's versions and standings",
		Long: "Lists the bots of the competition, or the versions and standings of BOT. If the bot has the name of a\n" +
			"command below, write timba bots show BOT. The commands show and history are for all bots, the others\n" +
			"for your own.",
		Example: "  timba bots --mine\n  timba bots mybot\n  timba bots withdraw mybot",
		Args:    listOrOne("mine", "owner"),
	}
	cmd.Flags().BoolVar(&mine, "mine", false, "only your own bots")
	cmd.Flags().StringVar(&owner, "owner", "", "only the bots of this person")
	cmd.MarkFlagsMutuallyExclusive("mine", "owner")
	cmd.AddCommand(newBotsChange("withdraw", "Take your bot off the ladders; its history and its name stay", (*client.Client).Withdraw),
		newBotsChange("restore", "Bring back a bot that you have withdrawn", (*client.Client).Restore),
		newBotsShow(), newBotsUse(), newBotsCancel(), newBotsFetch(), newBotsHistory())
	return cli.Result(cmd, func(cmd *cobra.Command, args []string) (any, error) {
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

// newBotsShow returns the command "bots show BOT". It can also show a bot that has the name of a subcommand of
// "bots".
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
	text.Rows(w, "bot|owner|plays|last version|state|submitted", bots, func(b wire.Bot) []any {
		plays, last, state, submitted := "-", "-", "-", "-"
		if b.Live > 0 {
			plays = fmt.Sprintf("@%d", b.Live)
		}
		if v := b.Latest; v != nil {
			last, state, submitted = versionText(*v), v.State, since(v.CreatedAt)
			if v.Remote && v.Version == b.Live {
				plays += ", remote, " + map[bool]string{true: "online", false: "offline"}[v.Online]
			}
		}
		if !b.WithdrawnAt.IsZero() {
			state = "withdrawn"
		}
		if !b.BannedAt.IsZero() {
			state = "banned"
		}
		return []any{b.Name, ownerText(b.Owner, b.House), plays, last, state, submitted}
	})
}

func ownerText(owner string, house bool) string {
	if house {
		return "(house)"
	}
	return cli.OrDash(owner)
}

// versionText returns a version's number and, if it has one, its label in parentheses, as in "@2 (1.0)".
func versionText(v wire.Version) string {
	if v.Label == "" {
		return fmt.Sprintf("@%d", v.Version)
	}
	return fmt.Sprintf("@%d (%s)", v.Version, v.Label)
}

// botReport is the JSON document of `timba bots BOT --json`.
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
	switch {
	case b.BanReason != "":
		fmt.Fprintf(w, "banned %s: %s\n", since(b.BannedAt), b.BanReason)
	case !b.BannedAt.IsZero():
		fmt.Fprintf(w, "banned %s\n", since(b.BannedAt))
	case !b.WithdrawnAt.IsZero():
		fmt.Fprintf(w, "withdrawn %s\n", since(b.WithdrawnAt))
	}
	fmt.Fprintln(w)
	text.Rows(w, "version|state|language|games|submitted|hash", b.Versions, func(v wire.Version) []any {
		games := cmp.Or(strings.Join(v.Games, ","), "all")
		return []any{versionText(v), v.State, cli.OrDash(v.Language), games, since(v.CreatedAt), hashText(v.SHA256)}
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

func hashText(sha256 string) string { return cli.OrDash(sha256[:min(len(sha256), 12)]) }

// printStandings prints a table of standings. If ladders is true, the table has a column for the ladder.
func printStandings(w io.Writer, standings []wire.Standing, ladders bool) {
	head := "|bot|owner|Elo|fit|± 95 %|matches|games|wins|draws|losses|faults|last"
	if ladders {
		head = "ladder|" + head
	}
	text.Rows(w, head, standings, func(s wire.Standing) []any {
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
		if s.Provisional {
			name += " (provisional)"
		}
		rank := "-"
		if s.Rank > 0 {
			rank = strconv.Itoa(s.Rank)
		}
		row := []any{rank, name, ownerText(s.Owner, s.House), fmt.Sprintf("%.1f", s.Elo), fit, width, s.Matches, s.Games, s.Wins, s.Draws, s.Losses, s.Faults, since(s.LastMatchAt)}
		if ladders {
			row = append([]any{s.Ladder}, row...)
		}
		return row
	})
}

func newBotsChange(name, short string, change func(c *client.Client, ctx context.Context, bot string) (wire.Bot, error)) *cobra.Command {
	return onServer(&cobra.Command{
		Use:     name + " BOT",
		Short:   short,
		Example: "  timba bots " + name + " mybot",
		Args:    cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		b, err := change(c, cmd.Context(), args[0])
		return showChangedBot(cmd.OutOrStdout(), args[0], b, err)
	})
}

func newBotsUse() *cobra.Command {
	return onServer(&cobra.Command{
		Use:   "use BOT N",
		Short: "Let an earlier version of your bot play again",
		Long: "Makes an earlier version N of your bot live again. It continues with its own rating, and the version\n" +
			"that is live now is retired.",
		Example: "  timba bots use mybot 3",
		Args:    cobra.ExactArgs(2),
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		n, err := strconv.Atoi(args[1])
		if err != nil || n < 1 {
			return fmt.Errorf("version %q: give its number, as in timba bots use %s 3", args[1], args[0])
		}
		b, err := c.UseVersion(cmd.Context(), args[0], n)
		return showChangedBot(cmd.OutOrStdout(), args[0], b, err)
	})
}

// showChangedBot prints which version the bot b plays with after a change. b and err are the results of the change.
// If err is not nil, showChangedBot prints nothing and returns err.
func showChangedBot(w io.Writer, name string, b wire.Bot, err error) error {
	switch {
	case err != nil:
		return err
	case !b.WithdrawnAt.IsZero():
		fmt.Fprintf(w, "%s is withdrawn: timba bots restore %s brings it back\n", name, name)
	case b.Live == 0:
		fmt.Fprintf(w, "%s is back, and no version of it is live: timba bots %s lists them\n", name, name)
	default:
		fmt.Fprintf(w, "%s@%d is live\n", name, b.Live)
	}
	return nil
}

func newBotsCancel() *cobra.Command {
	return onServer(&cobra.Command{
		Use:     "cancel BOT",
		Short:   "Cancel your submission that waits for its turn",
		Example: "  timba bots cancel mybot",
		Args:    cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		b, err := c.Bot(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		if b.Latest == nil || b.Latest.Submission == 0 {
			return fmt.Errorf("bots: %s has no submission of yours: timba bots --mine lists your bots", args[0])
		}
		s, err := c.CancelSubmission(cmd.Context(), b.Latest.Submission)
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "cancelled %s@%d\n", s.Version.Bot, s.Version.Version)
		return nil
	})
}

func newBotsFetch() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "fetch BOT[@N]",
		Short: "Fetch what you have uploaded, byte for byte",
		Long: "Fetches the upload of version N of your bot. Without @N it fetches the live version or, if no version\n" +
			"is live, the latest. It writes the upload to a file in the current directory, such as mybot-3.tar.gz.",
		Example: "  timba bots fetch mybot\n  timba bots fetch mybot@3 --out old.tar.gz",
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&out, "out", "", "write it to this `FILE`")
	return onServer(cmd, func(cmd *cobra.Command, c *client.Client, args []string) error {
		bot, n, err := service.SplitRef(args[0])
		if err != nil {
			return err
		}
		if n == 0 {
			b, err := c.Bot(cmd.Context(), bot)
			if err != nil {
				return err
			}
			if n = b.Live; n == 0 && b.Latest != nil {
				n = b.Latest.Version
			}
		}
		u, err := c.Upload(cmd.Context(), bot, n)
		if err != nil {
			return err
		}
		defer u.Body.Close()
		out = cmp.Or(out, u.Name)
		var size int64
		err = cli.WriteNew(out, 0o644, func(w io.Writer) (err error) {
			if size, err = io.Copy(w, u.Body); err != nil {
				return fmt.Errorf("bots: %w", err)
			}
			return nil
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s@%d is in %s, %s\n", bot, n, out, bundle.FormatSize(size))
		return nil
	})
}

func newBotsHistory() *cobra.Command {
	var ladder string
	var last int
	cmd := &cobra.Command{
		Use:   "history BOT[@N]",
		Short: "How the rating of a bot has moved, match by match",
		Long: "Shows how each match has changed the rating of version N. Without @N it shows the live version or, if\n" +
			"no version is live, the latest. If a ladder has more matches than --last, those shown are evenly spaced.",
		Example: "  timba bots history mybot --ladder tebes-4\n  timba bots history mybot@3 --last 1000 --json",
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&ladder, "ladder", "", "only on this ladder")
	cli.CountFlag(cmd, &last, "last", 20, "the largest number of matches of each ladder")
	return fromServer(cmd, false, func(ctx context.Context, c *client.Client, args []string) ([]history, error) {
		bot, n, err := service.SplitRef(args[0])
		if err != nil {
			return nil, err
		}
		return historiesOf(ctx, c, bot, n, ladder, last)
	}, showHistories)
}

// history has the changes of a version's rating by the matches on one ladder.
type history struct {
	Ladder  string        `json:"ladder"`
	Changes []wire.Change `json:"changes"`
}

// historiesOf returns how matches have changed the rating of version n of a bot, for each ladder with such changes.
// last is the largest number of changes per ladder; the newest are returned. If ladder is not "", it returns only the
// changes on that ladder.
func historiesOf(ctx context.Context, c *client.Client, bot string, n int, ladder string, last int) ([]history, error) {
	b, err := c.Bot(ctx, bot)
	if err != nil {
		return nil, err
	}
	var ladders []string
	for _, s := range b.Standings { // a bot may have several versions on a ladder
		if len(ladders) == 0 || ladders[len(ladders)-1] != s.Ladder {
			ladders = append(ladders, s.Ladder)
		}
	}
	if ladder != "" {
		ladders = []string{ladder}
	}
	histories := []history{}
	for _, name := range ladders {
		changes, err := c.History(ctx, bot, name, n, last)
		if err != nil {
			return nil, err
		}
		if len(changes) > 0 {
			histories = append(histories, history{name, changes})
		}
	}
	return histories, nil
}

func showHistories(w io.Writer, histories []history) {
	if len(histories) == 0 {
		fmt.Fprintln(w, "no match has moved its rating yet")
		return
	}
	var rows [][]any
	for _, h := range histories {
		for _, c := range h.Changes {
			rows = append(rows, []any{h.Ladder, fmt.Sprintf("@%d", c.Version), c.Number, c.Match, fmt.Sprintf("%.1f", c.Before), fmt.Sprintf("%.1f", c.After),
				fmt.Sprintf("%+.1f", c.After-c.Before), fmt.Sprintf("%.3f", c.Score), fmt.Sprintf("%.3f", c.ExpectedScore)})
		}
	}
	text.Rows(w, "ladder|version|number|match|before|after|change|score|expected", rows, func(row []any) []any { return row })
}
