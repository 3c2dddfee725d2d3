package rules

// MoveCount is a first move and the number of sequences that begin with it.
type MoveCount struct {
	Move  Move
	Count uint64
}

// Perft returns the number of sequences of depth legal moves from a position: a game that
// ends earlier adds none, and depth 0 is 1. The position is unchanged at the end.
func Perft(s State, depth int) uint64 {
	if depth <= 0 {
		return 1
	}
	return perft(s, depth, make([]Move, 0, MaxMoves*min(depth, 8)))
}

// perft returns Perft at depth 1 and more; the moves above it are in the stack.
func perft(s State, depth int, stack []Move) (n uint64) {
	legal := s.Legal(stack)
	if depth == 1 {
		return uint64(len(legal) - len(stack)) // the last ply need not be made
	}
	for _, m := range legal[len(stack):] {
		next := s.Clone()
		next.Apply(m, nil)
		n += perft(next, depth-1, legal)
	}
	return n
}

// Divide returns Perft by first move, in the order of the moves. It is empty at depth 0
// and if the game is over.
func Divide(s State, depth int) []MoveCount {
	if depth <= 0 {
		return nil
	}
	legal := s.Legal(nil)
	counts := make([]MoveCount, 0, len(legal))
	for _, m := range legal {
		next := s.Clone()
		next.Apply(m, nil)
		counts = append(counts, MoveCount{m, Perft(next, depth-1)})
	}
	return counts
}
