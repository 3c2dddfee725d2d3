package games_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules/games"
)

func TestFind(t *testing.T) {
	var names []string
	for _, g := range games.All() {
		names = append(names, g.Name)
		if got, err := games.Find(g.Name); err != nil || got != g {
			t.Errorf("%s is found as %v, %v", g.Name, got, err)
		}
	}
	if want := []string{"brisca", "tute", "podrida", "tebes", "teeko"}; !slices.Equal(names[:len(want)], want) {
		t.Errorf("the games are %v, not %v first", names, want)
	}
	want := `game "mus" does not exist: try ` + strings.Join(names, ", ")
	if _, err := games.Find("mus"); err == nil || err.Error() != want {
		t.Errorf("says %v, want %s", err, want)
	}
}

// TestGamesAreTested checks that every directory of a game is registered, and that every game of SPEC.md is
// tested by rulestest.Run and against a naive implementation.
func TestGamesAreTested(t *testing.T) {
	specified := refereetest.SpecGames(t)
	for _, g := range specified {
		for file, call := range map[string]string{"game_test.go": "\trulestest.Run(t, Game, ", "naive_test.go": "\trulestest.FuzzNaive(f, "} {
			path := filepath.Join("..", g.Name, file)
			if text := string(kit.Get[[]byte](t)(os.ReadFile(path))); !strings.Contains(text, call) {
				t.Errorf("%s does not call%s", path, strings.TrimLeft(call, "\t"))
			}
		}
	}
	dirs, err := filepath.Glob("../*/game.go")
	if err != nil || len(dirs) != len(specified) {
		t.Errorf("%d games, and %v has game.go: %v", len(specified), dirs, err)
	}
}
