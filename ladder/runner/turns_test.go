package runner

import (
	"testing"
	"time"

	"github.com/timba-arena/timba/ladder"
)

// Matches that wait, by the person who asked for each; 0: interrupted.
func asked(people ...int64) (waiting []*ladder.Match) {
	for i, p := range people {
		waiting = append(waiting, &ladder.Match{ID: int64(i + 1), AskedBy: p})
	}
	return waiting
}

// take picks matches until none is left, and gives the people of them; -1 is a
// match of a ladder that came between.
func take(t *turns, waiting []*ladder.Match, spare bool) (order []int64) {
	gone := map[int64]bool{}
	for range 100 {
		m := t.pick(waiting, func(m *ladder.Match) bool { return !gone[m.ID] }, spare)
		if m == nil {
			if len(gone) == len(waiting) {
				return order
			}
			order = append(order, -1)
			t.began(&job{match: &ladder.Match{}})
			continue
		}
		gone[m.ID] = true
		order = append(order, m.AskedBy)
		t.began(&job{match: m})
	}
	return order
}

func TestTurns(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		asked []int64
		spare bool
		want  []int64
	}{
		{"broken off come first", []int64{7, 0, 0}, false, []int64{0, 0, 7}},
		{"every other match is a ladder's", []int64{7, 7, 7}, false, []int64{7, -1, 7, -1, 7}},
		{"nothing else to play", []int64{7, 7}, true, []int64{7, 7}},
		{"people take turns", []int64{7, 7, 7, 8, 8, 9}, true, []int64{7, 8, 9, 7, 8, 7}},
	}
	for _, test := range tests {
		turns := newTurns()
		got := take(&turns, asked(test.asked...), test.spare)
		if len(got) != len(test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
			continue
		}
		for i := range got {
			if got[i] != test.want[i] {
				t.Errorf("%s: %v, want %v", test.name, got, test.want)
				break
			}
		}
	}
	turns := newTurns()
	if m := turns.pick(asked(7), func(*ladder.Match) bool { return false }, true); m != nil {
		t.Errorf("a match that may not be begun was picked: %v", m)
	}
}

// Ladders that cost the same in the end have had the same, whatever one match of
// each takes; a pause makes no debts.
func TestCosts(t *testing.T) {
	t.Parallel()
	c, now := newCosts(), time.Now()
	took := map[string]time.Duration{"slow": 10 * time.Second, "quick": time.Second}
	played := map[string]time.Duration{}
	ladders := []ladder.Ladder{{Name: "slow"}, {Name: "quick"}}
	for range 220 {
		c.fade(now)
		name := c.order(ladders)[0].Name
		charged := c.began(name)
		now = now.Add(took[name])
		c.fade(now)
		c.ended(name, charged, took[name])
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
		until := b.failed("a", now)
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
	if b.failed("b", now).Sub(now) != time.Second {
		t.Error("what worked begins anew")
	}
}
