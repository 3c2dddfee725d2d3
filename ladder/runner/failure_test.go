package runner

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
)

// A version that fails repeatedly is suspended and its owner is told why. The other versions continue to play.
func TestSuspend(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		script  string
		matches int
		says    []string
	}{
		{"does not start", "echo 'dead: no such module' >&2; exit 1", suspendUnstarted,
			[]string{"it did not start in its last 2 matches", "startup: ", "dead: no such module", "submit a new version"}},
		{"fails in each game", script("test $verb = turn && echo 'oh no' >&2 && exit 3"), suspendInARow,
			[]string{"too many faults to finish each of its last 3 matches", "exit: ", "status 3", "oh no"}},
		{"moves illegally", script("test $verb = turn && move=nonsense"), suspendInARow,
			[]string{"too many faults", "illegal: ", "nonsense", "what to change:\n- answer with one of the words", "nothing on stderr"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tiny)
			v := w.bot("bad", test.script)
			r := w.startRunner(1, nil)
			r.awaitEvent("it is suspended", func(e events.Event) bool { return e.Kind == events.VersionChanged && e.Version == v.ID })
			r.awaitMatches(2)
			r.stop()
			v = kit.Get[ladder.Version](t)(w.Store.Versions.Find(t.Context(), v.ID))
			if v.State != ladder.Suspended {
				t.Errorf("it is %s", v.State)
			}
			played := 0
			for _, m := range w.matches() {
				for _, id := range m.Versions {
					if id == v.ID && m.State == ladder.Finished {
						played++
					}
				}
			}
			if played != test.matches {
				t.Errorf("it was suspended after %d matches, want %d", played, test.matches)
			}
			messages := kit.Get[[]ladder.Message](t)(w.Store.People.Messages(t.Context(), w.person.ID, 0, 10))
			if len(messages) != 1 {
				t.Fatalf("its owner has %d messages", len(messages))
			}
			for _, text := range append(test.says, "version 1 of bad is suspended", "match ", "(tebes)") {
				if !strings.Contains(messages[0].Text().String(), text) {
					t.Errorf("the message says nothing of %q:\n%s", text, messages[0].Text())
				}
			}
		})
	}
}

// A server that cannot start programs pauses. It suspends no version.
func TestServerSuspendsNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	v := w.bot("bad", "exit 1")
	var sick atomic.Bool
	sick.Store(true)
	r := w.startRunner(1, func(o *runnerParts) {
		o.host.check = func(context.Context) error {
			if sick.Load() {
				return errors.New("sandbox: no more of them")
			}
			return nil
		}
	})
	r.awaitEvent("it is paused", func(e events.Event) bool { return e.Kind == events.Paused })
	if err := r.Health(); ladder.CodeOf(err) != ladder.Unavailable || !strings.Contains(w.logText(), "sandbox: no more of them") {
		t.Errorf("the health is %v, the log\n%s", err, w.logText())
	}
	now := kit.Get[ladder.Version](t)(w.Store.Versions.Find(t.Context(), v.ID))
	if now.State != ladder.Live {
		t.Errorf("the version is %s", now.State)
	}
	sick.Store(false)
	r.awaitEvent("it goes on", func(e events.Event) bool { return e.Kind == events.Resumed })
	r.awaitMatches(1)
	if err := r.Health(); err != nil {
		t.Errorf("the health is %v", err)
	}
	r.stop()
}

// fullDisk is a store whose disk is full for a while.
type fullDisk struct {
	Matches
	mu       sync.Mutex
	failures int // remaining failures of Finish
	err      error
}

func (f *fullDisk) fail() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failures > 0 {
		f.failures--
		return f.err
	}
	return nil
}

func (f *fullDisk) Finish(ctx context.Context, match int64, attempt int, games []*referee.GameResult) ([]ladder.Change, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	return f.Matches.Finish(ctx, match, attempt, games)
}

// While a finished match cannot be stored no other match starts. As soon as there is space it is stored,
// without being played again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	disk := &fullDisk{failures: 2, err: ladder.Errorf(ladder.Unavailable, "make room", "the disk is full")}
	r := w.startRunner(1, func(o *runnerParts) { disk.Matches, o.Store.Matches = o.Store.Matches, disk })
	r.awaitEvent("it is paused", func(e events.Event) bool {
		return e.Kind == events.Paused && strings.Contains(e.Text, "the disk is full")
	})
	if n := len(w.matches()); n != 1 {
		t.Errorf("%d matches were begun, want only the one that is to be kept", n)
	}
	r.awaitMatches(2)
	r.stop()
	for _, m := range w.matches() {
		if m.State != ladder.Finished || len(m.Attempts) != 1 {
			t.Errorf("match %d is %s after %d attempts", m.ID, m.State, len(m.Attempts))
		}
	}
}

// A match that cannot be stored for another reason is interrupted, and dropped after the third time. Other
// matches go on.
func TestDrop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	sick := &fullDisk{failures: 3, err: errors.New("there are 3 games, not 2")}
	r := w.startRunner(1, func(o *runnerParts) { sick.Matches, o.Store.Matches = o.Store.Matches, sick })
	for range 3 {
		r.awaitEvent("it is broken off", func(e events.Event) bool { return e.Kind == events.MatchBroken })
	}
	r.awaitMatches(1)
	r.stop()
	m := w.matches()[0]
	if m.State != ladder.Dropped || len(m.Attempts) != 3 {
		t.Errorf("match %d is %s after %d attempts, want it dropped after 3", m.ID, m.State, len(m.Attempts))
	}
	if m.Reason.String() != "the referee failed" || strings.Count(w.logText(), "match dropped") != 1 {
		t.Errorf("the reason is %q, the log\n%s", m.Reason, w.logText())
	}
}

// A version that cannot be resolved gets a backoff. It is not suspended, and other versions play.
func TestMissingProgram(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	v := w.bot("gone", script(""))
	w.mu.Lock()
	w.broken["gone"] = "its directory is gone"
	w.mu.Unlock()
	var hours atomic.Int32 // nothing is left alone for so long
	r := w.startRunner(1, func(o *runnerParts) {
		o.Now = func() time.Time { return time.Unix(0, 0).Add(time.Duration(hours.Load()) * time.Hour) }
	})
	e := r.awaitEvent("a match of it is broken off", func(e events.Event) bool { return e.Kind == events.MatchBroken })
	if !strings.Contains(e.Text, "its directory is gone") {
		t.Errorf("the match was broken off for %q", e.Text)
	}
	r.awaitMatches(2)
	w.mu.Lock()
	w.broken["gone"] = ""
	w.mu.Unlock()
	hours.Add(1)
	r.awaitEvent("the match is played after all", func(f events.Event) bool { return f.Kind == events.MatchFinished && f.Match == e.Match })
	r.stop()
	now := kit.Get[ladder.Version](t)(w.Store.Versions.Find(t.Context(), v.ID))
	if now.State != ladder.Live {
		t.Errorf("the version is %s", now.State)
	}
}

// A match in which a house bot has a fault has no result, because the server is to blame.
func TestHouseFault(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	r := w.startRunner(1, func(o *runnerParts) {
		resolve := o.programs.Start
		o.programs.Start = func(ctx context.Context, v ladder.Version) (b match.Contestant, err error) {
			b, err = resolve(ctx, v)
			if v.Bot == "@greedy" {
				b.Command = []string{"false"}
			}
			return b, err
		}
	})
	e := r.awaitEvent("a match is broken off", func(e events.Event) bool { return e.Kind == events.MatchBroken })
	if !strings.Contains(e.Text, "a house bot failed: @greedy") {
		t.Errorf("the match was broken off for %q", e.Text)
	}
	r.stop()
	standings := kit.Get[[]ladder.Standing](t)(w.Store.Ladders.Standings(t.Context(), "tebes"))
	for _, s := range standings {
		if s.Bot == "@greedy" && s.Matches > 0 {
			t.Errorf("it has %d matches", s.Matches)
		}
	}
}

// Attempts that fail because the machine cannot play do not count: the match is never dropped for them.
func TestSickServerDropsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	const spoilt = maxFailures
	var asked, resolved atomic.Int32
	r := w.startRunner(1, func(o *runnerParts) {
		o.host.check = func(context.Context) error {
			// Called after each failed attempt, and before the next one starts.
			if n := asked.Add(1); n < 2*spoilt && n%2 == 1 {
				return errors.New("sandbox: no more of them")
			}
			return nil
		}
		resolve := o.programs.Start
		o.programs.Start = func(ctx context.Context, v ladder.Version) (b match.Contestant, err error) {
			if b, err = resolve(ctx, v); resolved.Add(1) <= 2*spoilt {
				b.Command = []string{"/dev/null/nothing"}
			}
			return b, err
		}
	})
	r.awaitMatches(1)
	r.stop()
	all := w.matches()
	if n := len(all[0].Attempts); n <= maxFailures {
		t.Errorf("the first match has %d attempts, want more than are counted", n)
	}
	for _, m := range all {
		if m.State != ladder.Finished {
			t.Errorf("match %d is %s: %s", m.ID, m.State, m.Reason)
		}
	}
}

// maxFailures is the number of failed attempts after which the store drops a match.
const maxFailures = 3

// When nothing can be played, nothing is tried again and again: every failure gets a backoff.
func TestNothingHammers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	now := time.Now()
	r := w.newRunner(1, func(o *runnerParts) {
		o.Now = func() time.Time { return now }
		o.programs.Start = func(context.Context, ladder.Version) (b match.Contestant, err error) {
			return match.Contestant{Command: []string{"/dev/null/nothing"}}, nil
		}
	})
	attempts := 0
	for range 4 { // three seconds
		for {
			r.fillCores(t.Context(), t.Context())
			if len(r.placement.allAssignments()) == 0 {
				break
			}
			for attempts += len(r.placement.allAssignments()); len(r.placement.allAssignments()) > 0; {
				r.finishJob(t.Context(), <-r.outcomes)
			}
			if attempts > 1000 {
				t.Fatal("it never stops to begin matches")
			}
		}
		now = now.Add(time.Second)
	}
	// Three house bots fail at once, after one second and after three seconds.
	if attempts == 0 || attempts > 12 {
		t.Errorf("in three seconds matches were begun %d times", attempts)
	}
}
