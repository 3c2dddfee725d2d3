package house

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/rules/games"
)

// Every game has bots for its ladders, each once, that exist and are made for it, and few enough
// that a newcomer meets others.
func TestStanding(t *testing.T) {
	for _, g := range games.All() {
		specs := Standing(g.Name)
		if len(specs) < 5 || len(specs) > 9 || !slices.Contains(specs, "random") || specs[len(specs)-1] != "champion" {
			t.Errorf("%s: the bots are %q", g.Name, specs)
		}
		for i, spec := range specs {
			if name, err := Canonical(spec); err != nil || name != spec {
				t.Errorf("%s: the canonical spec of %q is %q, %v", g.Name, spec, name, err)
			}
			if made := Games(spec); made != nil && !slices.Contains(made, g.Name) {
				t.Errorf("%s: %s is made for %q", g.Name, spec, made)
			}
			if slices.Contains(specs[:i], spec) {
				t.Errorf("%s: %s is there twice", g.Name, spec)
			}
		}
	}
	if len(standing) != len(games.All()) {
		t.Errorf("%d games have bots, of %d", len(standing), len(games.All()))
	}
}

// docs/house-bots.md, "On the ladders": each game's table has its bots and no others.
func TestStandingIsDocumented(t *testing.T) {
	data := kit.Get[[]byte](t)(os.ReadFile("../../docs/house-bots.md"))
	section := regexp.MustCompile(`(?s)\n## On the ladders\n(.*?)\n## `).FindSubmatch(data)
	if section == nil {
		t.Fatal("the section is missing")
	}
	tables := regexp.MustCompile("(?m)(?:^\\|.*\n)+").FindAll(section[1], -1)
	if len(tables) != len(games.All()) {
		t.Fatalf("there are %d tables for %d games", len(tables), len(games.All()))
	}
	for i, g := range games.All() {
		var named []string
		for _, m := range regexp.MustCompile("(?m)^\\| `@([^`]*)` \\|").FindAllSubmatch(tables[i], -1) {
			named = append(named, string(m[1]))
		}
		want := slices.Sorted(slices.Values(standing[g.Name]))
		if slices.Sort(named); !slices.Equal(named, want) {
			t.Errorf("%s: the table has %q, want %q", g.Name, named, want)
		}
	}
}
