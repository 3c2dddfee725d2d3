//go:build soak

package site_test

import (
	"testing"

	"github.com/timba-arena/timba/ladder/config"
)

// A game of each default ladder can be played to its end by clicks, and shows its result.
func TestPlayAllGames(t *testing.T) {
	list := []chosen{{"podrida", "players=6 deck=40"}}
	for _, l := range config.Default().Ladders {
		options := ""
		for name, value := range l.Options {
			options += name + "=" + value + " "
		}
		list = append(list, chosen{l.Game, options})
	}
	playGames(t, list)
}
