package referee

import (
	"slices"

	"github.com/timba-arena/timba/rules"
)

// forfeits lists the sides (seats or teams) that have lost a game by a failure of a bot, in the order of the
// failures.
type forfeits struct {
	variant *rules.Variant
	order   []int
}

func (f *forfeits) has(seat int) bool { return slices.Contains(f.order, f.variant.Side(seat)) }

func (f *forfeits) add(seat int) {
	if !f.has(seat) {
		f.order = append(f.order, f.variant.Side(seat))
	}
}

// endGame reports whether the forfeits end the game. With two sides the first forfeit ends it; with more, the
// game ends when all sides have forfeited.
func (f *forfeits) endGame() bool {
	if len(f.order) == 0 { // the usual case, at every turn
		return false
	}
	n := f.variant.Sides
	return len(f.order) == n || n == 2 && len(f.order) > 0
}

// rank returns the final rank of each seat. game has the ranks by the rules of the game. Sides that have forfeited
// rank last; among them, a side that forfeited earlier ranks behind a side that forfeited later.
func (f *forfeits) rank(game []int) []int {
	if len(f.order) == 0 {
		return game
	}
	n := f.variant.Sides
	honest := n - len(f.order)
	ranks := make([]int, len(game))
	for seat := range ranks {
		side := f.variant.Side(seat)
		if i := slices.Index(f.order, side); i >= 0 {
			ranks[seat] = honest + len(f.order) - i
			continue
		}
		better := map[int]bool{}
		for other, rank := range game {
			if rank < game[seat] && !f.has(other) {
				better[f.variant.Side(other)] = true
			}
		}
		ranks[seat] = 1 + len(better)
	}
	return ranks
}
