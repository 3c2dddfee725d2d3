package rules_test

import (
	"fmt"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// TestRecords checks that a game counts once for a bot, by its best seat.
func TestRecords(t *testing.T) {
	for _, c := range []struct {
		game        string
		options     map[string]string
		bots, ranks []int
		want        string // wins-draws-losses by bot
	}{
		{"teeko", nil, []int{0, 1}, []int{1, 2}, "map[0:1-0-0 1:0-0-1]"},
		{"teeko", nil, []int{1, 0}, []int{1, 1}, "map[0:0-1-0 1:0-1-0]"},
		{"teeko", nil, []int{0, 0}, []int{1, 2}, "map[0:0-1-0]"},
		{"podrida", map[string]string{"players": "4"}, []int{0, 1, 0, 1}, []int{1, 2, 4, 3}, "map[0:1-0-0 1:0-0-1]"},
		{"podrida", map[string]string{"players": "4"}, []int{0, 1, 0, 1}, []int{1, 3, 1, 3}, "map[0:1-0-0 1:0-0-1]"},
		{"podrida", map[string]string{"players": "4"}, []int{0, 1, 0, 1}, []int{1, 1, 3, 4}, "map[0:0-1-0 1:0-1-0]"},
		{"podrida", map[string]string{"players": "4"}, []int{0, 1, 2, 0}, []int{2, 1, 3, 4}, "map[0:0-0-1 1:1-0-0 2:0-0-1]"},
		{"brisca", map[string]string{"players": "4", "teams": "yes"}, []int{0, 1, 2, 3}, []int{1, 2, 1, 2}, "map[0:1-0-0 1:0-0-1 2:1-0-0 3:0-0-1]"},
		{"brisca", map[string]string{"players": "4", "teams": "yes"}, []int{0, 1, 2, 0}, []int{1, 2, 1, 2}, "map[0:0-1-0 1:0-0-1 2:1-0-0]"},
	} {
		g := kit.Get[*rules.Game](t)(games.Find(c.game))
		v := kit.Get[*rules.Variant](t)(g.Resolve(c.options))
		got := map[int]string{}
		for bot, r := range rules.Records(v, c.bots, c.ranks) {
			if r.Games != 1 || got[bot] != "" {
				t.Errorf("%s %v: bot %d has %+v after %q", c.game, c.bots, bot, r, got[bot])
			}
			got[bot] = fmt.Sprintf("%d-%d-%d", r.Wins, r.Draws, r.Losses)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: bots %v with ranks %v: %v, want %s", c.game, c.bots, c.ranks, got, c.want)
		}
		for seat, rank := range c.ranks {
			if r := rules.RecordOf(v, c.ranks, seat); (rank > 1) != (r.Losses == 1) || r.Games != 1 {
				t.Errorf("%s %v: seat %d has %+v", c.game, c.ranks, seat, r)
			}
		}
	}
}
