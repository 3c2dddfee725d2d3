package match

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// Seeds made from seeds: same match seed, same bots, same games, byte for byte but for the milliseconds, with real
// processes, whatever the number of workers and whoever fails.
func TestSeedsAndDealsSameGames(t *testing.T) {
	random, greedy := testBot(t, "house", "random"), testBot(t, "house", "greedy")
	failing := map[string][]string{
		"honest":  nil,
		"exit":    misbehave(t, "--fault", "exit-3", "--at=6"),
		"unasked": misbehave(t, "--fault", "unasked", "--at=3", "--game=2"),
		"illegal": misbehave(t, "--fault", "illegal"),
	}
	for _, g := range games.All() {
		v := kit.Get[*rules.Variant](t)(g.Resolve(nil))
		bots := [][]string{greedy, random}
		if v4, err := g.Resolve(map[string]string{"players": "4"}); err == nil {
			v, bots = v4, append(bots, random, greedy)
		}
		for name, bad := range failing {
			if bad != nil && v.Players == 2 && g.Name != "tebes" || bad != nil && !kit.Soak && g.Name != "brisca" {
				continue // a failing bot is the same in games of two, and much the same in those of more
			}
			t.Run(g.Name+"/"+name, func(t *testing.T) {
				left := nothingLeft(t)
				commands := append([][]string(nil), bots...)
				if bad != nil {
					commands[len(commands)-1] = bad
				}
				var first []string
				faults := 0
				for _, workers := range []int{1, 3} {
					m := &Match{Variant: v, Bots: real(commands...), Deals: 3, Seed: rules.Seed{31: 77}, Clock: patient}
					for range workers {
						m.Resources.Workers = append(m.Resources.Workers, cores.Any)
					}
					var replays []string
					for _, g := range playAll(t, m) {
						replays = append(replays, timeless(g))
						faults += len(g.Faults)
					}
					if first == nil {
						first = replays
					} else if diff := cmp.Diff(first, replays); diff != "" {
						t.Fatalf("%d workers: (-first +again)\n%s", workers, diff)
					}
				}
				left()
				if (faults > 0) != (bad != nil) {
					t.Errorf("%d faults", faults)
				}
			})
		}
	}
}

// The workers that are bound to cores play the same.
func TestSeedsAndDealsSameGamesOnCores(t *testing.T) {
	all := cores.All()
	if len(all) == 0 {
		t.Fatal("there are no cores")
	}
	var first []string
	for _, workers := range [][]int{nil, {all[0]}, {all[0], all[len(all)-1]}} {
		m := &Match{Variant: variant(t, "brisca", ""), Bots: real(testBot(t, "house", "greedy"), testBot(t, "house", "random")), Deals: 3, Clock: patient, Resources: Resources{Workers: workers}}
		var replays []string
		for _, g := range playAll(t, m) {
			replays = append(replays, timeless(g))
		}
		if first == nil {
			first = replays
		} else if diff := cmp.Diff(first, replays); diff != "" {
			t.Fatalf("workers %v: (-first +again)\n%s", workers, diff)
		}
	}
	if got := cores.All(); fmt.Sprint(got) != fmt.Sprint(all) {
		t.Errorf("afterwards this process is bound to %v, before it was to %v", got, all)
	}
	m := &Match{Variant: variant(t, "brisca", ""), Bots: named(2), Deals: 1, Clock: patient, Resources: Resources{Workers: []int{1 << 9}}, start: starter{}.start}
	if err := m.Play(t.Context(), nil); err == nil {
		t.Error("a core that is not there was bound to")
	}
}
