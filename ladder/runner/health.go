package runner

import (
	"context"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
)

// Health is the state of the runner, as /healthz shows it.
type Health struct {
	OK      bool
	Reason  string    // why nothing is played, "" when all is well
	Since   time.Time // the first failure of the current series
	Until   time.Time // when the server tries again
	Stopped bool      // no more matches are begun: the server stops
}

// Err returns an error when nothing is played, nil when all is well. It is public:
// the reason, which may name files of the server, is only in the server's log.
func (h Health) Err() error {
	switch {
	case h.Stopped:
		return ladder.Errorf(ladder.Unavailable, "", "the server is stopping")
	case !h.OK:
		return ladder.Errorf(ladder.Unavailable, "see its log for the reason", "no matches have been played since %s", h.Since.UTC().Format(time.RFC3339))
	}
	return nil
}

// health is whether the server itself can play. While it cannot, no match begins, so
// that no bot is blamed for a failure of the server.
type health struct {
	mu sync.Mutex
	Health
	backoff backoff
}

// failed pauses the server, longer each time until something works. It returns the
// end of the pause, and whether this is the first failure of a series.
func (h *health) failed(reason string, now time.Time) (until time.Time, first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.OK {
		h.Since, first = now, true
	}
	h.OK, h.Reason = false, reason
	if !h.backoff.active(now) { // several matches that fail together count once
		h.Until = h.backoff.failed(now)
	}
	return h.Until, first
}

// resumed ends a pause. Unless something works first, the next pause is longer.
func (h *health) resumed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.OK, h.Reason, h.Since, h.Until = true, "", time.Time{}, time.Time{}
}

// worked forgets earlier failures.
func (h *health) worked() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.backoff = backoff{}
}

func (h *health) state() Health {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.Health
}

func (h *health) stopped() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Stopped = true
}

// pause pauses the server after a failure, logs and publishes that, and returns the
// end of the pause.
func (r *Runner) pause(err error) time.Time {
	now := r.Now()
	until, first := r.health.failed(err.Error(), now)
	r.metrics.paused.Set(1)
	r.Log.Error("the server cannot play: paused", "err", err, "until", until)
	if first {
		r.Store.Events().Publish(events.Event{Kind: events.Paused, At: now, Text: err.Error()})
	}
	return until
}

// resume checks the server after a pause, and resumes play if it can.
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
	r.Store.Events().Publish(events.Event{Kind: events.Resumed, At: r.Now()})
}
