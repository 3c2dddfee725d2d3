//go:build !race || slowrace

package stats

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestDealResult(t *testing.T) {
	for _, c := range []struct {
		name  string
		games [][]Seat
		want  Deal
	}{
		{"two bots, two rotations", [][]Seat{
			{{0, 0, 1, 70}, {1, 1, 2, 50}},
			{{1, 0, 1, 60}, {0, 1, 1, 60}},
		}, Deal{{0, 1, 2, 0.75, 10}}},
		{"three bots share a rank", [][]Seat{
			{{0, 0, 1, 9}, {2, 1, 1, 9}, {1, 2, 3, 4}},
		}, Deal{{0, 1, 1, 1, 5}, {0, 2, 1, 0.5, 0}, {1, 2, 1, 0, -5}}},
		{"teams of one bot each", [][]Seat{
			{{1, 0, 1, 10}, {0, 1, 3, 3}, {1, 0, 1, 20}, {0, 1, 3, 7}},
		}, Deal{{0, 1, 1, 0, -20}}},
		{"team-mates do not meet", [][]Seat{
			{{0, 0, 1, 10}, {1, 1, 3, 3}, {2, 0, 1, 20}, {3, 1, 3, 7}},
		}, Deal{{0, 1, 1, 1, 20}, {0, 3, 1, 1, 20}, {1, 2, 1, 0, -20}, {2, 3, 1, 1, 20}}},
		{"a bot with two seats of four wins by the better one", [][]Seat{
			{{0, 0, 1, 8}, {1, 1, 2, 6}, {0, 2, 3, 4}, {1, 3, 4, 2}},
		}, Deal{{0, 1, 1, 1, 2}}},
		{"the best seats of two bots share a rank", [][]Seat{
			{{0, 0, 1, 8}, {1, 1, 1, 8}, {0, 2, 4, 2}, {1, 3, 3, 4}},
		}, Deal{{0, 1, 1, 0.5, -1}}},
		{"a bot on both sides meets each with its opponent's seat", [][]Seat{
			{{0, 0, 1, 10}, {1, 1, 2, 4}, {2, 0, 1, 10}, {0, 1, 2, 4}},
		}, Deal{{0, 1, 1, 1, 12}, {0, 2, 1, 0, -12}, {1, 2, 1, 0, -12}}},
		{"a bot alone meets nobody", [][]Seat{{{0, 0, 1, 1}, {0, 1, 2, 0}}}, Deal{}},
	} {
		var s DealResult
		for _, game := range c.games {
			s.Add(game)
		}
		if diff := cmp.Diff(c.want, s.Deal(), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}
