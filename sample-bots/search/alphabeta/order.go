package alphabeta

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/search"
)

const (
	tableMoveRank = 1 << 30 // rank of the best move according to the table
	killerRank    = 1 << 20 // added to the rank of the second killer move, and twice to that of the first
	staticRank    = 1 << 12 // factor by which Position.Rank is multiplied
	maxHistory    = 1 << 19
)

// rankMoves sets the ranks of the first n moves that are stored for the given ply. The search orders the moves by
// rank. known is the best move according to the table; it is ignored if isKnown is false.
func (s *Searcher[P, G]) rankMoves(g G, ply, n int, known rules.Move, isKnown bool) {
	side, killers := g.Turn()&1, &s.killers[ply]
	for i, m := range s.moves[ply][:n] {
		rank := g.Rank(m)*staticRank + s.history[side][m%maxMove]
		switch {
		case isKnown && m == known:
			rank = tableMoveRank
		case m == killers[0]:
			rank += 2 * killerRank
		case m == killers[1]:
			rank += killerRank
		}
		s.ranks[ply][i] = rank
	}
}

func (s *Searcher[P, G]) pick(ply, i, n int) rules.Move {
	return search.Pick(s.moves[ply][:n], s.ranks[ply][:n], i)
}

// reduction returns by how much the search depth of a move is reduced: by 0, 1 or 2. i is the index of the move in
// the order of rank. The result is 0 for the first moves of a position and for moves that caused cutoffs at the
// same ply.
func (s *Searcher[P, G]) reduction(depth, ply, i int) int {
	switch {
	case !s.options.ReduceLateMoves || depth < 3 || i < 4 || s.ranks[ply][i] >= killerRank:
		return 0
	case depth >= 5 && i >= 12:
		return 2
	}
	return 1
}

// recordCutoff records that the move m of the given side caused a cutoff. The search then tries m earlier in other
// positions: at the same ply as a killer move, and everywhere because of its history score.
func (s *Searcher[P, G]) recordCutoff(side, depth, ply int, m rules.Move) {
	if k := &s.killers[ply]; k[0] != m {
		k[0], k[1] = m, k[0]
	}
	h := &s.history[side&1][m%maxMove]
	*h = min(*h+int32(depth*depth), maxHistory)
}

// decayHistory divides the history scores of earlier searches by 8 and clears the killer moves.
func (s *Searcher[P, G]) decayHistory() {
	for side := range s.history {
		for m := range s.history[side] {
			s.history[side][m] /= 8
		}
	}
	clear(s.killers[:])
}
