package referee

import (
	"slices"

	"github.com/timba-arena/timba/referee/rules"
)

// forfeits keeps the sides that have forfeited, in the order of their faults.
type forfeits struct {
	variant rules.Variant
	order   []int
}

func (f *forfeits) has(seat int) bool { return slices.Contains(f.order, f.variant.Side(seat)) }

func (f *forfeits) add(seat int) {
	if !f.has(seat) {
		f.order = append(f.order, f.variant.Side(seat))
	}
}

// decided tells whether the game ends here: one of two sides has forfeited, or
// all of more have.
func (f *forfeits) decided() bool {
	n := rules.Sides(f.variant)
	return len(f.order) == n || n == 2 && len(f.order) > 0
}

// rank puts the sides that have forfeited last, the later the better; the
// others are ranked as the game ranks them. Points stay as they are.
func (f *forfeits) rank(r rules.Result) rules.Result {
	if len(f.order) == 0 {
		return r
	}
	n := rules.Sides(f.variant)
	honest := n - len(f.order)
	ranks := make([]int, len(r.Ranks))
	for seat := range ranks {
		side := f.variant.Side(seat)
		if i := slices.Index(f.order, side); i >= 0 {
			ranks[seat] = honest + len(f.order) - i
			continue
		}
		better := map[int]bool{}
		for other, rank := range r.Ranks {
			if rank < r.Ranks[seat] && !f.has(other) {
				better[f.variant.Side(other)] = true
			}
		}
		ranks[seat] = 1 + len(better)
	}
	return rules.Result{Ranks: ranks, Points: r.Points}
}
