package commands

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/rules/text"
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
	}
}

func listGames(w io.Writer) error {
	text.Rows(w, "game|options (the default first)", games.All(), func(g *rules.Game) []any {
		var options []string
		for _, o := range g.Options {
			if o.Values != nil {
				options = append(options, o.Name+"="+strings.Join(o.Values, "|"))
			} else {
				options = append(options, fmt.Sprintf("%s=%s (%s)", o.Name, o.DefaultText(), o.AllowedText()))
			}
		}
		return []any{g.Name, strings.Join(options, " ")}
	})
	_, err := fmt.Fprintln(w, "\ntimba games GAME shows the rules of a game.")
	return err
}

// resolveGame returns the game called game with the options in set, words of the form name=value. If bots is more
// than 1, it is also the number of players, unless the game has no option for that number or set contains the option.
func resolveGame(game string, set []string, bots int) (*rules.Variant, error) {
	g, err := games.Find(game)
	if err != nil {
		return nil, err
	}
	given, err := parseSettings(set)
	if err != nil {
		return nil, err
	}
	hasPlayers := slices.ContainsFunc(g.Options, func(o rules.Option) bool { return o.Name == "players" })
	if _, ok := given["players"]; !ok && bots > 1 && hasPlayers {
		given["players"] = strconv.Itoa(bots)
	}
	return g.Resolve(given)
}

// parseSettings returns the values of options, by name, from words of the form name=value. It returns an error if a
// name occurs with two different values.
func parseSettings(words []string) (map[string]string, error) {
	given := make(map[string]string)
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return nil, fmt.Errorf("option %q: write name=value, as in players=2", word)
		}
		if old, twice := given[name]; twice && old != value {
			return nil, fmt.Errorf("option %s is set to %q and to %q: choose one", name, old, value)
		}
		given[name] = value
	}
	return given, nil
}

// withOpening returns a variant like v in which games begin with random moves. It returns v itself in three cases: its
// games begin differently anyway, for example with shuffled cards; the game has no option for the number of random
// moves; or set contains that option. set has words of the form name=value.
func withOpening(v *rules.Variant, set []string) (*rules.Variant, error) {
	name := rules.OpeningOption.Name
	given := v.Settings.Map()
	if _, ok := given[name]; v.HasChance || !ok || slices.ContainsFunc(set, func(word string) bool { return strings.HasPrefix(word, name+"=") }) {
		return v, nil
	}
	given[name] = strconv.Itoa(v.StandardOpening())
	return v.Game.Resolve(given)
}
