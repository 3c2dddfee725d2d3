package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/web/client"
	"github.com/timba-arena/timba/web/wire"
)

func newMatches() *cobra.Command {
	var filter client.MatchFilter
	var bot string
	var limit int
	var games bool
	cmd := &cobra.Command{
		Use:   "matches [ID]",
		Short: "List the matches of the competition, or show one and its rating changes",
		Long: "Lists matches, the newest first. With ID it shows one match: its bots, their ratings before and\n" +
			"after it, the commitment that was public before it, and its seed.",
		Example: "  timba matches --bot mybot\n  timba matches --ladder brisca-2 --state running\n  timba matches 1234 --games\n" +
			"  timba matches ask brisca-2 mybot @greedy",
		Args: listOrOne("ladder", "bot", "state", "limit"),
	}
	flags := cmd.Flags()
	flags.StringVar(&filter.Ladder, "ladder", "", "only matches of this ladder")
	flags.StringVar(&bot, "bot", "", "only matches of this `BOT[@N]`")
	flags.StringVar(&filter.State, "state", "", "only matches in this state: waiting|running|finished|dropped")
	cli.NumberFlag(cmd, &limit, "limit", 20, 0, math.MaxInt, "the largest number of matches; 0: all")
	flags.BoolVar(&games, "games", false, "with ID: also its games")
	cmd.AddCommand(newMatchesAsk(), newMatchesCancel())
	return fromServer(cmd, false, func(ctx context.Context, c *client.Client, args []string) (any, error) {
		if len(args) > 0 {
			return oneMatch(ctx, c, args[0], games)
		}
		if games {
			return nil, errors.New("matches: --games needs the ID of a match")
		}
		var err error
		if filter.Bot, filter.Version, err = service.SplitRef(bot); err != nil {
			return nil, err
		}
		return client.Collect(c.Matches(ctx, filter), limit)
	}, func(w io.Writer, answer any) {
		switch answer := answer.(type) {
		case matchReport:
			showMatch(w, answer)
		case []wire.Match:
			text.Rows(w, "match|ladder|state|when|bots", answer, func(m wire.Match) []any {
				return []any{m.ID, ladderText(m), m.State, since(cmp.Or(m.FinishedAt, m.StartedAt, m.CreatedAt)), botsText(m)}
			})
		}
	})
}

func ladderText(m wire.Match) string {
	if m.Ladder == "" {
		return m.Game + " (unrated)"
	}
	return m.Ladder
}

// botsText returns the names of the versions in a match, each with the change of its rating.
func botsText(m wire.Match) string {
	var words []string
	for slot, v := range m.Versions {
		word := fmt.Sprintf("%s@%d", v.Bot, v.Version)
		for _, c := range m.Changes {
			if c.Slot == slot {
				word += fmt.Sprintf(" %+.1f", c.After-c.Before)
			}
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// matchReport is the JSON document of `timba matches ID --json`.
type matchReport struct {
	wire.Match
	Games []wire.Game `json:"games,omitempty"`
}

func oneMatch(ctx context.Context, c *client.Client, arg string, games bool) (r matchReport, err error) {
	id, err := idOf("match", arg)
	if err != nil {
		return r, err
	}
	if r.Match, err = c.Match(ctx, id); err == nil && games {
		r.Games, err = client.Collect(c.Games(ctx, id), 0)
	}
	return r, err
}

func showMatch(w io.Writer, r matchReport) {
	printMatch(w, r.Match)
	if len(r.Games) > 0 {
		fmt.Fprintln(w)
		printGames(w, r.Games)
	}
}

func printMatch(w io.Writer, m wire.Match) {
	fmt.Fprintf(w, "match %d, %s, %s, %s\n", m.ID, ladderText(m), text.Count(m.Deals, "deal"), m.Clock)
	made := "made"
	if m.RequestedBy != "" {
		made = "asked for by " + m.RequestedBy
	}
	fmt.Fprintf(w, "%s, %s %s\n", m.State, made, since(m.CreatedAt))
	if m.Reason != "" {
		fmt.Fprintln(w, m.Reason)
	}
	if len(m.Changes) > 0 && m.Changes[0].Deals < m.Deals {
		fmt.Fprintf(w, "%d of the deals count: the others repeat earlier games of the same versions\n", m.Changes[0].Deals)
	}
	var options []string
	for name, value := range m.Options {
		options = append(options, name+"="+value)
	}
	slices.Sort(options)
	fmt.Fprintf(w, "%s %s\n\n", m.Game, strings.Join(options, " "))
	head := "bot|owner|hash"
	if len(m.Versions) > 0 && m.Versions[0].Record != nil {
		head += "|won|drawn|lost"
	}
	if len(m.Changes) > 0 {
		head += "|Elo before|after|moved|score|expected|K"
	}
	slot := 0
	text.Rows(w, head, m.Versions, func(v wire.Ref) []any {
		name := fmt.Sprintf("%s@%d", v.Bot, v.Version)
		if v.Remote {
			name += " (remote)"
		}
		row := []any{name, ownerText(v.Owner, v.House), hashText(v.SHA256)}
		if r := v.Record; r != nil {
			row = append(row, r.Wins, r.Draws, r.Losses)
		}
		for _, c := range m.Changes {
			if c.Slot == slot {
				row = append(row, fmt.Sprintf("%.1f", c.Before), fmt.Sprintf("%.1f", c.After), fmt.Sprintf("%+.1f", c.After-c.Before),
					fmt.Sprintf("%.1f %%", 100*c.Score), fmt.Sprintf("%.1f %%", 100*c.ExpectedScore), fmt.Sprintf("%.1f", c.K))
			}
		}
		slot++
		return row
	})
	for _, a := range m.Attempts {
		on := ""
		if a.Machine != "" {
			on = " on " + a.Machine
		}
		fmt.Fprintf(w, "\nattempt %d%s, %s\ncommitment %s\nseed       %s\n", a.Number, on, since(a.StartedAt), a.Commitment, cli.OrDash(a.Seed))
		if a.Reason != "" {
			fmt.Fprintln(w, a.Reason)
		}
	}
}

func printGames(w io.Writer, games []wire.Game) {
	text.Rows(w, "game|deal|rotation|plies|by rank", games, func(g wire.Game) []any {
		seats := slices.Clone(g.Seats)
		slices.SortStableFunc(seats, func(a, b wire.GameSeat) int { return a.Rank - b.Rank })
		var words []string
		for _, s := range seats {
			word := fmt.Sprintf("%d. %s (%g)", s.Rank, s.Bot, s.Points)
			if s.Fault != "" {
				word += " " + s.Fault
			}
			words = append(words, word)
		}
		return []any{g.ID, g.Deal, g.Rotation, g.Plies, strings.Join(words, ", ")}
	})
}

type askFlags struct {
	set   []string
	deals int
	watch bool
}

func newMatchesAsk() *cobra.Command {
	var f askFlags
	cmd := &cobra.Command{
		Use:   "ask LADDER|GAME BOT BOT...",
		Short: "Ask for an unrated match between any bots",
		Long: "Asks for a match with the rules of a ladder, or of a game with --set for its options. The match\n" +
			"changes no rating. A BOT is the name of any bot of the competition; NAME@N is one of its\n" +
			"versions.",
		Example: "  timba matches ask brisca-2 mybot @greedy --watch\n  timba matches ask tute mybot mybot@2 --set followonly=yes --deals 20",
		Args:    cobra.MinimumNArgs(3),
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.set, "set", nil, "option of the game, as `name=value`; may be repeated")
	cli.CountFlag(cmd, &f.deals, "deals", 0, "deals of the match, each played in every rotation (default: the server's choice)")
	flags.BoolVar(&f.watch, "watch", false, "wait until it ends, and show it; meanwhile print its place in the queue")
	ask := func(ctx context.Context, c *client.Client, args []string) (wire.Match, error) {
		return f.ask(ctx, c, args, cmd.ErrOrStderr())
	}
	return fromServer(cmd, true, ask, func(w io.Writer, m wire.Match) {
		if f.watch {
			printMatch(w, m)
		} else {
			fmt.Fprintf(w, "match %d is waiting: timba matches %d --games shows it\n", m.ID, m.ID)
		}
	})
}

// ask asks the server for a match of the ladder or game args[0] with the bots args[1:], and returns the match. With
// --watch it waits until the match has ended, and prints the progress to w.
func (f *askFlags) ask(ctx context.Context, c *client.Client, args []string, w io.Writer) (m wire.Match, err error) {
	what := args[0]
	asked := wire.AskedMatch{Deals: f.deals, Bots: args[1:]}
	ladders, err := c.Ladders(ctx)
	if err != nil {
		return m, err
	}
	if slices.ContainsFunc(ladders, func(l wire.Ladder) bool { return l.Name == what }) {
		if asked.Ladder = what; len(f.set) > 0 {
			return m, fmt.Errorf("matches: --set needs a game, and %q is a ladder, which sets its own options: leave out --set", what)
		}
	} else {
		v, err := resolveGame(what, f.set, len(asked.Bots))
		if err != nil {
			return m, fmt.Errorf("%w: or name a ladder of timba standings", err)
		}
		asked.Game, asked.Options = what, v.Settings.Map()
	}
	if m, err = c.AskMatch(ctx, asked); err == nil && f.watch {
		m, err = await(ctx, c, m, w)
	}
	return m, err
}

// await asks the server for match m every two seconds until the match has ended, and returns the match as it is then.
// Whenever the state of the match or its place in the queue changes, await prints it to w. If ctx ends first, the
// error is cli.ErrNoVerdict.
func await(ctx context.Context, c *client.Client, m wire.Match, w io.Writer) (wire.Match, error) {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for shown := ""; m.State == "waiting" || m.State == "running"; {
		text := fmt.Sprintf("match %d is %s", m.ID, m.State)
		if m.Place > 0 {
			text += fmt.Sprintf(", at place %d in the queue", m.Place)
		}
		if text != shown {
			fmt.Fprintln(w, text)
			shown = text
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return m, cli.ErrNoVerdict
		}
		next, err := c.Match(ctx, m.ID)
		if err != nil {
			return m, err
		}
		m = next
	}
	return m, nil
}

func newMatchesCancel() *cobra.Command {
	return fromServer(&cobra.Command{
		Use:   "cancel ID",
		Short: "Cancel a match that you have asked for",
		Long:  "Cancels an unrated match that waits or is played. Admins may cancel any match.",
		Args:  cobra.ExactArgs(1),
	}, true, func(ctx context.Context, c *client.Client, args []string) (m wire.Match, err error) {
		id, err := idOf("match", args[0])
		if err != nil {
			return m, err
		}
		return c.CancelMatch(ctx, id)
	}, func(w io.Writer, m wire.Match) { fmt.Fprintf(w, "match %d is %s\n", m.ID, m.Reason) })
}
