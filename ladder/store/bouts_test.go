//go:build !race || slowrace

package store

import (
	"math"
	"slices"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/stats"
)

// TestBouts checks that the bouts of teams have the partners and the scores that were played.
func TestBouts(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	const name = "brisca-4-teams"
	sides := []int{0, 1, 0, 1}
	four := c.liveIDs("@random", "@first", "@greedy")
	owner, err := c.People.Add(bg, "ada", false)
	kit.Must(t, err)
	four = append(four, c.addLive(owner.ID, "lovelace").ID)
	var want [][]int64
	var scores []float64
	for i := range 4 {
		m, changes := c.playRatedMatch(name, four...)
		want = append(want, m.Versions)
		scores = append(scores, changes[0].Score*float64(m.Deals))
		four = append(four[1:], four[0])
		if i == 1 {
			four[0], four[1] = four[1], four[0]
		}
	}
	ids, bouts, err := c.Ladders.Bouts(bg, name, sides, 1000)
	kit.Must(t, err)
	if len(bouts) != len(want) || !slices.IsSorted(ids) || len(ids) != 4 {
		t.Fatalf("%d bouts of versions %v, want %d of 4", len(bouts), ids, len(want))
	}
	for i, b := range bouts {
		got := []int64{ids[b.A[0]], ids[b.B[0]], ids[b.A[1]], ids[b.B[1]]}
		if !slices.Equal(got, want[i]) || b.Deals != 1 || math.Abs(b.Score-scores[i]) > 1e-12 {
			t.Errorf("bout %d is of %v with %v in %v deals, want %v with %v", i, got, b.Score, b.Deals, want[i], scores[i])
		}
	}
	if _, last, err := c.Ladders.Bouts(bg, name, sides, 3); err != nil || !slices.EqualFunc(last, bouts[1:], sameScore) {
		t.Errorf("the last 3 of %v are %v; %v", bouts, last, err)
	}
	if _, _, err := c.Ladders.Bouts(bg, name, []int{0, 1, 2}, 1000); err == nil {
		t.Error("matches of four slots pass for three")
	}
	if ids, bouts, err := c.Ladders.Bouts(bg, "tute-4", sides, 1000); err != nil || len(ids)+len(bouts) > 0 {
		t.Errorf("a ladder without matches has %v, %v and %v", ids, bouts, err)
	}
}

func sameScore(a, b stats.Bout) bool { return a.Score == b.Score && a.Deals == b.Deals }
