package search

import "github.com/timba-arena/timba/referee/rules"

// Pick puts the move of the highest rank from i on at i, with its rank, and returns it. Most
// positions are done after a few moves, so that sorting all would be wasted.
func Pick(moves []rules.Move, ranks []int32, i int) rules.Move {
	at := i
	for j := i + 1; j < len(moves); j++ {
		if ranks[j] > ranks[at] {
			at = j
		}
	}
	moves[at], moves[i] = moves[i], moves[at]
	ranks[at], ranks[i] = ranks[i], ranks[at]
	return moves[i]
}
