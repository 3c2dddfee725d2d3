package runner

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
)

// requestedBy returns a waiting match for each of the people.
func requestedBy(people ...int64) (waiting []*ladder.Match) {
	for i, p := range people {
		waiting = append(waiting, &ladder.Match{ID: int64(i + 1), RequestedBy: p})
	}
	return waiting
}

// quietMatches is a store of matches that never changes.
type quietMatches struct{ Matches }

func (quietMatches) Generation() uint64 { return 0 }

// isolatedSource returns a source that has only the matches that a test gives it, and a core of its machine.
func isolatedSource(cores int) (*requestedMatches, Core) {
	p := newPlacement()
	p.sync([]attempt.WorkerInfo{{Local: true, Cores: make([]int, cores)}})
	w := &waitingMatches{store: Store{Matches: quietMatches{}}, catalog: &catalog{}, placement: p, wasRead: true}
	return &requestedMatches{waitingMatches: w, turns: map[int64]int{}}, Core{machine: p.local(), now: time.Unix(0, 0)}
}

// Requested matches only get their share of the time, however many and long they are. They leave one of
// several cores free, and each person has one at a time.
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
		s, core := isolatedSource(c.cores)
		counted := newCharges(s.placement)
		counted.share = c.share
		start := core.now
		ends, id, used := map[*assignment]time.Time{}, int64(0), time.Duration(0)
		for core.now.Before(start.Add(10 * time.Hour)) {
			for len(core.assignments) < c.cores {
				s.matches = requestedBy(c.people...)
				var j Job
				took := c.asked
				if !counted.isShareUsed(core.now) {
					j = kit.Get[Job](t)(s.Next(t.Context(), core))
				}
				if j == nil {
					j, took = &matchJob{match: &ladder.Match{}}, c.rated
				}
				id++
				j.(*matchJob).match.ID = -id // of no match that waits
				a := s.placement.assign(core, j)
				if requesterOf(j) != 0 {
					s.RecordStart(j)
				}
				counted.add(a, false)
				ends[a] = core.now.Add(took)
			}
			core.now = slices.MinFunc(slices.Collect(maps.Values(ends)), time.Time.Compare)
			for a, end := range ends {
				if !end.Equal(core.now) {
					continue
				}
				s.placement.release(a)
				if counted.settle(a, 0, core.now); requesterOf(a.job) != 0 {
					used += core.now.Sub(a.start)
				}
				delete(ends, a)
			}
		}
		got := used.Seconds() / core.now.Sub(start).Seconds() / float64(c.cores)
		if got < c.want-0.02 || got > c.want+0.02 {
			t.Errorf("%+v: they have %.3f of the time", c, got)
		}
	}
}

// The balance of requested matches grows up to maxBalance, and may be negative.
func TestCredit(t *testing.T) {
	t.Parallel()
	s, core := isolatedSource(1)
	c := newCharges(s.placement)
	c.share = 0.2
	for _, test := range []struct {
		asker int64
		took  time.Duration
		want  time.Duration
	}{
		{0, 8 * time.Second, 2 * time.Second},
		{0, time.Hour, maxBalance},
		{1, time.Minute, maxBalance - time.Minute},
	} {
		c.settle(&assignment{job: &matchJob{match: &ladder.Match{RequestedBy: test.asker}}, start: core.now}, test.took, core.now.Add(test.took))
		if c.balance != test.want {
			t.Errorf("after %s of matches that person %d asked for: %s, want %s", test.took, test.asker, c.balance, test.want)
		}
	}
}

// Ladders get the same core time in the long run, whatever a single match of each costs. A pause builds up no
// claim.
func TestCosts(t *testing.T) {
	t.Parallel()
	c, now := &newCharges(nil).costs, time.Now()
	took := map[string]time.Duration{"slow": 10 * time.Second, "quick": time.Second}
	played := map[string]time.Duration{}
	ladders := []ladder.Ladder{{Name: "slow"}, {Name: "quick"}}
	for range 220 {
		c.fade(now)
		name := c.order(ladders)[0].Name
		seconds := c.add(name)
		now = now.Add(took[name])
		c.fade(now)
		c.correct(name, seconds, took[name])
		played[name] += took[name]
	}
	if r := played["slow"].Seconds() / played["quick"].Seconds(); r < 0.9 || r > 1.1 {
		t.Errorf("the slow ladder had %.2f of the quick one's time, want the same", r)
	}
	c.fade(now.Add(24 * time.Hour))
	if c.coreSeconds["slow"] > 1e-3 || c.coreSeconds["quick"] > 1e-3 {
		t.Errorf("after a day they still count %v", c.coreSeconds)
	}
}
