package house

import (
	"slices"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// TestStanding checks that the house bots of each ladder exist, are made for its game and are different, and
// that they are few enough that a new bot meets others.
func TestStanding(t *testing.T) {
	for name := range ladderSpecs {
		g := kit.Get[*rules.Game](t)(games.Find(name))
		specs := LadderBots(name)
		if len(specs) < 5 || len(specs) > 9 || !slices.Contains(specs, "random") || specs[len(specs)-1] != "champion" {
			t.Errorf("%s: the bots are %q", g.Name, specs)
		}
		for i, spec := range specs {
			if name, err := CanonicalSpec(spec); err != nil || name != spec {
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
	if len(ladderSpecs) < 5 {
		t.Errorf("%d games have bots", len(ladderSpecs))
	}
}
