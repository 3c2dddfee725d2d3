package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
)

// finish stores a match that has been played. While that fails (the disk is full),
// the result stays in memory and the server is paused, so that no played match is
// lost.
func (r *Runner) finish(ctx context.Context, p *played, took time.Duration) error {
	p.seal()
	for {
		// After a stop in the middle it would be unknown whether it is stored.
		changes, err := r.Store.Finish(context.WithoutCancel(ctx), p.ID, p.games)
		if err == nil {
			r.health.worked()
			r.finished(p, changes, took)
			r.judge(context.WithoutCancel(ctx), p)
			return nil
		}
		if ladder.CodeOf(err) != ladder.Unavailable {
			return fmt.Errorf("storing the match: %w", err)
		}
		until := r.pause(fmt.Errorf("storing match %d: %w", p.ID, err))
		select {
		case <-time.After(until.Sub(r.Now())):
		case <-ctx.Done():
			return serverError{err}
		}
	}
}

// finished logs, counts and publishes a match that is stored.
func (r *Runner) finished(p *played, changes []ladder.Change, took time.Duration) {
	label := ladderLabel(p.Ladder)
	r.metrics.finished.WithLabelValues(label).Inc()
	r.metrics.games.WithLabelValues(label).Add(float64(len(p.games)))
	r.metrics.took.WithLabelValues(label).Observe(took.Seconds())
	faults := 0
	for _, g := range p.games {
		for _, f := range g.Faults {
			r.metrics.faults.WithLabelValues(string(f.Code)).Inc()
			faults++
		}
	}
	r.Log.Debug("match finished", "match", p.ID, "ladder", p.Ladder, "versions", p.Versions,
		"games", len(p.games), "faults", faults, "seconds", took.Seconds())
	r.Events.Publish(events.Event{Kind: events.MatchFinished, At: r.Now(), Ladder: p.Ladder, Match: p.ID, Changes: changes})
	if p.Rated {
		r.fits.add(p.Ladder)
	}
}

// interrupt makes a match that was begun and has no result wait again.
func (r *Runner) interrupt(ctx context.Context, o *outcome, why error) {
	m := o.match
	var (
		own     houseError
		version versionError
		server  serverError
		reason  string
		label   string
		failed  = true // the attempt counts
	)
	switch {
	case ctx.Err() != nil:
		reason, label, failed = "the server stopped", "stop", false
	case errors.As(why, &server):
		reason, label, failed = "the server could not play", "server", false
		r.pause(why) // the match is the first one after it
	case errors.As(why, &version):
		reason, label = why.Error(), "version"
		o.again = append(o.again, matchName(m.ID), versionName(version.version))
	case errors.As(why, &own):
		reason, label = why.Error(), "house"
		o.again = append(o.again, matchName(m.ID), versionName(own.version))
	default:
		reason, label = "the referee failed", "referee"
		o.again = append(o.again, matchName(m.ID), ladderName(m.Ladder))
	}
	r.metrics.broken.WithLabelValues(label).Inc()
	dropped, err := r.Store.Break(context.WithoutCancel(ctx), m.ID, reason, failed)
	if err != nil {
		// It is still marked as running, and waits again at the next start.
		r.pause(fmt.Errorf("interrupting match %d: %w", m.ID, err))
		return
	}
	switch {
	case label == "stop":
		r.Log.Info("match interrupted", "match", m.ID, "ladder", m.Ladder, "why", reason)
	case dropped:
		r.Log.Error("match dropped", "match", m.ID, "ladder", m.Ladder, "versions", m.Versions, "err", why)
	default:
		r.Log.Error("match interrupted", "match", m.ID, "ladder", m.Ladder, "versions", m.Versions, "err", why)
	}
	r.Events.Publish(events.Event{Kind: events.MatchBroken, At: r.Now(), Ladder: m.Ladder, Match: m.ID, Text: reason})
}
