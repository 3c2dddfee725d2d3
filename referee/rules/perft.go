package rules

import "context"

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

// unstopped is the depth that PerftUntil counts without a look at its context: milliseconds.
const unstopped = 3

// PerftUntil is Perft that ends with the context, and then returns its error.
func PerftUntil(ctx context.Context, s State, depth int) (n uint64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if depth <= unstopped {
		return Perft(s, depth), nil
	}
	counts, err := Divide(ctx, s, depth)
	for _, c := range counts {
		n += c.Count
	}
	return n, err
}

// Divide returns Perft by first move, in the order of the moves. It is empty at depth 0
// and if the game is over. It ends with the context, and then returns its error.
func Divide(ctx context.Context, s State, depth int) ([]MoveCount, error) {
	if depth <= 0 {
		return nil, nil
	}
	legal := s.Legal(nil)
	counts := make([]MoveCount, 0, len(legal))
	for _, m := range legal {
		next := s.Clone()
		next.Apply(m, nil)
		n, err := PerftUntil(ctx, next, depth-1)
		if err != nil {
			return nil, err
		}
		counts = append(counts, MoveCount{m, n})
	}
	return counts, nil
}
