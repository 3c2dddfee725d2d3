package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/referee/rules/games"
	"github.com/timba-arena/timba/referee/text"
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
		ValidArgsFunction: cli.CompleteGame,
	}
}

func listGames(w io.Writer) error {
	t := text.Table(w)
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
	_, err := fmt.Fprintln(w, "\ntimba games GAME shows the rules of a game.")
	return err
}
