package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/fleet"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/cores"
)

// Matches that people ask for are played between those of the ladders, and the
// rated ones go on meanwhile.
func TestUnrated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	l := w.config.Ladders[0]
	var ids []int64
	for _, s := range []string{"@random", "@first", "@greedy"} {
		b := kit.Get[ladder.Bot](t)(w.store.Bot(t.Context(), s))
		v := kit.Get[[]ladder.Version](t)(w.store.Versions(t.Context(), b.ID))
		ids = append(ids, v[0].ID)
	}
	for i := range 3 {
		_, err := w.store.AddMatch(t.Context(), store.NewMatch{
			Versions: []int64{ids[i], ids[(i+1)%3]}, Game: l.Game, Options: l.Options, Clock: l.Clock, Deals: 1, AskedBy: w.person.ID,
		})
		w.Must(err)
	}
	r := w.run(1, nil)
	finished := map[bool]int{}
	r.until("all three and as many of the ladder are finished", func(e events.Event) bool {
		if e.Kind == events.MatchFinished {
			finished[e.Ladder != ""]++
		}
		return finished[false] == 3 && finished[true] >= 3
	})
}

// Submissions have a core of their own, one after another, and what they start is
// bound to it. One that fails for the server's own fault is tried again.
func TestSubmissions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	var first int64
	for i, name := range []string{"one", "two", "three"} {
		v, err := w.store.AddVersion(t.Context(), w.person.ID, store.NewVersion{Bot: name, Bundle: hashOf(name)}, w.config.Limits)
		w.Must(err)
		if i == 0 {
			first = v.ID
		}
	}
	var mu sync.Mutex
	at, tries := 0, 0
	cores := cores.All()
	r := w.run(1, func(o *Options) {
		o.Local.Cores = cores[:1]
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
	r.until("all are through", func(e events.Event) bool {
		if e.Kind == events.VersionMoved && e.State == ladder.Failed {
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

// A version that fails while a match ends, which looks for what was cancelled, has ended
// as any other, and is told of.
func TestFailedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	w.submits("amy", 1)
	started := make(chan *Runner, 1)
	r := w.run(2, func(o *Options) {
		o.Submit = func(ctx context.Context, id int64, core int) error {
			w.Must(w.store.Fail(context.WithoutCancel(ctx), id, "for the test"))
			r := <-started
			r.Wake()
			<-ctx.Done()
			return ctx.Err()
		}
	})
	started <- r.Runner
	r.until("it has failed", func(e events.Event) bool { return e.Kind == events.VersionMoved && e.State == ladder.Failed })
	r.stop()
}

// submits adds versions that wait, each of another bot of the person.
func (w *world) submits(person string, n int) {
	w.t.Helper()
	p := w.Person(person, false)
	for i := range n {
		name := fmt.Sprint(person, i)
		w.Submit(p.ID, name, hashOf(name))
	}
}

// One person's queue of builds that do not end holds one core: the others' versions
// all come through meanwhile, and the ladders play.
func TestSlowBuildsHoldNobodyUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	w.submits("slow", 5)
	w.submits("ben", 3)
	w.submits("cleo", 3)
	var slow atomic.Int32
	r := w.run(4, func(o *Options) {
		o.Submit = func(ctx context.Context, id int64, core int) error {
			v := kit.Get[ladder.Version](t)(w.store.Version(ctx, id))
			w.Must(w.store.SetState(ctx, id, ladder.Queued))
			if strings.HasPrefix(v.Bot, "slow") {
				slow.Add(1)
				<-ctx.Done()
				return ctx.Err()
			}
			return w.store.Fail(ctx, id, "for the test")
		}
	})
	through, played := 0, 0
	r.until("the others' versions are through and the ladder plays", func(e events.Event) bool {
		switch {
		case e.Kind == events.VersionMoved:
			through++
		case e.Kind == events.MatchFinished && through == 6:
			played++
		}
		return played == 6
	})
	if n := slow.Load(); n != 1 {
		t.Errorf("%d builds of one person have been begun, want 1", n)
	}
	r.stop()
}

// On few cores submissions go one by one: of two people with a queue each has every
// other turn, whoever came first.
func TestSubmissionsByTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	w.submits("amy", 5)
	w.submits("ben", 2)
	var order []string
	r := w.run(2, func(o *Options) {
		o.Submit = func(ctx context.Context, id int64, core int) error {
			v := kit.Get[ladder.Version](t)(w.store.Version(ctx, id))
			w.Must(w.store.SetState(ctx, id, ladder.Queued))
			order = append(order, v.Bot) // one at a time
			return w.store.Fail(ctx, id, "for the test")
		}
	})
	through := 0
	r.until("all are through", func(e events.Event) bool {
		if e.Kind == events.VersionMoved {
			through++
		}
		return through == 7
	})
	r.stop()
	if want := []string{"amy0", "ben0", "amy1", "ben1", "amy2", "amy3", "amy4"}; !slices.Equal(order, want) {
		t.Errorf("the turns were %v, want %v", order, want)
	}
}

// Of three cores one is for submissions and one for matches; on the third they take
// turns, so that two submissions run at once and matches keep a half.
func TestSubmissionsOnOddCores(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	for _, name := range []string{"amy", "ben", "cleo"} {
		w.submits(name, 1)
	}
	r := kit.Get[*Runner](t)(New(Options{
		Store: w.store, Ladders: w.config.Ladders, Resolve: w.resolve, Local: fleet.Machine{Cores: []int{0, 1, 2}},
		Submit: func(context.Context, int64, int) error { return nil },
	}))
	var running []*job
	what := func() string {
		at := place{r.placement.local(), time.Now()}
		j := kit.Get[*job](t)(r.next(t.Context(), at))
		if r.take(at, j); j.match != nil {
			r.giveBack(j, 0)
			return "match"
		}
		running = append(running, j)
		return "submission"
	}
	var order []string
	for range 5 {
		order = append(order, what())
	}
	if want := []string{"submission", "match", "submission", "match", "match"}; !slices.Equal(order, want) {
		t.Errorf("begun are %v, want %v", order, want)
	}
	for _, j := range running { // both are over, and a match is the next in turn no more
		r.giveBack(j, time.Second)
	}
	if got := []string{what(), what()}; !slices.Equal(got, []string{"submission", "match"}) {
		t.Errorf("then %v", got)
	}
}

// A ladder that has nothing new to tell plays once in a pause; a newcomer ends
// that at once.
func TestPause(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	now := time.Now()
	r, err := New(Options{Store: w.store, Ladders: w.config.Ladders, Resolve: w.resolve, Local: fleet.Machine{Cores: []int{cores.Any}}, Pause: time.Minute})
	w.Must(err)
	l := &r.ladders
	old, fresh := matchmaking.Player{Matches: ladder.EnoughMatches}, matchmaking.Player{Matches: ladder.EnoughMatches - 1}
	all := func(*matchmaking.Player) bool { return true }
	check := func(after time.Duration, want bool, players ...matchmaking.Player) {
		t.Helper()
		l.quiet = time.Time{}
		if got := l.pauses("tebes", matchmaking.NewPool([]int{0, 1}, 0, players), all, now.Add(after)); got != want || got == l.quiet.IsZero() || got && !l.quiet.Equal(now.Add(time.Minute)) {
			t.Errorf("after %s it pauses: %t, until %s; want %t", after, got, l.quiet.Sub(now), want)
		}
	}
	check(0, false, old, old) // its first match since the start
	l.last["tebes"] = now
	check(time.Second, true, old, old)
	check(time.Second, false, old, fresh)
	check(time.Minute, false, old, old)
}
