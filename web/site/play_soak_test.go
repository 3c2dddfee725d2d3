//go:build soak

package site_test

import "testing"

// A game of each kind is played to its end by clicks, and its replay is there.
func TestPlayAllGames(t *testing.T) {
	playGames(t, []chosen{{"brisca", ""}, {"tute", ""}, {"podrida", "players=6 deck=40"}, {"tebes", "size=4"}, {"teeko", ""}})
}
