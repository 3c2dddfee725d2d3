package rules

import "context"

// Perft counts the sequences of legal moves from s whose length is depth. Tests compare the count with known numbers.
// A sequence that ends the game earlier is not counted. For depth 0 the result is 1. s is unchanged afterwards. If
// ctx is canceled, Perft returns the error of ctx.
func Perft(ctx context.Context, s State, depth int) (uint64, error) {
	if depth <= 0 {
		return 1, ctx.Err()
	}
	return perft(ctx, s, depth, make([]Move, 0, MaxMoves*min(depth, 8)))
}

// uncheckedDepth is a number of remaining moves. When fewer remain, perft no longer checks whether its context is
// canceled: counting so few moves takes milliseconds.
const uncheckedDepth = 3

// perft is Perft for a depth of at least 1. stack holds the moves of the earlier levels of the recursion. perft
// overwrites the free capacity of stack.
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
