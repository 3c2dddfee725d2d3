package alphabeta

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/search"
)

const (
	tableMoveRank = 1 << 30 // the move of the table entry
	killerRank    = 1 << 20 // twice this for the first killer, once for the second
	staticRank    = 1 << 12 // factor for Position.Rank
	maxHistory    = 1 << 19
)

// rankMoves sets the ranks of the moves of a ply.
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

// pick moves the highest-ranked move from index i on to index i and returns it.
func (s *Searcher[P, G]) pick(ply, i, n int) rules.Move {
	return search.Pick(s.moves[ply][:n], s.ranks[ply][:n], i)
}

// reduction returns by how much the depth of the move at index i is reduced. It never reduces the first moves
// of a position and killers.
func (s *Searcher[P, G]) reduction(depth, ply, i int) int {
	switch {
	case !s.options.ReduceLateMoves || depth < 3 || i < 4 || s.ranks[ply][i] >= killerRank:
		return 0
	case depth >= 5 && i >= 12:
		return 2
	}
	return 1
}

// recordCutoff makes a move that caused a cutoff a killer move and increases its history score.
func (s *Searcher[P, G]) recordCutoff(side, depth, ply int, m rules.Move) {
	if k := &s.killers[ply]; k[0] != m {
		k[0], k[1] = m, k[0]
	}
	h := &s.history[side&1][m%maxMove]
	*h = min(*h+int32(depth*depth), maxHistory)
}

// decayHistory lowers the history scores of earlier searches and clears the killer moves.
func (s *Searcher[P, G]) decayHistory() {
	for side := range s.history {
		for m := range s.history[side] {
			s.history[side][m] /= 8
		}
	}
	clear(s.killers[:])
}
