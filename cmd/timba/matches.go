package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/ladder/tournament/report"
	"github.com/timba-arena/timba/referee/text"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/client"
)

type matchesFlags struct {
	ladder, bot, state string
	limit              int
	games, json        bool
}

func newMatches() *cobra.Command {
	var f matchesFlags
	cmd := &cobra.Command{
		Use:   "matches [ID]",
		Short: "List the matches of the competition, or show one and its rating changes",
		Long: "Lists matches, the newest first. With ID it shows one match: its bots, their ratings before and\n" +
			"after it, the commitment that was public before it, and its seed.",
		Example: "  timba matches --bot mybot\n  timba matches --ladder brisca-2 --state running\n  timba matches 1234 --games\n" +
			"  timba matches ask brisca-2 mybot @greedy",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd, false)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return f.list(cmd, c)
			}
			id, err := idOf("match", args[0])
			if err != nil {
				return err
			}
			return f.one(cmd, c, id)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.ladder, "ladder", "", "only matches of this ladder")
	flags.StringVar(&f.bot, "bot", "", "only matches of this `BOT[@N]`")
	flags.StringVar(&f.state, "state", "", "only matches in this state: waiting|running|finished|dropped")
	numberFlag(cmd, &f.limit, "limit", 20, 0, math.MaxInt, "the largest number of matches; 0: all")
	flags.BoolVar(&f.games, "games", false, "with ID: also its games")
	jsonFlag(cmd, &f.json)
	cmd.AddCommand(newMatchesAsk(), newMatchesCancel())
	return cmd
}

func (f *matchesFlags) list(cmd *cobra.Command, c *client.Client) error {
	if f.games {
		return errors.New("matches: --games needs the ID of a match")
	}
	bot, n, err := botRef(f.bot)
	if err != nil {
		return err
	}
	matches, err := client.Collect(c.Matches(cmd.Context(), client.MatchFilter{Ladder: f.ladder, Bot: bot, Version: n, State: f.state}), f.limit)
	if err != nil {
		return err
	}
	if f.json {
		return writeJSON(cmd.OutOrStdout(), matches)
	}
	t := text.Table(cmd.OutOrStdout())
	t.AppendHeader(table.Row{"match", "ladder", "state", "when", "bots"})
	for _, m := range matches {
		t.AppendRow(table.Row{m.ID, ladderText(m), m.State, since(latest(m)), botsText(m)})
	}
	t.Render()
	return nil
}

func ladderText(m wire.Match) string {
	if m.Ladder == "" {
		return m.Game + " (unrated)"
	}
	return m.Ladder
}

// latest returns the time of the last change of a match's state.
func latest(m wire.Match) time.Time {
	for _, t := range []time.Time{m.Finished, m.Began} {
		if !t.IsZero() {
			return t
		}
	}
	return m.Created
}

// botsText returns the versions in a match, each with its rating change.
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

// matchReport is the document of `timba matches ID --json`.
type matchReport struct {
	wire.Match
	Games []wire.Game `json:"games,omitempty"`
}

func (f *matchesFlags) one(cmd *cobra.Command, c *client.Client, id int64) error {
	m, err := c.Match(cmd.Context(), id)
	if err != nil {
		return err
	}
	doc := matchReport{Match: m}
	if f.games {
		if doc.Games, err = client.Collect(c.Games(cmd.Context(), id), 0); err != nil {
			return err
		}
	}
	if f.json {
		return writeJSON(cmd.OutOrStdout(), doc)
	}
	printMatch(cmd.OutOrStdout(), m)
	if len(doc.Games) > 0 {
		fmt.Fprintln(cmd.OutOrStdout())
		printGames(cmd.OutOrStdout(), doc.Games)
	}
	return nil
}

func printMatch(w io.Writer, m wire.Match) {
	fmt.Fprintf(w, "match %d, %s, %s, %s\n", m.ID, ladderText(m), text.Count(m.Deals, "deal"), report.Clock(m.Clock))
	made := "made"
	if m.AskedBy != "" {
		made = "asked for by " + m.AskedBy
	}
	fmt.Fprintf(w, "%s, %s %s\n", m.State, made, since(m.Created))
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
	t := text.Table(w)
	header := table.Row{"bot", "owner", "hash"}
	if len(m.Changes) > 0 {
		header = append(header, "Elo before", "after", "moved", "score", "expected", "K")
	}
	t.AppendHeader(header)
	for slot, v := range m.Versions {
		name := fmt.Sprintf("%s@%d", v.Bot, v.Version)
		if v.Remote {
			name += " (remote)"
		}
		row := table.Row{name, ownerText(v.Owner, v.House), orDash(v.SHA256[:min(12, len(v.SHA256))])}
		for _, c := range m.Changes {
			if c.Slot == slot {
				row = append(row, fmt.Sprintf("%.1f", c.Before), fmt.Sprintf("%.1f", c.After), fmt.Sprintf("%+.1f", c.After-c.Before),
					fmt.Sprintf("%.1f %%", 100*c.Score), fmt.Sprintf("%.1f %%", 100*c.Expected), fmt.Sprintf("%.1f", c.K))
			}
		}
		t.AppendRow(row)
	}
	t.Render()
	for _, a := range m.Attempts {
		on := ""
		if a.Machine != "" {
			on = " on " + a.Machine
		}
		fmt.Fprintf(w, "\nattempt %d%s, %s\ncommitment %s\nseed       %s\n", a.Number, on, since(a.Began), a.Commitment, orDash(a.Seed))
		if a.Reason != "" {
			fmt.Fprintln(w, a.Reason)
		}
	}
}

func printGames(w io.Writer, games []wire.Game) {
	t := text.Table(w)
	t.AppendHeader(table.Row{"game", "deal", "rotation", "plies", "by rank"})
	for _, g := range games {
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
		t.AppendRow(table.Row{g.ID, g.Deal, g.Rotation, g.Plies, strings.Join(words, ", ")})
	}
	t.Render()
}

type askFlags struct {
	set         []string
	deals       int
	watch, json bool
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
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0], args[1:]) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.set, "set", nil, "option of the game, as `name=value`; may be repeated")
	countFlag(cmd, &f.deals, "deals", 0, "deals of the match, each played in every rotation (default: the server's choice)")
	flags.BoolVar(&f.watch, "watch", false, "wait until it ends, and show it")
	jsonFlag(cmd, &f.json)
	return cmd
}

func (f *askFlags) run(cmd *cobra.Command, what string, bots []string) error {
	c, err := connect(cmd, true)
	if err != nil {
		return err
	}
	ladders, err := c.Ladders(cmd.Context())
	if err != nil {
		return err
	}
	asked := wire.AskedMatch{Deals: f.deals, Bots: bots}
	if slices.ContainsFunc(ladders, func(l wire.Ladder) bool { return l.Name == what }) {
		if asked.Ladder = what; len(f.set) > 0 {
			return fmt.Errorf("matches: --set needs a game, and %q is a ladder, which sets its own options: leave out --set", what)
		}
	} else {
		v, err := resolveGame(what, f.set, len(bots))
		if err != nil {
			return fmt.Errorf("%w: or name a ladder of timba standings", err)
		}
		asked.Game, asked.Options = what, map[string]string{}
		for _, s := range v.Settings {
			asked.Options[s.Name] = s.Value
		}
	}
	m, err := c.AskMatch(cmd.Context(), asked)
	if err != nil {
		return err
	}
	if f.watch {
		if m, err = f.await(cmd.Context(), c, m); err != nil {
			return err
		}
	}
	switch {
	case f.json:
		return writeJSON(cmd.OutOrStdout(), m)
	case f.watch:
		printMatch(cmd.OutOrStdout(), m)
	default:
		fmt.Fprintf(cmd.OutOrStdout(), "match %d is waiting: timba matches %d --games shows it\n", m.ID, m.ID)
	}
	return nil
}

// await polls a match until it ends.
func (f *askFlags) await(ctx context.Context, c *client.Client, m wire.Match) (wire.Match, error) {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for m.State == "waiting" || m.State == "running" {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return m, errNoVerdict
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
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "cancel ID",
		Short: "Cancel a match that you have asked for",
		Long:  "Cancels an unrated match that waits or is played. Admins may cancel any match.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := idOf("match", args[0])
			if err != nil {
				return err
			}
			c, err := connect(cmd, true)
			if err != nil {
				return err
			}
			m, err := c.CancelMatch(cmd.Context(), id)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), m)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "match %d is %s\n", m.ID, m.Reason)
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
