package tournament

import (
	"cmp"
	"slices"
)

// swiss fills tables from the top of the standings with bots that have met as
// seldom as can be. Who is left over has a bye, the last first of those with the
// fewest.
func swiss(t *Tournament, k int) [][]int {
	n := len(t.Bots)
	standing := upTo(n)
	points, byes, met := make([]float64, n), make([]int, n), make([][]int, n)
	for b := range met {
		met[b] = make([]int, n)
	}
	for _, m := range t.matches {
		if len(m.Bots) == 1 {
			byes[m.Bots[0]]++
		}
		for i, p := range m.Points() {
			points[m.Bots[i]] += p
		}
		for _, a := range m.Bots {
			for _, b := range m.Bots {
				met[a][b]++
			}
		}
	}
	slices.SortStableFunc(standing, func(a, b int) int { return cmp.Compare(points[b], points[a]) })
	var alone [][]int
	for len(standing)%k != 0 {
		last := 0
		for i, b := range standing {
			if byes[b] <= byes[standing[last]] {
				last = i
			}
		}
		alone = append(alone, []int{standing[last]})
		standing = slices.Delete(standing, last, last+1)
	}
	return append(fill(standing, k, met), alone...)
}

// maxSteps bounds the search for tables that cost no more than a budget.
const maxSteps = 100_000

// fill makes tables of k from the top of the standings: the first way, in their
// order, with the fewest meetings of bots that have met before. Where that takes
// too long to find, swaps between tables come close to it.
func fill(standing []int, k int, met [][]int) [][]int {
	for budget := 0; ; budget++ {
		s := seating{k: k, met: met, steps: maxSteps}
		if s.seat(standing, nil, 0, budget) {
			return s.tables
		}
		if s.steps < 0 {
			tables := slices.Collect(slices.Chunk(slices.Clone(standing), k))
			for improve(tables, met) {
			}
			return tables
		}
	}
}

// improve swaps bots of two tables where that saves meetings, and reports whether
// it has.
func improve(tables [][]int, met [][]int) (better bool) {
	// cost of a bot at a table in place of the one that sits there.
	cost := func(bot int, table []int, place int) (n int) {
		for i, b := range table {
			if i != place {
				n += met[bot][b]
			}
		}
		return n
	}
	for i, a := range tables {
		for _, b := range tables[i+1:] {
			for x := range a {
				for y := range b {
					if cost(b[y], a, x)+cost(a[x], b, y) < cost(a[x], a, x)+cost(b[y], b, y) {
						a[x], b[y] = b[y], a[x]
						better = true
					}
				}
			}
		}
	}
	return better
}

// seating is a search for tables.
type seating struct {
	k      int
	met    [][]int // by bot and bot, how often
	steps  int     // left
	tables [][]int
}

// seat completes a table with bots that stand at from or after it, and then
// seats all others, while earlier meetings stay within the budget.
func (s *seating) seat(standing, table []int, from, budget int) bool {
	if len(table) == s.k {
		s.tables = append(s.tables, slices.Clone(table))
		if s.seat(standing, nil, 0, budget) {
			return true
		}
		s.tables = s.tables[:len(s.tables)-1]
		return false
	}
	if len(standing) == 0 {
		return true
	}
	for i := from; i < len(standing); i++ {
		if s.steps--; s.steps < 0 {
			return false
		}
		cost := 0
		for _, b := range table {
			cost += s.met[b][standing[i]]
		}
		if cost <= budget {
			rest := slices.Delete(slices.Clone(standing), i, i+1)
			if s.seat(rest, append(table, standing[i]), i, budget-cost) {
				return true
			}
		}
		if len(table) == 0 {
			return false // the first that stands is at the next table, whoever comes to it
		}
	}
	return false
}
