package store

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/ladder"
)

// Pages are parts of the standings as they would be if they were sorted anew after each match.
func TestStandingsPages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := &ladderState{members: map[int64]*member{}}
		elos := rapid.Float64Range(0, 3) // in whole numbers: many are equal
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
			s.page(0, 1) // from here on they are kept in order
			m := s.members[rapid.Int64Range(0, int64(n-1)).Draw(t, "member")]
			after := m.place
			after.Elo = float64(int(elos.Draw(t, "elo")))
			s.move(m, after)
		}
		var want []ladder.Standing
		for _, m := range s.members {
			want = append(want, m.place)
		}
		slices.SortFunc(want, func(a, b ladder.Standing) int { return byPlace(s.members[a.VersionID], s.members[b.VersionID]) })
		rank(want, 0)
		if got := s.standings(); !slices.Equal(got, want) {
			t.Fatalf("the standings are %+v, want %+v", got, want)
		}
		first := rapid.IntRange(0, n+2).Draw(t, "first")
		size := rapid.IntRange(0, n+2).Draw(t, "size")
		from := min(first, n)
		if got := s.page(first, size); !slices.Equal(got, want[from:min(from+size, n)]) {
			t.Errorf("from %d on, %d are %+v, want them of %+v", first, size, got, want)
		}
	})
}
