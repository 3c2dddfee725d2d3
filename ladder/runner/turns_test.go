package runner

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/fleet"
)

// Matches that wait, by the person who asked for each; 0: interrupted.
func asked(people ...int64) (waiting []*ladder.Match) {
	for i, p := range people {
		waiting = append(waiting, &ladder.Match{ID: int64(i + 1), AskedBy: p})
	}
	return waiting
}

// quietStore is a store in which nothing happens.
type quietStore struct{ Store }

func (quietStore) Generation() uint64 { return 0 }

// alone returns a runner that knows of nothing but what the test tells its sources, and a place on its machine.
func alone(cores int, share float64) (*Runner, place) {
	r := &Runner{Options: Options{Store: quietStore{}}, placement: newPlacement(), backoffs: backoffs{}}
	r.waiting = waiting{Runner: r, read: true, credit: credit{share: share}, served: map[int64]int{}}
	r.placement.sync([]fleet.Machine{{Local: true, Cores: make([]int, cores)}})
	return r, place{r.placement.local(), time.Unix(0, 0)}
}

// Interrupted matches come first, and people take turns.
func TestTurns(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ asked, want []int64 }{
		{[]int64{7, 0, 0}, []int64{0, 0, 7}},
		{[]int64{7, 7, 7, 8, 8, 9}, []int64{7, 8, 9, 7, 8, 7}},
	} {
		r, at := alone(1, 1)
		r.waiting.matches = asked(test.asked...)
		var got []int64
		for len(r.waiting.matches) > 0 {
			j := kit.Get[*job](t)(r.waiting.interrupted(t.Context(), at))
			if j == nil {
				j = kit.Get[*job](t)(r.waiting.asked(t.Context(), at))
			}
			r.waiting.began(j)
			got = append(got, j.match.AskedBy)
			r.waiting.matches = slices.DeleteFunc(r.waiting.matches, func(m *ladder.Match) bool { return m == j.match })
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%v: %v, want %v", test.asked, got, test.want)
		}
	}
	r, at := alone(1, 1)
	r.waiting.matches = asked(7)
	r.backoffs.failed(matchName(1), at.now)
	if j := kit.Get[*job](t)(r.waiting.asked(t.Context(), at)); j != nil {
		t.Errorf("a match that may not be begun was picked: %v", j.match)
	}
}

// However long matches are that people ask for, and however many people ask: they have their share of the
// time, and leave a core of several free; each person has one at a time.
func TestAskedShare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cores        int
		share        float64
		people       []int64
		asked, rated time.Duration
		want         float64
	}{
		{1, 0.15, []int64{1}, 10 * time.Minute, 10 * time.Second, 0.15},
		{1, 0.15, []int64{1, 2, 3}, time.Second / 10, 10 * time.Second, 0.15},
		{2, 0.15, []int64{1, 2, 3}, 10 * time.Minute, 10 * time.Second, 0.15},
		{8, 0.5, []int64{1, 2, 3, 4, 5, 6, 7, 8}, 10 * time.Minute, time.Minute, 0.5},
		{2, 0.9, []int64{1, 2, 3}, 10 * time.Minute, 10 * time.Second, 0.5},
		{4, 0.9, []int64{1}, 10 * time.Minute, 10 * time.Second, 0.25},
		{4, 1, []int64{1, 2, 3, 4}, 10 * time.Minute, 10 * time.Second, 0.75},
	} {
		r, at := alone(c.cores, c.share)
		start := at.now
		ends, id, used := map[*job]time.Time{}, int64(0), time.Duration(0)
		for at.now.Before(start.Add(10 * time.Hour)) {
			for len(at.jobs) < c.cores {
				r.waiting.matches = asked(c.people...)
				j, took := kit.Get[*job](t)(r.waiting.asked(t.Context(), at)), c.asked
				if j == nil {
					j, took = &job{match: &ladder.Match{}}, c.rated
				}
				id++
				j.match.ID = -id // of no match that waits
				r.placement.take(at, j)
				r.waiting.began(j)
				ends[j] = at.now.Add(took)
			}
			at.now = slices.MinFunc(slices.Collect(maps.Values(ends)), time.Time.Compare)
			for j, end := range ends {
				if !end.Equal(at.now) {
					continue
				}
				r.placement.release(j)
				if r.waiting.ended(j, at.now); j.asked() {
					used += at.now.Sub(j.began)
				}
				delete(ends, j)
			}
		}
		got := used.Seconds() / at.now.Sub(start).Seconds() / float64(c.cores)
		if got < c.want-0.02 || got > c.want+0.02 {
			t.Errorf("%+v: they have %.3f of the time", c, got)
		}
	}
}

// Ladders that cost the same in the end have had the same, whatever one match of
// each takes; a pause makes no debts.
func TestCosts(t *testing.T) {
	t.Parallel()
	c, now := newLadders(nil).costs, time.Now()
	took := map[string]time.Duration{"slow": 10 * time.Second, "quick": time.Second}
	played := map[string]time.Duration{}
	ladders := []ladder.Ladder{{Name: "slow"}, {Name: "quick"}}
	for range 220 {
		c.fade(now)
		name := c.order(ladders)[0].Name
		charged := c.charge(name)
		now = now.Add(took[name])
		c.fade(now)
		c.correct(name, charged, took[name])
		played[name] += took[name]
	}
	if r := played["slow"].Seconds() / played["quick"].Seconds(); r < 0.9 || r > 1.1 {
		t.Errorf("the slow ladder had %.2f of the quick one's time, want the same", r)
	}
	c.fade(now.Add(24 * time.Hour))
	if c.spent["slow"] > 1e-3 || c.spent["quick"] > 1e-3 {
		t.Errorf("after a day they still count %v", c.spent)
	}
}

func TestBackoffs(t *testing.T) {
	t.Parallel()
	b, now := backoffs{}, time.Now()
	if b.active("a", now) || !b.next(now).IsZero() {
		t.Error("something is left alone before it failed")
	}
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		b.failed("a", now)
		until := b["a"].until
		if got := until.Sub(now); got != want*time.Second {
			t.Errorf("backoff %d is %s, want %s", i+1, got, want*time.Second)
		}
		if !b.active("a", until.Add(-1)) || b.active("a", until) || b.active("b", now) {
			t.Errorf("backoff %d does not end when it should", i+1)
		}
	}
	b.failed("b", now)
	if got := b.next(now).Sub(now); got != time.Second {
		t.Errorf("the first backoff that ends is in %s, want 1s", got)
	}
	b.worked("b")
	if b.failed("b", now); b["b"].until.Sub(now) != time.Second {
		t.Error("what worked begins anew")
	}
}
