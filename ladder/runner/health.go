package runner

import (
	"context"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
)

// health is whether the server itself can play. While it cannot, no match begins, so
// that no bot is blamed for a failure of the server.
type health struct {
	mu           sync.Mutex
	failingSince time.Time // the first failure of the current series; zero: it plays
	pauseEnd     time.Time // when the server tries again
	backoff      backoff
	stopped      bool // no more matches are begun: the server stops
}

// Health returns an error when nothing is played, nil when all is well. It is public:
// the reason, which may name files of the server, is only in the server's log.
func (r *Runner) Health() error {
	h := &r.health
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.stopped:
		return ladder.Errorf(ladder.Unavailable, "", "the server is stopping")
	case !h.failingSince.IsZero():
		return ladder.Errorf(ladder.Unavailable, "see its log for the reason", "no matches have been played since %s", h.failingSince.UTC().Format(time.RFC3339))
	}
	return nil
}

// pausedUntil returns when the server tries to play again; zero while it plays, and when it stops.
func (h *health) pausedUntil() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return time.Time{}
	}
	return h.pauseEnd
}

// recordFailure pauses the server, longer each time until something works. It returns the
// end of the pause, and whether this is the first failure of a series.
func (h *health) recordFailure(now time.Time) (until time.Time, first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if first = h.failingSince.IsZero(); first {
		h.failingSince = now
	}
	if !h.backoff.isBackingOff(now) { // several matches that fail together count once
		h.pauseEnd = h.backoff.recordFailure(now)
	}
	return h.pauseEnd, first
}

// clearPause ends a pause. Unless something works first, the next pause is longer.
func (h *health) clearPause() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failingSince, h.pauseEnd = time.Time{}, time.Time{}
}

// recordSuccess forgets earlier failures.
func (h *health) recordSuccess() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.backoff = backoff{}
}

// stop ends it for good: the server begins no more matches.
func (h *health) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
}

// pause pauses the server after a failure, logs and publishes that, and returns the
// end of the pause.
func (r *Runner) pause(err error) time.Time {
	now := r.Now()
	until, first := r.health.recordFailure(now)
	r.metrics.pauseGauge.Set(1)
	r.Log.Error("the server cannot play: paused", "err", err, "until", until)
	if first {
		r.Store.Events.Publish(events.Event{Kind: events.Paused, Text: err.Error()})
	}
	return until
}

// resume checks the server after a pause, and resumes play if it can.
func (r *Runner) resume(ctx context.Context) {
	if err := r.Host.Check(ctx); err != nil {
		if ctx.Err() == nil {
			r.pause(err)
		}
		return
	}
	r.health.clearPause()
	r.metrics.pauseGauge.Set(0)
	r.Log.Info("the server can play again")
	r.Store.Events.Publish(events.Event{Kind: events.Resumed})
}
