package rules

import "context"

// Perft returns the number of sequences of depth legal moves from a position: a game that
// ends earlier adds none, and depth 0 is 1. The position is unchanged at the end. It ends
// with the context, and then returns its error.
func Perft(ctx context.Context, s State, depth int) (uint64, error) {
	if depth <= 0 {
		return 1, ctx.Err()
	}
	return perft(ctx, s, depth, make([]Move, 0, MaxMoves*min(depth, 8)))
}

// uncheckedDepth is the depth that perft counts without a look at its context: milliseconds.
const uncheckedDepth = 3

// perft returns Perft at depth 1 and more; the moves above it are in the stack.
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
