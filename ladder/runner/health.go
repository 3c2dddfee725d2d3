package runner

import (
	"context"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
)

// health says whether the server itself can play matches. While it cannot, no match starts, so that no bot is
// blamed for a failure of the server.
type health struct {
	mu           sync.Mutex
	failingSince time.Time // first failure since the last pause ended; zero while the server does not pause
	pauseEnd     time.Time // when the server tries again
	backoff      backoff   // for the length of the next pause
	stopped      bool      // the server is stopping
	failure      error     // the last failure of the pause; nil while the server does not pause
}

// Health returns an error while the server starts no matches, because it cannot play or is stopping, and nil
// otherwise. The text of the error is public. The cause is only in the server's log.
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

// PauseReason returns the last failure for which the server has paused, or nil if it is not paused. It is for
// operators.
func (r *Runner) PauseReason() error {
	r.health.mu.Lock()
	defer r.health.mu.Unlock()
	return r.health.failure
}

// pausedUntil returns the end of the server's pause. It is zero if the server plays or is stopping.
func (h *health) pausedUntil() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return time.Time{}
	}
	return h.pauseEnd
}

// recordFailure pauses the server because of failure, and returns the end of the pause. Each failure makes the next
// pause longer, until recordSuccess is called; a failure during a pause does not change the end. first is true for the
// first failure since the last call of clearPause.
func (h *health) recordFailure(failure error, now time.Time) (until time.Time, first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failure = failure
	if first = h.failingSince.IsZero(); first {
		h.failingSince = now
	}
	if !h.backoff.isBackingOff(now) { // several matches that fail together count once
		h.pauseEnd = h.backoff.recordFailure(now)
	}
	return h.pauseEnd, first
}

// clearPause ends the pause. If a failure comes before the next call of recordSuccess, its pause is longer.
func (h *health) clearPause() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failingSince, h.pauseEnd, h.failure = time.Time{}, time.Time{}, nil
}

func (h *health) recordSuccess() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.backoff = backoff{}
}

// stop marks the server as stopping: it starts no more matches.
func (h *health) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
}

// pause pauses the server after the failure err and returns the end of the pause. It logs the failure and
// publishes it as an event.
func (r *Runner) pause(err error) time.Time {
	now := r.Now()
	until, first := r.health.recordFailure(err, now)
	r.metrics.pauseGauge.Set(1)
	r.Log.Error("the server cannot play: paused", "err", err, "until", until)
	if first {
		r.Store.Events.Publish(events.Event{Kind: events.Paused, Text: err.Error()})
	}
	return until
}

// resume checks, at the end of a pause, whether the server's machine can play matches. If it can, the server plays
// again. Otherwise resume starts another pause, unless ctx has ended.
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
