package rating

import "slices"

// merge adds up the pairs of the same two bots and orders them with A < B, in
// time linear in pairs and bots: a counting sort by A, then a sparse
// accumulator over B.
func merge(bots int, pairs []Pair) []Pair {
	start := make([]int, bots+1)
	for _, p := range pairs {
		start[min(p.A, p.B)+1]++
	}
	for i := range bots {
		start[i+1] += start[i]
	}
	rows := make([]Pair, len(pairs))
	next := slices.Clone(start[:bots])
	for _, p := range pairs {
		if p.A > p.B {
			p = p.Reverse()
		}
		rows[next[p.A]] = p
		next[p.A]++
	}
	merged := rows[:0] // never ahead of the row being read
	row := make([]Pair, bots)
	var touched []int
	for a := range bots {
		touched = touched[:0]
		for _, p := range rows[start[a]:start[a+1]] {
			sum := &row[p.B]
			if sum.B == 0 { // B is above A, so never 0 once touched
				*sum = p
				touched = append(touched, p.B)
				continue
			}
			sum.Deals += p.Deals
			sum.Score += p.Score
			sum.Squares += p.Squares
		}
		slices.Sort(touched)
		for _, b := range touched {
			merged = append(merged, row[b])
			row[b] = Pair{}
		}
	}
	return merged
}
