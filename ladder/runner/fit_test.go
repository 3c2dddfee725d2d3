package runner

import (
	"math"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/rating"
)

func TestFitDue(t *testing.T) {
	t.Parallel()
	f, start := newFitter(), time.Now()
	at := func(d time.Duration) time.Time { return start.Add(d) }
	check := func(when time.Duration, want string, next time.Duration) {
		t.Helper()
		name, n := f.due(at(when))
		if name != want {
			t.Errorf("after %s: %q is due, want %q", when, name, want)
		}
		if want == "" && (next == 0) != n.IsZero() || next != 0 && !n.Equal(at(next)) {
			t.Errorf("after %s: the next is due at %s, want %s", when, n.Sub(start), next)
		}
	}
	check(0, "", 0)
	f.add("a")
	check(0, "a", 0) // it was never fitted
	f.begun("a", at(0))
	check(0, "", 0)
	f.add("a")
	check(fitEvery-1, "", fitEvery)
	check(fitEvery, "a", 0)
	f.begun("a", at(0))
	f.ended("a", fitEvery)
	f.add("a")
	check((1+fitRest)*fitEvery-1, "", (1+fitRest)*fitEvery)
	check((1+fitRest)*fitEvery, "a", 0)
	select {
	case <-f.changed:
	default:
		t.Error("nobody was told of the matches")
	}
}

// All versions of the anchor are one bot, fixed at its rating.
func TestEstimate(t *testing.T) {
	t.Parallel()
	versions := []int64{4, 9, 17, 20}
	anchors := map[int64]bool{4: true, 17: true}
	pairs := []rating.Pair{
		{A: 0, B: 1, Deals: 100, Score: 25, Squares: 25}, {A: 1, B: 2, Deals: 100, Score: 75, Squares: 75},
		{A: 0, B: 2, Deals: 50, Score: 50, Squares: 50}, {A: 1, B: 3, Deals: 100, Score: 50, Squares: 50},
	}
	got := kit.Get[map[int64]rating.Estimate](t)(results{versions: versions, pairs: pairs}.estimate(anchors))
	for id, want := range map[int64]float64{4: 1000, 17: 1000, 9: 1000 + rating.Elo(0.75), 20: 1000 + rating.Elo(0.75)} {
		if e := got[id]; math.Abs(e.Value-want) > 5 || e.Low > e.Value || e.High < e.Value {
			t.Errorf("version %d: %+v, want about %.0f", id, e, want)
		}
	}
	if got[4] != got[17] {
		t.Errorf("the versions of the anchor have %+v and %+v", got[4], got[17])
	}
}

// Where teams play, the partners count.
func TestEstimateTeams(t *testing.T) {
	t.Parallel()
	versions := []int64{4, 9, 17, 20, 21}
	anchors := map[int64]bool{4: true, 17: true}
	// 9 is strong and all others are even: with 9 a team scores by half of its lead.
	s := rating.Score(100)
	r := results{versions: versions}
	for range 20 {
		r.bouts = append(r.bouts,
			rating.Bout{A: []int{0, 1}, B: []int{3, 4}, Deals: 10, Score: 10 * s}, rating.Bout{A: []int{3, 1}, B: []int{4, 2}, Deals: 10, Score: 10 * s},
			rating.Bout{A: []int{4, 1}, B: []int{2, 3}, Deals: 10, Score: 10 * s})
	}
	got := kit.Get[map[int64]rating.Estimate](t)(r.estimate(anchors))
	for id, want := range map[int64]float64{4: 1000, 17: 1000, 9: 1200, 20: 1000, 21: 1000} {
		if e := got[id]; math.Abs(e.Value-want) > 5 || e.Low > e.Value || e.High < e.Value {
			t.Errorf("version %d: %+v, want about %.0f", id, e, want)
		}
	}
}
