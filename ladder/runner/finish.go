package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/store"
)

// finish stores a match that has been played. While that fails (the disk is full),
// the result stays in memory and the server is paused, so that no played match is
// lost.
func (r *Runner) finish(ctx context.Context, o *outcome) error {
	for {
		// After a stop in the middle it would be unknown whether it is stored.
		_, err := r.Store.Finish(context.WithoutCancel(ctx), o.match.ID, o.attempt.Number, o.games)
		if err == nil {
			r.health.worked()
			r.finished(o)
			r.suspendFaulty(context.WithoutCancel(ctx), o)
			return nil
		}
		if ladder.CodeOf(err) != ladder.Unavailable {
			return fmt.Errorf("storing the match: %w", err)
		}
		until := r.pause(fmt.Errorf("storing match %d: %w", o.match.ID, err))
		select {
		case <-time.After(until.Sub(r.Now())):
		case <-ctx.Done():
			return serverError{err}
		}
	}
}

// finished logs and counts a match that is stored, and has the overall rating of its ladder computed again.
func (r *Runner) finished(o *outcome) {
	m := o.match
	label := ladderLabel(m.Ladder)
	r.metrics.finished.WithLabelValues(label).Inc()
	r.metrics.games.WithLabelValues(label).Add(float64(len(o.games)))
	r.metrics.took.WithLabelValues(label).Observe(o.took.Seconds())
	faults := 0
	for _, g := range o.games {
		for _, f := range g.Faults {
			r.metrics.faults.WithLabelValues(string(f.Code)).Inc()
			faults++
		}
	}
	r.Log.Debug("match finished", "match", m.ID, "ladder", m.Ladder, "versions", m.Versions,
		"games", len(o.games), "faults", faults, "seconds", o.took.Seconds())
	if m.Rated {
		r.fits.add(m.Ladder)
	}
}

// serverStopped is why an attempt was broken off that ended with its server.
const serverStopped = "the server stopped"

// interrupt makes a match that was begun and has no result wait again.
func (r *Runner) interrupt(ctx context.Context, o *outcome, why error) {
	m := o.match
	reason, label, failed := r.blame(ctx, o, why)
	r.metrics.broken.WithLabelValues(label).Inc()
	if o.blamed || label == "held" || label == "contradiction" {
		r.placement.note(o.machine, func(m *machine) { m.broken++ })
	}
	dropped, err := r.Store.Break(context.WithoutCancel(ctx), m.ID, o.attempt.Number, reason, failed)
	if errors.Is(err, store.ErrOver) {
		return
	}
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
		r.Log.Error("match interrupted", "match", m.ID, "ladder", m.Ladder, "versions", m.Versions, "machine", o.attempt.Machine, "err", why)
	}
}

// blame finds out what an attempt failed by: the server, a machine, a version or the match itself. It
// suspends a machine that lies, pauses the server where that cannot play, and notes in the outcome who
// has to wait before the next attempt. It returns the reason for people, its label in the metrics, and
// whether the attempt counts against the match.
func (r *Runner) blame(ctx context.Context, o *outcome, why error) (reason, label string, failed bool) {
	var (
		m       = o.match
		name    = o.attempt.Machine
		kind    string
		failure *attempt.Failure
		told    toldError
		lie     *attempt.Contradiction
	)
	switch {
	case errors.As(why, &told):
		kind = told.Kind
	case errors.As(why, &failure):
		kind = failure.Kind
	}
	switch cause := context.Cause(ctx); {
	case cause == errSuspended, why == errSuspended:
		return fmt.Sprintf("machine %q was suspended", name), "suspended", false
	case why == errOverdue:
		r.suspend(o.machine, fmt.Sprintf("it had match %d for longer than a match can take", m.ID))
		return fmt.Sprintf("machine %q had it for too long", name), "held", false
	case cause != nil || kind == attempt.FailedCancelled && told.Failure == nil:
		return serverStopped, "stop", false
	case errors.As(why, &lie) && name != attempt.Local:
		r.suspend(o.machine, fmt.Sprintf("what it handed in for match %d cannot be: %s", m.ID, lie))
		return fmt.Sprintf("machine %q handed in what cannot be of the match", name), "contradiction", false
	case told.Failure != nil:
		o.blamed = true
		if kind == attempt.FailedVersion {
			o.again = append(o.again, thereName(name, told.Version))
		}
		counts := kind != attempt.FailedMachine && kind != attempt.FailedCancelled && !failedOn(m, name, o.attempt.Number)
		return fmt.Sprintf("machine %q could not play", name), "machine", counts
	case errors.Is(why, attempt.ErrLost): // perhaps by this match: it counts
		o.blamed = true
		return fmt.Sprintf("machine %q was lost", name), "lost", true
	case errors.As(why, new(serverError)), errors.Is(why, attempt.ErrUnavailable),
		kind == attempt.FailedMachine && name == attempt.Local:
		r.pause(why) // the match is the first one after it
		return "the server could not play", "server", false
	case kind == attempt.FailedMachine: // it does not take what is handed out
		o.blamed = true
		return fmt.Sprintf("machine %q could not play", name), "machine", false
	case kind == attempt.FailedVersion, kind == attempt.FailedHouse:
		o.again = append(o.again, matchName(m.ID), versionName(failure.Version))
		return failure.Text, kind, true
	default:
		o.again = append(o.again, matchName(m.ID), ladderName(m.Ladder))
		return "the referee failed", "referee", true
	}
}

// failedOn reports whether an attempt before this one was broken off on a machine: a machine's word
// counts once.
func failedOn(m *ladder.Match, machine string, attempt int) bool {
	return slices.ContainsFunc(m.Attempts, func(a ladder.Attempt) bool {
		return a.Number < attempt && a.Machine == machine && a.Reason != ""
	})
}
