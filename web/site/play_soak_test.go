//go:build soak

package site_test

import "testing"

// A game of each kind is played to its end by clicks, and its replay is there.
func TestPlayAllGames(t *testing.T) {
	playGames(t, []chosen{{"brisca", ""}, {"tute", ""}, {"podrida", "players%3D6+deck%3D40"}, {"tebes", "size%3D4"}, {"teeko", ""}})
}
