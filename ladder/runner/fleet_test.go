package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/laddertest"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
)

// newFleet returns a fleet of other machines with the given names and two cores each.
func (w *world) newFleet(others ...string) *laddertest.Fleet {
	f := laddertest.NewFleet()
	for _, name := range others {
		f.AddMachine(attempt.WorkerInfo{Name: name, Cores: []int{cores.Any, cores.Any}})
	}
	f.Player = func(ctx context.Context, _ string, j attempt.Job) attempt.Result { return w.playScripts(ctx, j) }
	return f
}

// checkStore fails if the store is inconsistent: each result must be stored once, and the ratings must follow
// from them.
func (w *world) checkStore() {
	w.t.Helper()
	found := kit.Get[[]store.Difference](w.t)(w.Store.Verify(context.Background(), nil))
	for _, d := range found {
		if strings.HasPrefix(d.String(), "upload ") { // the bots of these tests have no uploads
			continue
		}
		w.t.Errorf("verify: %s", d)
	}
}

// Matches are played on all machines, including one that connects later. Machines that drain or are refused
// get none.
func TestMachines(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	f := w.newFleet("w1")
	f.AddMachine(attempt.WorkerInfo{Name: "old", Cores: []int{0}, Refusal: phrase.Plain("protocol 0")})
	f.AddMachine(attempt.WorkerInfo{Name: "leaves", Cores: []int{0}, Draining: true})
	r := w.startRunner(1, func(o *runnerParts) { o.Fleet = f })
	r.awaitMatches(6)
	f.AddMachine(attempt.WorkerInfo{Name: "w2", Cores: []int{0, 1}})
	r.awaitEvent("the new one plays", func(e events.Event) bool {
		if e.Kind != events.MatchFinished {
			return false
		}
		m := kit.Get[ladder.Match](t)(w.Store.Matches.Find(t.Context(), e.Match))
		return m.Attempts[0].Machine == "w2"
	})
	if n := metricSum(t, r.Registerer.(*prometheus.Registry), "timba_workers"); n != 5 {
		t.Errorf("%v cores play, want 5", n)
	}
	r.stop()
	on := map[string]int{}
	for _, m := range w.matches() {
		for _, a := range m.Attempts {
			on[a.Machine]++
		}
	}
	if on["local"] == 0 || on["w1"] == 0 || on["w2"] == 0 || len(on) != 3 {
		t.Errorf("matches were played on %v", on)
	}
	w.checkStore()
}

// The match of a lost machine is played again elsewhere, and no bot is blamed.
func TestLostMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	f := w.newFleet("w1")
	stuck := make(chan attempt.Job, 100)
	f.Player = func(ctx context.Context, machine string, j attempt.Job) attempt.Result {
		if machine == "w1" {
			stuck <- j
			<-ctx.Done()
		}
		return w.playScripts(context.WithoutCancel(ctx), j)
	}
	r := w.startRunner(1, func(o *runnerParts) { o.Fleet = f })
	lost := <-stuck
	f.LoseMachine("w1")
	e := r.awaitEvent("it is broken off", func(e events.Event) bool { return e.Kind == events.MatchBroken })
	if e.Text != `machine "w1" was lost` {
		t.Errorf("it was broken off for %q", e.Text)
	}
	r.awaitEvent("it is played elsewhere", func(e events.Event) bool { return e.Kind == events.MatchFinished && e.Match == lost.Match })
	r.awaitMatches(2)
	r.stop()
	m := kit.Get[ladder.Match](t)(w.Store.Matches.Find(t.Context(), lost.Match))
	if m.State != ladder.Finished || len(m.Attempts) != 2 || m.Attempts[1].Machine != "local" {
		t.Errorf("the match is %+v", m)
	}
	w.checkStore()
}

// A match whose machine is lost is played again. After the third loss it is dropped, because it may crash its
// worker.
func TestMatchThatEndsItsWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	f := w.newFleet()
	comes := func() { f.AddMachine(attempt.WorkerInfo{Name: "w1", Cores: []int{cores.Any}}) }
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	f.Player = func(context.Context, string, attempt.Job) (r attempt.Result) {
		f.LoseMachine("w1")
		comes()
		<-over
		return r
	}
	comes()
	r := w.startRunner(0, func(o *runnerParts) { o.Fleet = f })
	first := r.awaitEvent("it is broken off", func(e events.Event) bool { return e.Kind == events.MatchBroken })
	dropped := func(events.Event) bool {
		m := kit.Get[ladder.Match](t)(w.Store.Matches.Find(t.Context(), first.Match))
		return m.State == ladder.Dropped
	}
	r.awaitEvent("it is dropped", dropped)
	r.stop()
	m := kit.Get[ladder.Match](t)(w.Store.Matches.Find(t.Context(), first.Match))
	if len(m.Attempts) != 3 || m.Reason.String() != `machine "w1" was lost` {
		t.Errorf("it is dropped after %d attempts: %s", len(m.Attempts), m.Reason)
	}
}

// When a server stops, other machines continue their matches, and the next server accepts the results. No
// match is played twice.
func TestNextServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	f := w.newFleet("w1")
	begun, end := make(chan attempt.Job, 100), make(chan struct{})
	f.Player = func(ctx context.Context, machine string, j attempt.Job) attempt.Result {
		if machine == "w1" {
			begun <- j
			<-end
		}
		return w.playScripts(ctx, j)
	}
	first := w.startRunner(1, func(o *runnerParts) { o.Fleet = f })
	handed := []attempt.Job{<-begun, <-begun}
	first.stop()
	for _, j := range handed {
		m := kit.Get[ladder.Match](t)(w.Store.Matches.Find(t.Context(), j.Match))
		if m.State != ladder.Running || m.Attempts[0].Seed != nil {
			t.Fatalf("after the stop it is %s, its attempt %+v", m.State, m.Attempts[0])
		}
	}
	// The next server gives the machine no jobs while its cores are in use.
	second := w.startRunner(1, func(o *runnerParts) { o.Fleet = f })
	second.awaitMatches(2)
	if len(begun) != 0 {
		t.Errorf("a machine whose cores are in use got %d matches", len(begun))
	}
	close(end)
	left := map[int64]bool{handed[0].Match: true, handed[1].Match: true}
	second.awaitEvent("both are finished", func(e events.Event) bool {
		if e.Kind == events.MatchFinished {
			delete(left, e.Match)
		}
		return len(left) == 0
	})
	second.stop()
	for _, j := range handed {
		m := kit.Get[ladder.Match](t)(w.Store.Matches.Find(t.Context(), j.Match))
		if m.State != ladder.Finished || len(m.Attempts) != 1 {
			t.Errorf("it is %s after %d attempts", m.State, len(m.Attempts))
		}
	}
	w.checkStore()
}

// An attempt of an earlier server is finished if its result is waiting, and interrupted if the result is a
// failure or the earlier server played it itself.
func TestAdopted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	f := w.newFleet()
	var ids []int64
	for _, s := range []string{"@random", "@first"} {
		b := kit.Get[ladder.Bot](t)(w.Store.Bots.Find(t.Context(), s))
		v := kit.Get[[]ladder.Version](t)(w.Store.Versions.List(t.Context(), b.ID, 0, -1))
		ids = append(ids, v[0].ID)
	}
	begin := func(machine string) attempt.Result {
		seed := referee.NewSeed()
		b := w.Store.Matches.Start(t.Context(), []store.MatchStart{{New: &store.NewMatch{Ladder: "tebes", Versions: ids}, Machine: machine, Seed: seed}})[0]
		w.Must(b.Err)
		var versions []ladder.Version
		for _, id := range ids {
			v := kit.Get[ladder.Version](t)(w.Store.Versions.Find(t.Context(), id))
			versions = append(versions, v)
		}
		result := w.playScripts(t.Context(), attempt.NewJob(&b.Match, versions, 1, referee.Hex(seed)))
		result.Machine = machine
		return result
	}
	good, bad, own := begin("w9"), begin("w9"), begin(attempt.Local)
	bad.Games, bad.Failure = nil, &attempt.Failure{Kind: attempt.FailedReferee, Text: phrase.Plain("panic")}
	f.StoreResult(good)
	f.StoreResult(bad)
	r := w.startRunner(0, func(o *runnerParts) { o.Fleet = f })
	left := map[int64]bool{good.Match: true, bad.Match: true, own.Match: true}
	r.awaitEvent("all have ended", func(e events.Event) bool {
		switch {
		case e.Match == good.Match && e.Kind == events.MatchFinished, e.Match != good.Match && e.Kind == events.MatchBroken:
			delete(left, e.Match)
		}
		return len(left) == 0
	})
	r.stop()
	if m := kit.Get[ladder.Match](t)(w.Store.Matches.Find(t.Context(), own.Match)); !m.Attempts[0].Reason.Equal(serverStopped) {
		t.Errorf("the attempt of the server itself ended because %s", m.Attempts[0].Reason)
	}
	w.checkStore()
}

// A machine with little memory gets only matches that fit. Other matches are not dropped because of it, but
// played elsewhere.
func TestSmallMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	f := w.newFleet("w1")
	f.AddMachine(attempt.WorkerInfo{Name: "small", Cores: []int{cores.Any, cores.Any}, Memory: 2*ladder.HouseMemory - 1})
	f.AddMachine(attempt.WorkerInfo{Name: "tight", Cores: []int{cores.Any}, Memory: 2 * ladder.HouseMemory})
	stuck := make(chan attempt.Job, 100)
	f.Player = func(ctx context.Context, machine string, j attempt.Job) attempt.Result {
		if machine == "w1" {
			stuck <- j
			<-ctx.Done()
		}
		return w.playScripts(context.WithoutCancel(ctx), j)
	}
	r := w.startRunner(1, func(o *runnerParts) { o.Fleet = f })
	lost := <-stuck
	f.LoseMachine("w1")
	r.awaitEvent("the interrupted match is played elsewhere", func(e events.Event) bool { return e.Kind == events.MatchFinished && e.Match == lost.Match })
	r.awaitMatches(10)
	r.stop()
	on := map[string]int{}
	for _, m := range w.matches() {
		if m.State == ladder.Dropped {
			t.Errorf("match %d is dropped: %s", m.ID, m.Reason)
		}
		for _, a := range m.Attempts {
			on[a.Machine]++
		}
	}
	if on["small"] > 0 || on["tight"] == 0 {
		t.Errorf("matches were played on %v", on)
	}
}

// A version is played on a machine that meets its needs. If no machine does, the owner and the operator are
// told once, other versions play, and the version is played as soon as a machine with its needs connects.
func TestUnplayable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	v := w.bot("needy", script(""))
	w.Must(w.Store.Versions.SetNeeds(t.Context(), v.Hash, ladder.Needs{Interpreters: []string{"swipl"}}))
	f := w.newFleet("w1")
	var mu sync.Mutex
	now := time.Now()
	r := w.startRunner(1, func(o *runnerParts) {
		o.Fleet = f
		o.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(time.Second) // shortens reportDelay for the test
			return now
		}
	})
	told := func() string {
		v := kit.Get[ladder.Version](t)(w.Store.Versions.Find(t.Context(), v.ID))
		if (!v.Unplayable.IsZero()) != strings.HasPrefix(v.Reason.String(), "it is not played: ") {
			t.Errorf("the reason is %q", v.Reason)
		}
		return v.Unplayable.String()
	}
	for told() == "" {
		r.awaitMatches(1)
	}
	if text := told(); text != "swipl (local does not have it); swipl (w1 does not have it)" {
		t.Errorf("it lacks %q", text)
	}
	f.AddMachine(attempt.WorkerInfo{Name: "w2", Cores: []int{cores.Any}, Interpreters: map[string]string{"swipl": "9.0"}})
	r.awaitEvent("it is played", func(e events.Event) bool {
		if e.Kind != events.MatchFinished {
			return false
		}
		m := kit.Get[ladder.Match](t)(w.Store.Matches.Find(t.Context(), e.Match))
		return slices.Contains(m.Versions, v.ID) && m.Attempts[0].Machine == "w2"
	})
	for told() != "" {
		r.awaitMatches(1)
	}
	r.stop()
	for _, m := range w.matches() {
		if slices.Contains(m.Versions, v.ID) && m.Attempts[0].Machine != "w2" {
			t.Errorf("match %d of it was played on %s", m.ID, m.Attempts[0].Machine)
		}
	}
	messages := kit.Get[[]ladder.Message](t)(w.Store.People.Messages(t.Context(), w.person.ID, 0, 10))
	if len(messages) != 2 || !strings.Contains(messages[1].Text().String()+messages[0].Text().String(), "no machine has what it needs: swipl") {
		t.Errorf("its owner is told %+v", messages)
	}
	if n := strings.Count(w.logText(), "no machine can play a version"); n != 1 {
		t.Errorf("the log names it %d times", n)
	}
}

// A version without a build is first played by the server's own machine, which builds it. The new build may
// have other needs. Nobody is told that the version cannot be played.
func TestBuiltAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	v := w.bot("restored", script(""))
	w.Must(w.Store.Versions.SetNeeds(t.Context(), v.Hash, ladder.Needs{Arch: "s390x"}))
	f := w.newFleet("w1")
	var here atomic.Bool // the build exists
	ofIt := func(j attempt.Job) bool {
		return slices.ContainsFunc(j.Bots, func(b attempt.Entrant) bool { return b.Version == v.ID })
	}
	f.Player = func(ctx context.Context, machine string, j attempt.Job) attempt.Result {
		if ofIt(j) && !here.Load() {
			t.Errorf("%s plays it before it is built", machine)
		}
		return w.playScripts(ctx, j)
	}
	w.here = func(ctx context.Context, _ *play, j attempt.Job) attempt.Result {
		if ofIt(j) && !here.Load() {
			w.Must(w.Store.Versions.SetNeeds(ctx, v.Hash, ladder.Needs{}))
			here.Store(true)
		}
		return w.playScripts(ctx, j)
	}
	r := w.startRunner(1, func(o *runnerParts) {
		o.Fleet = f
		o.programs.HasBuild = func(x ladder.Version) bool { return x.ID != v.ID || here.Load() }
	})
	r.awaitEvent("another machine plays it", func(e events.Event) bool {
		if e.Kind != events.MatchFinished {
			return false
		}
		m := kit.Get[ladder.Match](t)(w.Store.Matches.Find(t.Context(), e.Match))
		return slices.Contains(m.Versions, v.ID) && m.Attempts[0].Machine == "w1"
	})
	r.stop()
	if text := w.logText(); strings.Contains(text, "no machine can play a version") {
		t.Errorf("it is told that nobody can play it:\n%s", text)
	}
}

// Many free cores get their matches in one transaction. Each version is chosen as seldom as if the matches
// started one by one, and no match starts twice.
func TestBeginTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "[limits]\nbots = 100\n"+tiny)
	for i := range 20 {
		w.bot(fmt.Sprintf("bot%d", i), script(""))
	}
	f := w.newFleet("w1", "w2", "w3", "w4", "w5")
	var mu sync.Mutex
	plays := map[int64]int{}
	jobs := make(chan attempt.Job, 10)
	f.Player = func(ctx context.Context, _ string, j attempt.Job) attempt.Result {
		mu.Lock()
		for _, b := range j.Bots {
			plays[b.Version]++
		}
		mu.Unlock()
		jobs <- j
		<-ctx.Done()
		return attempt.Result{Match: j.Match, Attempt: j.Attempt, Failure: &attempt.Failure{Kind: attempt.FailedCancelled, Text: phrase.Plain("ended")}}
	}
	r := w.startRunner(0, func(o *runnerParts) { o.Fleet = f })
	seen := map[int64]bool{}
	for range 10 {
		j := <-jobs
		if seen[j.Match] {
			t.Errorf("match %d was handed out twice", j.Match)
		}
		seen[j.Match] = true
	}
	mu.Lock()
	for v, n := range plays {
		if bot, err := w.Store.Versions.Find(t.Context(), v); err != nil || !bot.IsHouse() && n > 1 { // house bots are known, and everybody's first opponents
			t.Errorf("version %d plays %d matches at once while others play none", v, n)
		}
	}
	mu.Unlock()
	for i := range 5 {
		f.LoseMachine(fmt.Sprintf("w%d", i+1))
	}
	r.stop()
}

// A version whose files cannot be sent gets a backoff that grows. No machine is blamed.
func TestNotHandedOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	v := w.bot("gone", script(""))
	f := w.newFleet("w1")
	f.Refuses = func(j attempt.Job) error {
		for _, b := range j.Bots {
			if b.Name == "gone" {
				return &attempt.Failure{Kind: attempt.FailedVersion, Version: b.Version, Text: phrase.Plain("its upload is gone")}
			}
		}
		return nil
	}
	r := w.startRunner(1, func(o *runnerParts) { o.Fleet = f })
	r.awaitEvent("a match of it is dropped", func(e events.Event) bool {
		if e.Kind != events.MatchBroken {
			return false
		}
		if e.Text != "its upload is gone" {
			t.Errorf("it was broken off for %q", e.Text)
		}
		m := kit.Get[ladder.Match](t)(w.Store.Matches.Find(t.Context(), e.Match))
		return m.State == ladder.Dropped && slices.Contains(m.Versions, v.ID)
	})
	r.stop()
}

// While no job can be sent the server pauses and blames no machine. It resumes when jobs can be sent.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	var away atomic.Bool
	unavailable := func() error {
		if away.Load() {
			return fmt.Errorf("handing out: %w", attempt.ErrUnavailable)
		}
		return nil
	}
	f := w.newFleet("w1")
	f.Refuses = func(attempt.Job) error { return unavailable() }
	r := w.startRunner(1, func(o *runnerParts) {
		o.Fleet = f
		o.host.check = func(context.Context) error { return unavailable() }
	})
	r.awaitMatches(2)
	away.Store(true)
	r.awaitEvent("it is paused", func(e events.Event) bool { return e.Kind == events.Paused })
	away.Store(false)
	r.awaitEvent("it goes on", func(e events.Event) bool { return e.Kind == events.Resumed })
	r.awaitMatches(2)
	r.stop()
	for _, m := range w.matches() {
		for _, a := range m.Attempts {
			if strings.Contains(a.Reason.String(), "lost") {
				t.Errorf("match %d says of its attempt on %s: %s", m.ID, a.Machine, a.Reason)
			}
		}
	}
	if text := w.logText(); strings.Contains(text, "match dropped") {
		t.Errorf("a match was dropped:\n%s", text)
	}
	w.checkStore()
}
