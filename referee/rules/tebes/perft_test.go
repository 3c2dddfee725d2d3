package tebes

import (
	"context"
	"errors"
	"testing"

	"github.com/timba-arena/timba/referee/rules"
)

// perft counts by the naive rules.
func (n *naive) perft(depth int) (count uint64) {
	if depth <= 1 {
		return uint64(len(n.moves))
	}
	for _, m := range n.moves {
		count += n.played(m).perft(depth - 1)
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
		{"", []uint64{15, 247, 5340, 121187, 3099164}, 4},
		{"board=random", []uint64{21, 407, 10510, 263604}, 3},
		{"size=4", []uint64{9, 85, 1036, 12787, 172164, 2306632}, 5},
		{"size=4 cycles=allow", []uint64{9, 85, 1036, 12787, 172164, 2306960}, 5},
		{"size=4 board=random", []uint64{7, 47, 557, 5848, 77146, 976786}, 5},
		{"opening=4", []uint64{26, 546, 13883}, 3},
		{"size=4 board=random opening=3", []uint64{10, 160, 2060, 30167}, 4},
		{"size=4 limit=3", []uint64{9, 85, 1036, 0}, 4},
	} {
		s := start(t, row.options)
		n, below := naiveBoard(s.rules, rules.Seed{})
		if plies := int(s.rules.Opening); plies > 0 {
			n, _, _ = n.open(plies, below)
		}
		for i, want := range row.counts {
			if got, err := rules.Perft(t.Context(), s, i+1); got != want {
				t.Errorf("%q: depth %d: %d, %v, want %d", row.options, i+1, got, err, want)
			}
			if i < row.naive {
				if got := n.perft(i + 1); got != want {
					t.Errorf("%q: depth %d: the naive rules count %d, not %d", row.options, i+1, got, want)
				}
			}
		}
		checkDivide(t, s)
	}
}

// checkDivide wants the counts by first move to be those after it.
func checkDivide(t *testing.T, s *State) {
	t.Helper()
	legal := s.Legal(nil)
	counts, err := rules.Divide(t.Context(), s, 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(counts) != len(legal) {
		t.Fatalf("%d first moves, %d legal", len(counts), len(legal))
	}
	for i, c := range counts {
		next := s.Clone()
		next.Apply(legal[i], nil)
		if want, _ := rules.Perft(t.Context(), next, 2); c.Move != legal[i] || c.Count != want {
			t.Errorf("%v, want %d for the move %d", c, want, legal[i])
		}
	}
	if one, err := rules.Perft(t.Context(), s, 0); one != 1 || err != nil {
		t.Errorf("depth 0 has %d sequences, %v", one, err)
	}
	if none, err := rules.Divide(t.Context(), s, 0); none != nil || err != nil {
		t.Errorf("depth 0 is divided: %v, %v", none, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := rules.Perft(ended, s, 1000); !errors.Is(err, context.Canceled) {
		t.Errorf("a count whose context has ended: %v", err)
	}
}
