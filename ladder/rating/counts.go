package rating

import "github.com/timba-arena/timba/stats"

// pairCounts returns what a finished match adds to the counts from which the ladder's
// maximum-likelihood ratings are fitted (stats.FitPairs): a pair for every two
// slots of different sides, with slots A < B, in their order. sides[i] is the side
// of slot i, and the deals are right, as in match.
//
// A deal of m sides makes m(m-1)/2 duels but has only m-1 independent leads: each
// duel counts as 2/m of a deal, or the fit's intervals would be too narrow.
//
// A deal between two teams of s is one result, but makes s² duels with the same
// score. Each counts as 1/s² of a deal, so that together they weigh as one deal.
// These pairs are the record of opponents; ratings of members of teams depend on the
// partners, too, and are fitted by stats.FitBouts.
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
