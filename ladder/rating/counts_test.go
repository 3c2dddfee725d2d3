package rating

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/timba-arena/timba/stats"
)

func TestCounts(t *testing.T) {
	two := []stats.Deal{deal(0.75), deal(1), deal(0)}
	team := func(s float64) stats.Deal {
		return stats.Deal{{A: 0, B: 1, Score: s, Games: 4}, {A: 0, B: 3, Score: s, Games: 4}, {A: 1, B: 2, Score: 1 - s, Games: 4}, {A: 2, B: 3, Score: s, Games: 4}}
	}
	const third = 2.0 / 3 // three duels have two independent leads
	for _, c := range []struct {
		name  string
		deals []stats.Deal
		sides []int
		want  []stats.Pair
	}{
		{"two", two, []int{0, 1}, []stats.Pair{{A: 0, B: 1, Deals: 3, Score: 1.75, Squares: 1.5625}}},
		{"three", []stats.Deal{{{A: 0, B: 1, Score: 0.5, Games: 3}, {A: 0, B: 2, Score: 0, Games: 3}, {A: 1, B: 2, Score: 0, Games: 3}}}, []int{0, 1, 2},
			[]stats.Pair{{A: 0, B: 1, Deals: third, Score: third / 2, Squares: third / 4}, {A: 0, B: 2, Deals: third}, {A: 1, B: 2, Deals: third}}},
		// Four duels with the same result count as one.
		{"teams of two", []stats.Deal{team(0.75), team(1)}, []int{0, 1, 0, 1}, []stats.Pair{
			{A: 0, B: 1, Deals: 0.5, Score: 0.4375, Squares: 0.390625}, {A: 0, B: 3, Deals: 0.5, Score: 0.4375, Squares: 0.390625},
			{A: 1, B: 2, Deals: 0.5, Score: 0.0625, Squares: 0.015625}, {A: 2, B: 3, Deals: 0.5, Score: 0.4375, Squares: 0.390625}}},
	} {
		got := pairCounts(c.deals, c.sides)
		if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}
