package rules

// MoveCount is a first move and the number of sequences that begin with it.
type MoveCount struct {
	Move  Move
	Count uint64
}

// Perft counts the sequences of depth legal moves from a position, as engine
// authors do: a game that ends earlier adds none, and depth 0 counts 1. The
// position stays as it was.
func Perft(s State, depth int) uint64 {
	if depth <= 0 {
		return 1
	}
	var moves [MaxMoves]Move
	legal := s.Legal(moves[:0])
	if depth == 1 {
		return uint64(len(legal)) // the last ply need not be made
	}
	var n uint64
	for _, m := range legal {
		next := s.Clone()
		next.Apply(m, nil)
		n += Perft(next, depth-1)
	}
	return n
}

// Divide is Perft by first move, in the order of the moves. It has none at
// depth 0 and where the game is over.
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
