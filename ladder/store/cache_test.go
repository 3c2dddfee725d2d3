//go:build !race || slowrace

package store

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/ladder"
)

// TestStandingsAreSorted checks that cached standings are in the same order as if they were sorted again after
// each match.
func TestStandingsAreSorted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := &ladderState{members: map[int64]*member{}}
		elos := rapid.Float64Range(0, 3) // rounded below, so that many are equal
		n := rapid.IntRange(1, 12).Draw(t, "members")
		for id := range int64(n) {
			m := &member{place: ladder.Standing{VersionID: id, Elo: float64(int(elos.Draw(t, "elo")))}}
			if rapid.Bool().Draw(t, "fitted") {
				fit := float64(int(elos.Draw(t, "fit")))
				m.place.Fit = &fit
			}
			s.members[id] = m
		}
		for range rapid.IntRange(0, 20).Draw(t, "matches") {
			id := rapid.Int64Range(0, int64(n-1)).Draw(t, "member")
			s.standings()
			s.members[id].place.Elo = float64(int(elos.Draw(t, "elo")))
			s.places = nil
		}
		var want []ladder.Standing
		for _, m := range s.members {
			p := m.place
			p.Rank = 1
			for _, o := range s.members {
				if ladder.ComparePlaces(o.place, p) < 0 {
					p.Rank++
				}
			}
			want = append(want, p)
		}
		slices.SortFunc(want, compareRows)
		if got := s.standings(); !slices.Equal(got, want) {
			t.Fatalf("the standings are %+v, want %+v", got, want)
		}
	})
}
