package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
)

// serverError is an error that the server's own machine causes, such as a full disk. The server pauses after it.
type serverError struct{ error }

// workerFailure is a failure that another machine reports. Only that machine is blamed for it and pauses.
type workerFailure struct{ *attempt.Failure }

// These are the causes with which the runner cancels the context of a job.
var (
	errOverTime  = errors.New("it is over its time")
	errCancelled = errors.New("it is cancelled")
	errOverdue   = errors.New("its machine has it for too long")
	errSuspended = errors.New("its machine is suspended")
)

// startJobs starts the jobs in list. It first stores the start of all matches in one transaction. If the start of a
// match cannot be stored, it releases the match instead. Matches on this machine run with the context playing, and
// submissions and try-outs with ctx. Matches on other machines are not cancelled when ctx ends; see detachAttempts.
func (r *Runner) startJobs(ctx, playing context.Context, list []*assignment) {
	var starts []store.MatchStart
	var matches []*assignment
	for _, a := range list {
		m, ok := a.job.(*matchJob)
		if !ok {
			r.startJob(ctx, a) // nothing to store: a submission starts again with the server
			continue
		}
		start := store.MatchStart{Match: m.match.ID, Machine: a.machine.Name, Seed: referee.NewSeed()}
		if m.fresh != nil {
			start.New = &m.fresh.entry
		}
		starts, matches = append(starts, start), append(matches, a)
	}
	for i, b := range r.Store.Matches.Start(ctx, starts) {
		a := matches[i]
		m := a.job.(*matchJob)
		if m.fresh != nil {
			m.fresh.pool.Close(m.fresh.poolNumber)
		}
		if b.Err != nil {
			r.releaseJob(a, 0)
			if ctx.Err() == nil && ladder.CodeOf(b.Err) != ladder.Conflict { // a conflict: it was cancelled, or a version was withdrawn
				r.pause(fmt.Errorf("beginning match %d: %w", m.match.ID, b.Err))
			}
			continue
		}
		r.placement.recordAttempt(a, m, starts[i].Seed, b)
		if a.machine.Local {
			r.startJob(playing, a)
		} else {
			r.startJob(context.WithoutCancel(ctx), a) // see detachAttempts
		}
	}
}

// adoptAttempts makes the runner wait for the results of matches that an earlier server process has sent to other
// machines. The matches that the earlier process itself was playing end without a result.
func (r *Runner) adoptAttempts(ctx context.Context) error {
	running, err := r.Store.Matches.ListRunning(ctx)
	if err != nil {
		return err
	}
	for _, a := range running {
		if a.Machine == attempt.Local {
			r.metrics.brokenAttempts.WithLabelValues("stop").Inc()
			r.Log.Info("match interrupted", "match", a.Match, "attempt", a.Attempt, "why", serverStopped)
			if _, err := r.Store.Matches.InterruptAttempt(ctx, a.Match, a.Attempt, serverStopped, false); err != nil {
				return err
			}
			continue
		}
		m, err := r.Store.Matches.Find(ctx, a.Match)
		if err != nil {
			return err
		}
		r.Log.Info("an attempt of an earlier server is awaited", "match", a.Match, "attempt", a.Attempt, "machine", a.Machine)
		r.startJob(context.WithoutCancel(ctx), r.placement.adopt(a.Machine, &m, r.Now()))
	}
	return nil
}

// playAttempt plays a match on its machine until it ends. It then stores the result, or the reason why there is
// none. If the next server process is to wait for the match, it stores nothing.
func (r *Runner) playAttempt(ctx context.Context, p *play) {
	if !p.adopted {
		r.Log.Debug("match begins", "match", p.match.ID, "ladder", p.match.Ladder, "attempt", p.attempt.Number,
			"versions", p.match.Versions, "machine", p.attempt.Machine, "commitment", p.attempt.Commitment.String())
	}
	err := r.dispatch(ctx, p)
	if !errors.Is(err, attempt.ErrDetach) { // the next server adopts it
		r.settleAttempt(ctx, p, err)
	}
}

// dispatch sends a match to its machine, waits for the result and stores it. It returns an error if no result was
// stored.
func (r *Runner) dispatch(ctx context.Context, p *play) error {
	for _, id := range p.match.Versions[len(p.versions):] {
		v, err := r.Store.Versions.Find(ctx, id)
		if err != nil {
			return serverError{err}
		}
		p.versions = append(p.versions, v)
	}
	j := attempt.NewJob(p.match, p.versions, p.attempt.Number, referee.Hex(p.seed))
	start := time.Now()
	// limited ends the time of the machine. Once the result has come it has no meaning.
	limited, cancel := context.WithTimeoutCause(ctx, r.longestAttempt(p), errOverdue)
	defer cancel()
	var failure error // why the result is not stored, if the machine may forget it
	accept := func(result attempt.Result) error {
		p.took = time.Since(start)
		failure = r.acceptResult(ctx, p, result)
		if errors.As(failure, new(serverError)) && errors.Is(context.Cause(ctx), attempt.ErrDetach) {
			return attempt.ErrDetach
		}
		return nil
	}
	var err error
	if p.adopted {
		err = r.Fleet.Adopt(limited, p.attempt.Machine, j, p.attempt.Commitment, accept)
	} else if j.Core, j.ParallelRotations = p.core, p.rotations; p.isLocal() {
		err = accept(r.player(ctx, p, j))
	} else {
		err = r.Fleet.Play(limited, p.attempt.Machine, j, accept)
	}
	if p.took == 0 {
		p.took = time.Since(start)
	}
	switch {
	case err == nil:
		return failure
	case ctx.Err() == nil && limited.Err() != nil && errors.Is(err, limited.Err()):
		return errOverdue
	}
	return err
}

// longestAttempt returns how long a match may still take on its machine. The limit is ten minutes plus three
// times the longest time that all its games and program starts can take. For a match that an earlier server
// process started, the time since then is subtracted, but at least ten minutes remain.
func (r *Runner) longestAttempt(p *play) time.Duration {
	const longest, shortest = 30 * 24 * time.Hour, 10 * time.Minute
	m := p.match
	v, err := m.Variant()
	if err != nil {
		return shortest // attempt.Play reports the error
	}
	starts := time.Duration(m.Deals * len(m.Versions) * v.Players)
	start := min(m.Clock.Startup, longest/starts)
	limit := 3*min(longest, ladder.MaxMatchTime(v, m.Clock, len(m.Versions), m.Deals)) + 3*starts*start + shortest
	if p.adopted {
		limit -= r.Now().Sub(p.attempt.StartedAt)
	}
	return max(limit, shortest)
}

// acceptResult stores the games of a result, from this machine or another, and counts the games that had to be played
// again. It returns an error if the result has no games or if its games cannot be stored.
func (r *Runner) acceptResult(ctx context.Context, p *play, result attempt.Result) error {
	if r.placement.isSuspended(p.machine) { // the result may have come after the server asked for the end
		return errSuspended
	}
	if f := result.Failure; f != nil && !p.isLocal() {
		return workerFailure{f}
	}
	r.metrics.voidGames.Add(float64(result.VoidGames))
	r.metrics.starvedGames.Add(float64(result.StarvedGames))
	r.placement.updateMachine(p.machine, func(m *machine) {
		m.voidGames += int64(result.VoidGames)
		m.starvedGames += int64(result.StarvedGames)
	})
	if f := result.Failure; f != nil {
		return f
	}
	p.games = result.Games
	err := r.storeMatch(ctx, p)
	if err == nil {
		r.placement.updateMachine(p.machine, func(m *machine) {
			m.finishedMatches++
			m.lastHour.add(r.Now())
		})
		return nil
	}
	if p.isLocal() || errors.As(err, new(serverError)) || errors.Is(err, store.ErrAttemptOver) {
		return err
	}
	return workerFailure{&attempt.Failure{Kind: attempt.FailedMachine, Text: phrase.New("what it handed in cannot be stored: %s", err)}}
}

func (p *play) isLocal() bool { return p.attempt.Machine == attempt.Local }

// settleAttempt records that a machine no longer plays a match. If err is nil, the games are stored. Otherwise err is
// the reason why there is no result.
func (r *Runner) settleAttempt(ctx context.Context, p *play, err error) {
	m := p.match
	switch {
	case err == nil:
		p.successes = append(p.successes, matchName(m.ID), ladderName(m.Ladder))
		for _, v := range m.Versions {
			p.successes = append(p.successes, versionName(v), versionOnMachine(v, p.attempt.Machine))
		}
	case context.Cause(ctx) == errOverTime:
		r.dropOverTime(ctx, m)
	case p.isCancelled(context.WithoutCancel(ctx), r.Store):
		r.logCancelled(m)
	case errors.Is(err, store.ErrAttemptOver):
		r.Log.Info("a result came too late", "match", m.ID, "attempt", p.attempt.Number, "err", err)
	default:
		r.interruptMatch(ctx, p, err)
	}
}
