package api

import (
	"testing"

	"github.com/timba-arena/timba/ladder"
)

// A version without a match has no rank.
func TestRank(t *testing.T) {
	t.Parallel()
	for matches, want := range map[int]int{0: 0, 1: 3} {
		s := ladder.Standing{Rank: 3}
		s.Matches += matches
		if got := standingDoc(s).Rank; got != want {
			t.Errorf("after %d matches the rank is %d, want %d", matches, got, want)
		}
	}
}
