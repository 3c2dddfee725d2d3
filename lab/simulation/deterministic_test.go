package simulation

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
)

// TestDeterministic checks that the figures depend only on the seed.
func TestDeterministic(t *testing.T) {
	c := Config{Bots: 20, Deals: 3, Matches: 12, Runs: 5, Seed: 7}
	for _, name := range []string{"timba", "Elo K=20 a game, random pairing"} {
		first := kit.Get[[]Curve](t)(SimulateConvergence(context.Background(), c, method(t, name)))
		again, _ := SimulateConvergence(context.Background(), c, method(t, name))
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func method(t *testing.T, name string) Method {
	t.Helper()
	for _, m := range Methods() {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("there is no method %q", name)
	return Method{}
}
