package submission

import (
	"testing"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
)

// Those that wait for a version are told each of its changes, including the last one.
func TestEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.add("one", fileTree(t, map[string]string{"timba.toml": "build = [\"false\"]\nrun = [\"./bot\"]"}))
	mine := func(e events.Event) bool {
		return e.Version == v.ID && (e.Kind == events.SubmissionChanged || e.Kind == events.VersionChanged)
	}
	told, stop := w.Store.Events().Subscribe(100, mine)
	next, _ := w.Store.Events().Subscribe(1, mine)
	failed := make(chan bool)
	go func() {
		for range next {
			if now, err := w.Store.Versions.Find(t.Context(), v.ID); err != nil || now.State == ladder.Failed {
				failed <- err == nil
				return
			}
		}
	}()
	if v, stages := w.runStages(v); v.State != ladder.Failed || len(stages) != 2 {
		t.Fatalf("it is %+v\n%s", v, joinLogs(stages))
	}
	if !<-failed {
		t.Error("the version cannot be read")
	}
	stop()
	n := 0
	for range told {
		n++
	}
	// queued; unpack begins and ends; building, build begins and ends; failed
	if n != 7 {
		t.Errorf("there were %d events, want 7", n)
	}
}
