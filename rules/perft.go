package rules

import "context"

// Perft returns the number of different sequences of depth legal moves from s, which tests compare with known
// numbers. Sequences that end the game earlier do not count, and the result for depth 0 is 1. s is unchanged
// afterwards. If ctx is canceled, Perft returns its error.
func Perft(ctx context.Context, s State, depth int) (uint64, error) {
	if depth <= 0 {
		return 1, ctx.Err()
	}
	return perft(ctx, s, depth, make([]Move, 0, MaxMoves*min(depth, 8)))
}

// uncheckedDepth is the number of remaining plies below which perft does not check for cancellation. Counting
// so few plies takes milliseconds.
const uncheckedDepth = 3

// perft is Perft for a depth of at least 1. stack holds the moves of the plies above, and perft uses its free
// capacity.
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
