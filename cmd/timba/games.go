package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
	"github.com/timba-arena/timba/sample-bots/house"
)

func newGames() *cobra.Command {
	return &cobra.Command{
		Use:     "games [GAME]",
		Short:   "List the games, or one game's options and rules",
		Example: "  timba games\n  timba games brisca",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listGames(cmd.OutOrStdout())
			}
			g, err := games.Find(args[0])
			if err != nil {
				return err
			}
			describeGame(cmd.OutOrStdout(), g)
			return nil
		},
		ValidArgsFunction: completeGame,
	}
}

func listGames(w io.Writer) error {
	t := newTable(w)
	t.AppendHeader(table.Row{"game", "options (the default first)"})
	for _, g := range games.All() {
		var options []string
		for _, o := range g.Options() {
			if o.Values != nil {
				options = append(options, o.Name+"="+strings.Join(o.Values, "|"))
			} else {
				options = append(options, fmt.Sprintf("%s=%s (%s)", o.Name, o.DefaultText(), o.Allowed()))
			}
		}
		t.AppendRow(table.Row{g.Name(), strings.Join(options, " ")})
	}
	t.Render()
	_, err := fmt.Fprintln(w, "\ntimba games GAME tells a game's rules.")
	return err
}

func describeGame(w io.Writer, g rules.Game) {
	fmt.Fprintf(w, "%s\n\n%s\n\n", g.Name(), strings.TrimSpace(g.Rules()))
	t := newTable(w)
	t.AppendHeader(table.Row{"option", "default", "allowed", "meaning"})
	for _, o := range g.Options() {
		t.AppendRow(table.Row{o.Name, o.DefaultText(), o.Allowed(), o.Help})
	}
	t.Render()
}

// completeGame completes a first argument that is a game.
func completeGame(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []string
	for _, g := range games.All() {
		names = append(names, g.Name())
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeBots completes a game, and then house bots beside files.
func completeBots(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return completeGame(cmd, args, word)
	}
	var names []string
	for _, b := range house.List() {
		names = append(names, "@"+b.Name+"\t"+b.Help)
	}
	return names, cobra.ShellCompDirectiveDefault
}

// newTable is how every table of the program looks.
func newTable(w io.Writer) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = 0
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	return t
}
