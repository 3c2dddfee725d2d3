package runner

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/attempt/attempttest"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/laddertest"
	"github.com/timba-arena/timba/referee/cores"
)

// A worker whose result contradicts its match is suspended, with a reason, also after it reconnects. Its
// other attempts end and are played elsewhere, and none of its results is stored.
func TestSuspended(t *testing.T) {
	t.Parallel()
	ended := func(j attempt.Job) attempt.Result {
		return attempt.Result{Match: j.Match, Attempt: j.Attempt, Failure: &attempt.Failure{Kind: attempt.FailedCancelled}}
	}
	for name, test := range map[string]struct {
		told   func(attempt.Job) attempt.Result // to end
		result func(attempt.Job, attempt.Result) attempt.Result
		why    string
	}{
		"ranks": {attempttest.PlayAtRandom, func(_ attempt.Job, r attempt.Result) attempt.Result {
			slices.Reverse(r.Games[0].Ranks)
			r.Games[0].Ranks[0]++
			return r
		}, "ranks are"},
		"a failure of a bot that it never had": {ended, func(j attempt.Job, r attempt.Result) attempt.Result {
			r.Games, r.Failure = nil, &attempt.Failure{Kind: attempt.FailedVersion, Version: 4711, Text: phrase.Plain("it is broken")}
			return r
		}, "a failure of version 4711, which does not play"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tiny)
			w.playAtRandom()
			f := w.newFleet("w1")
			var given atomic.Int32
			both := make(chan struct{})
			f.Player = func(ctx context.Context, _ string, j attempt.Job) attempt.Result {
				if given.Add(1) == 1 { // one core plays on until it is told to end
					<-ctx.Done()
					close(both)
					return test.told(j)
				}
				return test.result(j, attempttest.PlayAtRandom(j))
			}
			registry := prometheus.NewRegistry()
			r := w.startRunner(1, func(o *runnerParts) { o.Fleet, o.Registerer = f, registry })
			texts, waits := map[string]int64{}, map[int64]bool{}
			all := func(e events.Event) bool {
				switch e.Kind {
				case events.MatchBroken:
					texts[e.Text], waits[e.Match] = e.Match, true
				case events.MatchFinished:
					delete(waits, e.Match)
				}
				return len(texts) == 2
			}
			r.awaitEvent("both are broken off", all)
			for _, want := range []string{`machine "w1" handed in what cannot be of the match`, `machine "w1" was suspended`} {
				if texts[want] == 0 {
					t.Errorf("they were broken off for %v", texts)
				}
			}
			kit.Wait(t, "what it played on has ended", both)
			f.LoseMachine("w1")
			f.AddMachine(attempt.WorkerInfo{Name: "w1", Cores: []int{cores.Any}})
			r.awaitEvent("both are played elsewhere", func(e events.Event) bool { return all(e) && len(waits) == 0 })
			r.awaitMatches(5)
			m := machineNamed(t, r.Machines(nil), "w1")
			if m.State != ladder.MachineSuspended || !strings.Contains(m.Reason.String(), test.why) || m.FinishedMatches != 0 || m.BrokenAttempts != 1 {
				t.Errorf("the machine is %+v", m)
			}
			if n := metricValue(t, registry, "timba_machines", "suspended"); n != 1 {
				t.Errorf("%v machines are counted as suspended", n)
			}
			r.stop()
			if n := given.Load(); n != 2 {
				t.Errorf("it was given %d matches", n)
			}
			if text := w.logText(); !strings.Contains(text, "a worker is suspended") || !strings.Contains(text, test.why) {
				t.Errorf("the log is\n%s", text)
			}
			w.checkStore()
		})
	}
}

// A worker gets a few matches at first, and one more for each match that it has played, up to the number of
// its cores.
func TestFirstMatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	f := w.newFleet()
	f.AddMachine(attempt.WorkerInfo{Name: "w1", Cores: slices.Repeat([]int{cores.Any}, 40)})
	given, ends := make(chan struct{}, 100), make(chan struct{})
	f.Player = func(ctx context.Context, _ string, j attempt.Job) attempt.Result {
		given <- struct{}{}
		select {
		case <-ends:
		case <-ctx.Done():
		}
		return attempttest.PlayAtRandom(j)
	}
	r := w.startRunner(0, func(o *runnerParts) { o.Fleet = f })
	for range firstMatches {
		<-given
	}
	playing := firstMatches
	for playing < 40 { // each that ends is followed by two
		if len(given) > 0 {
			t.Fatalf("it has more than %d matches", playing)
		}
		ends <- struct{}{}
		<-given
		<-given
		playing++
	}
	ends <- struct{}{}
	<-given
	if len(given) > 0 {
		t.Error("it has more matches than cores")
	}
	close(ends)
	r.stop()
}

// Failures that a worker reports only affect that worker: it gets fewer and fewer jobs, and the matches of
// the bot that it blames are played elsewhere.
func TestToldFailures(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{attempt.FailedVersion, attempt.FailedHouse, attempt.FailedReferee, attempt.FailedMachine, attempt.FailedCancelled, "other"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tiny)
			v := w.bot("victim", script(""))
			w.playAtRandom()
			f := w.newFleet()
			f.AddMachine(attempt.WorkerInfo{Name: "w1", Cores: slices.Repeat([]int{cores.Any}, 40)})
			var told atomic.Int32
			f.Player = func(_ context.Context, _ string, j attempt.Job) attempt.Result {
				told.Add(1)
				return attempt.Result{Match: j.Match, Attempt: j.Attempt, Failure: &attempt.Failure{Kind: kind, Version: j.Bots[0].Version, Text: phrase.Plain("it is broken")}}
			}
			var hours atomic.Int32 // nothing rests for so long
			r := w.startRunner(1, func(o *runnerParts) {
				o.Fleet = f
				o.Now = func() time.Time { return time.Unix(0, 0).Add(time.Duration(hours.Load()) * time.Hour) }
			})
			played := 0
			r.awaitEvent("the bot plays, and the worker is tried again", func(e events.Event) bool {
				if e.Kind == events.MatchFinished && slices.ContainsFunc(e.Changes, func(c ladder.Change) bool { return c.VersionID == v.ID }) {
					if played++; played%10 == 0 {
						hours.Add(1)
					}
				}
				return played >= 20 && told.Load() >= firstMatches+4
			})
			r.stop()
			if most := firstMatches + hours.Load(); told.Load() > most { // some at first, and one after each rest
				t.Errorf("after %d rests it was given %d matches, want at most %d", hours.Load(), told.Load(), most)
			}
			for _, m := range w.matches() {
				if m.State == ladder.Dropped {
					t.Errorf("match %d is dropped: %s", m.ID, m.Reason)
				}
			}
			if b := r.backoffs[versionName(v.ID)]; b != nil {
				t.Errorf("the bot is left alone: %+v", b)
			}
			w.checkStore()
		})
	}
}

// A worker that takes longer for matches than they can last loses them, and is suspended.
func TestHeldForEver(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, strings.NewReplacer(`size = "4"`, `size = "4", limit = "10"`, "600000", "1000").Replace(tiny))
		f := laddertest.NewFleet()
		f.AddMachine(attempt.WorkerInfo{Name: "w1", Cores: slices.Repeat([]int{cores.Any}, 40)})
		f.Player = func(ctx context.Context, _ string, j attempt.Job) attempt.Result {
			<-ctx.Done()
			return attempt.Result{Match: j.Match, Attempt: j.Attempt, Failure: &attempt.Failure{Kind: attempt.FailedCancelled}}
		}
		w.here = func(_ context.Context, _ *play, j attempt.Job) attempt.Result {
			time.Sleep(20 * time.Second)
			return attempttest.PlayAtRandom(j)
		}
		began := time.Now()
		r := w.startRunner(1, func(o *runnerParts) { o.Fleet = f })
		held := map[int64]bool{}
		broken := 0
		all := func(e events.Event) bool {
			switch e.Kind {
			case events.MatchBroken:
				broken, held[e.Match] = broken+1, true
			case events.MatchFinished:
				delete(held, e.Match)
			}
			return broken == firstMatches
		}
		r.awaitEvent("all that it holds is broken off", all)
		if took := time.Since(began); took > 15*time.Minute {
			t.Errorf("it held them for %s", took)
		}
		r.awaitEvent("all are played elsewhere", func(e events.Event) bool { return all(e) && len(held) == 0 })
		if broken != firstMatches {
			t.Errorf("it held %d matches, want the first %d", broken, firstMatches)
		}
		m := machineNamed(t, r.Machines(nil), "w1")
		if m.State != ladder.MachineSuspended || !strings.Contains(m.Reason.String(), "for longer than a match can take") || len(m.Playing) > 0 {
			t.Errorf("the machine is %+v", m)
		}
		r.stop()
		w.checkStore()
	})
}

// The time limit of a worker ends with its result. While the result cannot be stored the worker is not
// blamed, and the result is not lost.
func TestFullDiskBlamesNoMachine(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, tiny)
		f := laddertest.NewFleet()
		f.AddMachine(attempt.WorkerInfo{Name: "w1", Cores: []int{cores.Any}})
		f.Player = func(_ context.Context, _ string, j attempt.Job) attempt.Result { return attempttest.PlayAtRandom(j) }
		disk := &fullDisk{failures: math.MaxInt, err: ladder.Errorf(ladder.Unavailable, "make room", "the disk is full")}
		r := w.startRunner(0, func(o *runnerParts) { o.Fleet, disk.Matches, o.Store.Matches = f, o.Store.Matches, disk })
		r.awaitEvent("it is paused", func(e events.Event) bool { return e.Kind == events.Paused })
		time.Sleep(60 * 24 * time.Hour) // longer than any match can take
		disk.mu.Lock()
		disk.failures = 0
		disk.mu.Unlock()
		e := r.awaitEvent("the match has ended", func(e events.Event) bool {
			return e.Kind == events.MatchFinished || e.Kind == events.MatchBroken
		})
		if e.Kind != events.MatchFinished {
			t.Errorf("it was broken off: %s", e.Text)
		}
		if m := machineNamed(t, r.Machines(nil), "w1"); m.State == ladder.MachineSuspended {
			t.Errorf("the machine is suspended: %s", m.Reason)
		}
		r.stop()
		if m := w.matches()[0]; len(m.Attempts) != 1 {
			t.Errorf("it has %d attempts", len(m.Attempts))
		}
	})
}

// One worker cannot get a match dropped: only the first failure that it reports for the match counts.
func TestOneWordCountsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	f := w.newFleet()
	f.AddMachine(attempt.WorkerInfo{Name: "w1", Cores: []int{cores.Any}})
	f.Player = func(_ context.Context, machine string, j attempt.Job) attempt.Result {
		if machine != "w1" {
			return attempttest.PlayAtRandom(j)
		}
		return attempt.Result{Match: j.Match, Attempt: j.Attempt, Failure: &attempt.Failure{Kind: attempt.FailedReferee, Text: phrase.Plain("panic")}}
	}
	var hours atomic.Int32
	r := w.startRunner(0, func(o *runnerParts) {
		o.Fleet = f
		o.Now = func() time.Time { return time.Unix(0, 0).Add(time.Duration(hours.Load()) * time.Hour) }
	})
	first := int64(0)
	for range 2 * maxFailures {
		e := r.awaitEvent("it is broken off", func(e events.Event) bool { return e.Kind == events.MatchBroken })
		if first == 0 {
			first = e.Match
		}
		if e.Match != first {
			t.Fatalf("match %d is broken off, not match %d", e.Match, first)
		}
		kit.Until(t, "it is paused", func() bool { return machineNamed(t, r.Machines(nil), "w1").State == ladder.MachinePaused })
		hours.Add(1)
		r.Wake()
	}
	f.AddMachine(attempt.WorkerInfo{Name: "w2", Cores: []int{cores.Any}})
	r.awaitEvent("another plays it", func(e events.Event) bool { return e.Kind == events.MatchFinished && e.Match == first })
	r.stop()
}
