package runner

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
)

// Matches that people ask for are played between those of the ladders, and the
// rated ones go on meanwhile.
func TestUnrated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	l := w.config.Ladders[0]
	var ids []int64
	for _, s := range []string{"@random", "@first", "@greedy"} {
		b, err := w.store.Bot(t.Context(), s)
		w.must(err)
		v, err := w.store.Versions(t.Context(), b.ID)
		w.must(err)
		ids = append(ids, v[0].ID)
	}
	for i := range 3 {
		_, err := w.store.AddMatch(t.Context(), store.NewMatch{
			Versions: []int64{ids[i], ids[(i+1)%3]}, Game: l.Game, Options: l.Options, Clock: l.Clock, Deals: 1, AskedBy: w.person.ID,
		})
		w.must(err)
	}
	r := w.run(1, nil)
	r.finished(6)
	r.stop()
	rated, asked := 0, 0
	for _, m := range w.matches() {
		if m.State != ladder.Finished {
			continue
		}
		if m.Rated {
			rated++
		} else {
			asked++
		}
	}
	if asked != 3 || rated < 2 {
		t.Errorf("of six matches %d were asked for and %d are rated, want 3 and the rest", asked, rated)
	}
}

// Submissions have a core of their own, one after another, and what they start is
// bound to it. One that fails for the server's own fault is tried again.
func TestSubmissions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	var first int64
	for i, name := range []string{"one", "two", "three"} {
		v, err := w.store.AddVersion(t.Context(), w.person.ID, store.NewVersion{Bot: name, Bundle: hashOf(name)}, w.config.Limits)
		w.must(err)
		if i == 0 {
			first = v.ID
		}
	}
	var mu sync.Mutex
	at, tries := 0, 0
	cores := referee.Cores()
	r := w.run(1, func(o *Options) {
		o.Cores = cores[:1]
		o.Submit = func(ctx context.Context, id int64, core int) error {
			mu.Lock()
			at++
			if at > 1 {
				t.Error("two submissions at once")
			}
			if id == first {
				tries++
			}
			fails := id == first && tries == 1
			mu.Unlock()
			defer func() {
				mu.Lock()
				at--
				mu.Unlock()
			}()
			var set unix.CPUSet
			if err := unix.SchedGetaffinity(0, &set); err != nil || set.Count() != 1 || !set.IsSet(core) {
				t.Errorf("it runs on %d cores, want core %d alone (%v)", set.Count(), core, err)
			}
			if fails {
				return errors.New("the compiler's disk is full")
			}
			return w.store.Fail(ctx, id, "for the test")
		}
	})
	seen := map[int64]bool{}
	r.until("all are through", func(e Event) bool {
		if e.Kind == VersionMoved && e.State == ladder.Failed {
			seen[e.Version] = true
		}
		return len(seen) == 3
	})
	r.finished(1) // on the same core
	r.stop()
	if tries != 2 {
		t.Errorf("the first one was tried %d times, want twice", tries)
	}
}

// A ladder that has nothing new to tell plays once in a pause; a newcomer ends
// that at once.
func TestPause(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	now := time.Now()
	r, err := New(Options{Store: w.store, Ladders: w.config.Ladders, Resolve: w.resolve, Cores: []int{referee.AnyCore}, Pause: time.Minute})
	w.must(err)
	old, fresh := matchmaking.Player{Matches: ladder.Settled}, matchmaking.Player{Matches: ladder.Settled - 1}
	check := func(after time.Duration, want bool, players ...matchmaking.Player) {
		t.Helper()
		r.quiet = time.Time{}
		if got := r.pauses("tebes", players, now.Add(after)); got != want || got == r.quiet.IsZero() || got && !r.quiet.Equal(now.Add(time.Minute)) {
			t.Errorf("after %s it pauses: %t, until %s; want %t", after, got, r.quiet.Sub(now), want)
		}
	}
	check(0, false, old, old) // its first match since the start
	r.last["tebes"] = now
	check(time.Second, true, old, old)
	check(time.Second, false, old, fresh)
	check(time.Minute, false, old, old)
}
