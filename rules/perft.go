package rules

import "context"

// Perft returns the number of sequences of depth legal moves from a position. Sequences that end the game
// earlier do not count, and the result for depth 0 is 1. The position is unchanged afterwards. If ctx is
// canceled, Perft returns its error.
func Perft(ctx context.Context, s State, depth int) (uint64, error) {
	if depth <= 0 {
		return 1, ctx.Err()
	}
	return perft(ctx, s, depth, make([]Move, 0, MaxMoves*min(depth, 8)))
}

// uncheckedDepth is the depth below which perft does not check its context. It takes milliseconds.
const uncheckedDepth = 3

// perft is Perft for a depth of at least 1. The moves of the plies above it are on the stack.
func perft(ctx context.Context, s State, depth int, stack []Move) (n uint64, err error) {
	if depth >= uncheckedDepth {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
	}
	legal := s.Legal(stack)
	if depth == 1 {
		return uint64(len(legal) - len(stack)), nil // the last ply need not be made
	}
	for _, m := range legal[len(stack):] {
		next := s.Clone()
		next.Apply(m, nil)
		below, err := perft(ctx, next, depth-1, legal)
		if err != nil {
			return 0, err
		}
		n += below
	}
	return n, nil
}
