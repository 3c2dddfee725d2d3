package elo

import (
	"fmt"

	"github.com/timba-arena/timba/ladder/rating"
)

// Counts is what a finished match adds to the counts from which the ladder's
// maximum-likelihood ratings are fitted (rating.FitPairs): a pair for every two
// slots of different sides, by slots, with A < B and in their order. sides[i] is
// the side of slot i, as in Match.
//
// A deal of m sides makes m(m-1)/2 duels, but tells only m-1 leads: each duel is
// counted as 2/m of a deal, lest the fit's intervals be too narrow.
//
// A deal between two teams of s is one result, though it makes s² duels, all of
// the same score. Each is counted as 1/s² of a deal, so that together they weigh
// as one deal. These pairs say who did well against whom; ratings of members of
// teams need the partners, too, and are fitted by rating.FitBouts.
func Counts(deals []rating.Deal, sides []int) ([]rating.Pair, error) {
	size := make(map[int]float64)
	for _, side := range sides {
		size[side]++
	}
	if _, err := sumSlots(sides, deals); err != nil {
		return nil, err
	}
	pairs, err := rating.Count(len(sides), deals)
	if err != nil {
		return nil, fmt.Errorf("elo: %w", err)
	}
	for i := range pairs {
		p := &pairs[i]
		weight := 2 / float64(len(size)) / (size[sides[p.A]] * size[sides[p.B]])
		p.Deals *= weight
		p.Score *= weight
		p.Squares *= weight
	}
	return pairs, nil
}
