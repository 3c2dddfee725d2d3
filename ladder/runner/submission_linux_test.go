package runner

import (
	"context"
	"errors"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/cores"
)

// Submissions have a core of their own, one after the other, and their programs are bound to it. A submission
// that fails because of the server is tried again.
func TestSubmissions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	var first int64
	for i, name := range []string{"one", "two", "three"} {
		v, err := w.Store.Versions.Add(t.Context(), w.person.ID, store.NewVersion{Bot: name, Bundle: hashOf(name)}, w.Config.Limits)
		w.Must(err)
		if i == 0 {
			first = v.ID
		}
	}
	var mu sync.Mutex
	at, tries := 0, 0
	cores := cores.All()
	r := w.startRunner(1, func(o *runnerParts) {
		o.Local.Cores = cores[:1]
		o.submit = func(ctx context.Context, id int64, core int) error {
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
			return w.Store.Versions.Fail(ctx, id, phrase.Plain("for the test"))
		}
	})
	seen := map[int64]bool{}
	r.awaitEvent("all are through", func(e events.Event) bool {
		if e.Kind == events.VersionChanged {
			seen[e.Version] = true
		}
		return len(seen) == 3
	})
	r.awaitMatches(1) // on the same core
	r.stop()
	if tries != 2 {
		t.Errorf("the first one was tried %d times, want twice", tries)
	}
}

// A version that fails just while the runner looks for cancelled jobs counts as finished and is logged.
func TestFailedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	w.Submit(w.person.ID, "amy", hashOf("amy"))
	started := make(chan *Runner, 1)
	r := w.startRunner(2, func(o *runnerParts) {
		o.submit = func(ctx context.Context, id int64, core int) error {
			w.Must(w.Store.Versions.Fail(context.WithoutCancel(ctx), id, phrase.Plain("for the test")))
			r := <-started
			r.Wake()
			<-ctx.Done()
			return ctx.Err()
		}
	})
	started <- r.Runner
	r.awaitEvent("it has failed", func(e events.Event) bool { return e.Kind == events.VersionChanged })
	r.stop()
}
