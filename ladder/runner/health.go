package runner

import (
	"context"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
)

// Health is what /healthz tells of the runner.
type Health struct {
	OK      bool
	Reason  string    // why nothing is played, "" when all is well
	Since   time.Time // the first failure of those that are not over
	Until   time.Time // when it is tried again
	Playing int       // matches
	Workers int
	Stopped bool // no more matches are begun: the server stops
}

// Err says that nothing is played, nil when all is well. Anybody may read it: the
// reason, which may name files of the server, is in its log.
func (h Health) Err() error {
	switch {
	case h.Stopped:
		return ladder.Errorf(ladder.Unavailable, "", "the server stops")
	case !h.OK:
		return ladder.Errorf(ladder.Unavailable, "its log says why", "nothing is played since %s", h.Since.UTC().Format(time.RFC3339))
	}
	return nil
}

// health is whether the server itself can play. While it cannot, nothing is
// begun: no match is spoiled and no bot blamed for it.
type health struct {
	mu sync.Mutex
	Health
	rests rests
}

const server = "server" // the one name in health.rests

func newHealth(workers int) *health {
	return &health{Health: Health{OK: true, Workers: workers}, rests: rests{}}
}

// failed pauses the server, longer each time until something worked. It tells
// until when, and whether it was well before.
func (h *health) failed(reason string, now time.Time) (until time.Time, first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.OK {
		h.Since, first = now, true
	}
	h.OK, h.Reason = false, reason
	if !h.rests.resting(server, now) { // several matches that fail together count once
		h.Until = h.rests.failed(server, now)
	}
	return h.Until, first
}

// resumed ends a pause: what failed is tried again. Until something has worked
// the next pause will be longer than this one was.
func (h *health) resumed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.OK, h.Reason, h.Since, h.Until = true, "", time.Time{}, time.Time{}
}

// worked forgets earlier failures.
func (h *health) worked() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rests.worked(server)
}

func (h *health) state() Health {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.Health
}

func (h *health) playing(change int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Playing += change
}

func (h *health) stopped() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Stopped = true
}

// pause tells everybody that the server cannot play for now, and gives until
// when it does not try.
func (r *Runner) pause(err error) time.Time {
	now := r.Now()
	until, first := r.health.failed(err.Error(), now)
	r.metrics.paused.Set(1)
	r.Log.Error("the server cannot play: paused", "err", err, "until", until)
	if first {
		r.hub.publish(Event{Kind: Paused, At: now, Text: err.Error()})
	}
	return until
}

// resume looks at the server after a pause and goes on where it can.
func (r *Runner) resume(ctx context.Context) {
	if err := r.Check(ctx); err != nil {
		if ctx.Err() == nil {
			r.pause(err)
		}
		return
	}
	r.health.resumed()
	r.metrics.paused.Set(0)
	r.Log.Info("the server can play again")
	r.hub.publish(Event{Kind: Resumed, At: r.Now()})
}
