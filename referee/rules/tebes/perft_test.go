package tebes

import (
	"testing"

	"github.com/timba-arena/timba/referee/rules"
)

// perft counts by the naive rules.
func (n *naive) perft(depth int) (count uint64) {
	if depth <= 1 {
		return uint64(len(n.moves))
	}
	for _, m := range n.moves {
		next := *n
		if n.seen != nil {
			next.seen = map[string]int{}
			for position, ply := range n.seen {
				next.seen[position] = ply
			}
		}
		next.apply(m)
		count += next.perft(depth - 1)
	}
	return count
}

// Sequences of 1, 2, ... legal moves from the first position; the seed is 32
// zero bytes. The naive rules count the first few.
func TestTebesPerft(t *testing.T) {
	for _, row := range []struct {
		options string
		counts  []uint64
		naive   int
	}{
		{"", nil, 3},
		{"size=4", nil, 4},
		{"size=4 cycles=allow", nil, 4},
		{"board=random", nil, 3},
		{"size=4 board=random", nil, 4},
		{"size=4 limit=3", nil, 4},
	} {
		s := start(t, row.options)
		n := newNaive(s)
		for i := range 6 {
			t.Log(row.options, i+1, rules.Perft(s, i+1))
		}
		for depth := range row.naive {
			t.Log(n.perft(depth + 1))
		}
	}
}
