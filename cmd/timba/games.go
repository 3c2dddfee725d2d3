package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/referee/rules/games"
	"github.com/timba-arena/timba/referee/text"
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
			text.Game(cmd.OutOrStdout(), g, 0)
			return nil
		},
		ValidArgsFunction: completeGame,
	}
}

func listGames(w io.Writer) error {
	t := text.Table(w)
	t.AppendHeader(table.Row{"game", "options (the default first)"})
	for _, g := range games.All() {
		var options []string
		for _, o := range g.Options {
			if o.Values != nil {
				options = append(options, o.Name+"="+strings.Join(o.Values, "|"))
			} else {
				options = append(options, fmt.Sprintf("%s=%s (%s)", o.Name, o.DefaultText(), o.Allowed()))
			}
		}
		t.AppendRow(table.Row{g.Name, strings.Join(options, " ")})
	}
	t.Render()
	_, err := fmt.Fprintln(w, "\ntimba games GAME shows the rules of a game.")
	return err
}

// completeGame completes a game as the first argument.
func completeGame(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []string
	for _, g := range games.All() {
		names = append(names, g.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeBots completes a game as the first argument, then house bots and files.
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
