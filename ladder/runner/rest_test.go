package runner

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/laddertest"
)

// A core on which others made games void rests, for longer each time, up to a minute; it is named in
// the log and counted. A match that goes well ends that.
func TestCoreRests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	now := time.Unix(1000, 0)
	registry := prometheus.NewRegistry()
	r := w.idle(2, func(o *Options) {
		o.Now, o.Fleet, o.Registerer = func() time.Time { return now }, laddertest.NewFleet(4, 7), registry
	})
	m := r.local
	end := func(voids int) {
		j := &job{match: &ladder.Match{ID: 12}, machine: m, core: m.take(7, false)}
		r.release(outcome{job: j, starved: voids, fine: []string{matchName(12)}})
		r.endRests()
	}
	for _, rest := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		end(2)
		if slices.Contains(m.free, 7) || !slices.Contains(m.free, 4) {
			t.Fatalf("free are %v, want core 4 alone", m.free)
		}
		if n := metric(t, registry, "timba_cores_resting"); n != 1 {
			t.Errorf("%v cores rest, want 1", n)
		}
		if next := r.backoffs.next(now); next != now.Add(rest*time.Second) {
			t.Errorf("the core rests for %v, want %d s", next.Sub(now), rest)
		}
		now = now.Add(rest*time.Second - 1)
		if r.endRests(); slices.Contains(m.free, 7) {
			t.Errorf("it is free before %d s are over", rest)
		}
		now = now.Add(1)
		if r.endRests(); !slices.Contains(m.free, 7) || metric(t, registry, "timba_cores_resting") != 0 {
			t.Errorf("it is not free after %d s: %v", rest, m.free)
		}
	}
	if log := w.logged(); !strings.Contains(log, `core="core 7" match=12 void=2`) {
		t.Errorf("the log does not name the core:\n%s", log)
	}
	end(0)
	end(1)
	if next := r.backoffs.next(now); next != now.Add(time.Second) {
		t.Errorf("after a match without void games the core rests for %v, want 1 s", next.Sub(now))
	}
}
