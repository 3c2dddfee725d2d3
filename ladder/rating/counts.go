package rating

import "github.com/timba-arena/timba/stats"

// pairCounts returns what a finished match adds to the results of each pair of opponents, from which
// maximum-likelihood ratings are fitted (stats.FitPairs). A pair has the slots (places in the match) A < B, and pairs
// are in the order of A and B. sides[i] is the side that slot i plays for.
//
// A deal of m sides has m(m-1)/2 duels (comparisons of two slots), but only m-1 of them are independent. Therefore
// each duel counts as 2/m of a deal; otherwise the intervals of the fit would be too narrow.
//
// A deal between two teams of s members is one result, but has s*s duels with the same score. Each counts as 1/(s*s)
// of a deal. These pairs are only the record of opponents: the ratings of members of teams also depend on their
// partners, and are fitted by stats.FitBouts.
func pairCounts(deals []stats.Deal, sides []int) []stats.Pair {
	size := make(map[int]float64)
	for _, side := range sides {
		size[side]++
	}
	pairs := stats.Count(deals)
	for i := range pairs {
		p := &pairs[i]
		weight := 2 / float64(len(size)) / (size[sides[p.A]] * size[sides[p.B]])
		p.Deals *= weight
		p.Score *= weight
		p.Squares *= weight
	}
	return pairs
}
