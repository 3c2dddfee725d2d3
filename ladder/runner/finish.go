package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/store"
)

// storeMatch stores the games of a match. While the store is unavailable, for example because the disk is full,
// storeMatch pauses the server and tries again. If ctx ends first, a result of this machine is lost, but another
// machine retains its result and sends it to the next server process. Every other error is returned at once.
func (r *Runner) storeMatch(ctx context.Context, p *play) error {
	for {
		// A transaction that is interrupted may be stored or not, so a stop does not interrupt it.
		_, err := r.Store.Matches.Finish(context.WithoutCancel(ctx), p.match.ID, p.attempt.Number, p.games)
		if err == nil {
			r.health.recordSuccess()
			r.countFinished(p)
			r.suspendFaulty(context.WithoutCancel(ctx), p)
			return nil
		}
		if ladder.CodeOf(err) != ladder.Unavailable {
			return fmt.Errorf("storing the match: %w", err)
		}
		until := r.pause(fmt.Errorf("storing match %d: %w", p.match.ID, err))
		select {
		case <-time.After(until.Sub(r.Now())):
		case <-ctx.Done():
			return serverError{err}
		}
	}
}

// countFinished counts and logs a match whose games are stored, and requests that the ratings of its ladder
// are fitted again.
func (r *Runner) countFinished(p *play) {
	m := p.match
	label := ladderLabel(m.Ladder)
	r.metrics.finishedMatches.WithLabelValues(label).Inc()
	r.metrics.games.WithLabelValues(label).Add(float64(len(p.games)))
	r.metrics.matchSeconds.WithLabelValues(label).Observe(p.took.Seconds())
	faults := 0
	for _, g := range p.games {
		for _, f := range g.Faults {
			r.metrics.faults.WithLabelValues(string(f.Code)).Inc()
			faults++
		}
	}
	r.Log.Debug("match finished", "match", m.ID, "ladder", m.Ladder, "versions", m.Versions,
		"games", len(p.games), "faults", faults, "ms", p.took.Milliseconds())
	if m.Rated {
		r.fitter.requestFit(m.Ladder)
	}
}

// serverStopped is the reason, as people see it, why a match was interrupted when its server stopped.
var serverStopped = phrase.New("the server stopped")

// interruptMatch records that a match ended without a result. why is the error that ended it. The match is then tried
// again or, after too many failures, dropped. For some errors interruptMatch also suspends the machine or pauses the
// server.
func (r *Runner) interruptMatch(ctx context.Context, p *play, why error) {
	m, v := p.match, p.verdict(context.Cause(ctx), why)
	r.metrics.brokenAttempts.WithLabelValues(v.label).Inc()
	p.blamed, p.failures = v.blamed, append(p.failures, v.backoffs...)
	switch {
	case !v.suspension.IsZero():
		r.suspendMachine(p.machine, v.suspension)
	case v.pause:
		r.pause(why) // the match is among the first after the pause
	}
	if v.blamed {
		r.placement.updateMachine(p.machine, func(m *machine) { m.brokenAttempts++ })
	}
	dropped, err := r.Store.Matches.InterruptAttempt(context.WithoutCancel(ctx), m.ID, p.attempt.Number, v.reason, v.counts)
	if errors.Is(err, store.ErrAttemptOver) {
		return
	}
	if err != nil {
		// The match stays marked as running until the server restarts.
		r.pause(fmt.Errorf("interrupting match %d: %w", m.ID, err))
		return
	}
	switch {
	case v.label == "stop":
		r.Log.Info("match interrupted", "match", m.ID, "ladder", m.Ladder, "why", v.reason)
	case dropped:
		r.Log.Error("match dropped", "match", m.ID, "ladder", m.Ladder, "versions", m.Versions, "err", why)
	default:
		r.Log.Error("match interrupted", "match", m.ID, "ladder", m.Ladder, "versions", m.Versions, "machine", p.attempt.Machine, "err", why)
	}
}

// verdict says why a match ended without a result, and what the runner does about it.
type verdict struct {
	label      string      // value of the label in the metrics
	reason     phrase.Text // shown to people
	counts     bool        // whether it counts as a failure of the match, which is dropped after several
	blamed     bool        // whether the machine could not play it and pauses
	suspension phrase.Text // why the machine is suspended; empty if it is not
	pause      bool        // whether the server cannot play and pauses
	backoffs   []string    // keys of the things that get a backoff; see backoffs
}

// verdict decides what made a match end without a result: the server, the machine, a version or the match itself. why
// is the error of playing the match. cause is the cause with which the context of the match was cancelled, or nil if
// it was not.
func (p *play) verdict(cause, why error) verdict {
	match, machine := p.match.ID, p.attempt.Machine
	onMachine := func(label, format string) verdict {
		return verdict{label: label, reason: phrase.New(format, machine), blamed: label != "suspended"}
	}
	if cause == errSuspended || why == errSuspended {
		return onMachine("suspended", "machine %q was suspended")
	}
	if why == errOverdue {
		v := onMachine("held", "machine %q had it for too long")
		v.suspension = phrase.New("it had match %d for longer than a match can take", match)
		return v
	}
	var reported workerFailure
	if cause == nil && errors.As(why, &reported) {
		v := onMachine("machine", "machine %q could not play")
		if reported.Kind == attempt.FailedVersion {
			v.backoffs = []string{versionOnMachine(reported.Version, machine)}
		}
		v.counts = reported.Kind != attempt.FailedMachine && reported.Kind != attempt.FailedCancelled && !p.failedBefore()
		return v
	}
	failure := &attempt.Failure{}
	errors.As(why, &failure)
	if cause != nil || failure.Kind == attempt.FailedCancelled {
		return verdict{label: "stop", reason: serverStopped}
	}
	var contradiction *attempt.Contradiction
	switch {
	case errors.As(why, &contradiction) && !p.isLocal():
		v := onMachine("contradiction", "machine %q handed in what cannot be of the match")
		v.suspension = phrase.New("what it handed in for match %d cannot be: %s", match, contradiction)
		return v
	case errors.Is(why, attempt.ErrLost):
		v := onMachine("lost", "machine %q was lost")
		v.counts = true // the match may be what ended the machine
		return v
	case errors.As(why, new(serverError)), errors.Is(why, attempt.ErrUnavailable), failure.Kind == attempt.FailedMachine && p.isLocal():
		return verdict{label: "server", reason: phrase.New("the server could not play"), pause: true}
	case failure.Kind == attempt.FailedMachine: // the machine refuses the job
		return onMachine("machine", "machine %q could not play")
	case failure.Kind == attempt.FailedVersion, failure.Kind == attempt.FailedHouse:
		return verdict{label: failure.Kind, reason: failure.Text, counts: true, backoffs: []string{matchName(match), versionName(failure.Version)}}
	}
	return verdict{label: "referee", reason: phrase.New("the referee failed"), counts: true, backoffs: []string{matchName(match), ladderName(p.match.Ladder)}}
}

// failedBefore reports whether an earlier try to play this match on the same machine ended without a result. If
// so, a failure of the machine does not count as a failure of the match.
func (p *play) failedBefore() bool {
	return slices.ContainsFunc(p.match.Attempts, func(a ladder.Attempt) bool {
		return a.Number < p.attempt.Number && a.Machine == p.attempt.Machine && !a.Reason.IsZero()
	})
}
