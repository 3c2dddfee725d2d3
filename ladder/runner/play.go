package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
)

// serverError is a failure of the server's machine, not of a match.
type serverError struct{ error }

// toldError is a failure that another machine tells of. Only that machine is blamed on its word.
type toldError struct{ *attempt.Failure }

// Why a job is ended before its time.
var (
	errOverTime  = errors.New("it is over its time")
	errCancelled = errors.New("it is cancelled")
	errOverdue   = errors.New("its machine has it for too long")
	errSuspended = errors.New("its machine is suspended")
)

// beginAll stores the beginning of jobs, many in one transaction, and starts them. Where that fails
// they are given back.
func (r *Runner) beginAll(ctx, playing context.Context, jobs []*job) {
	var starts []store.Start
	var matches []*job
	for _, j := range jobs {
		if j.match == nil {
			r.start(ctx, j) // a submission begins again at the next start
			continue
		}
		j.seed = referee.NewSeed()
		starts = append(starts, store.Start{Match: j.match.ID, New: j.asNew, Machine: j.machine.Name, Seed: j.seed})
		matches = append(matches, j)
	}
	for i, b := range r.Store.Begin(ctx, starts) {
		j := matches[i]
		r.ladders.stored(j)
		switch {
		case b.Err != nil:
			r.giveBack(j, 0)
			if ctx.Err() == nil && ladder.CodeOf(b.Err) != ladder.Conflict { // it was cancelled, or a version plays no more
				r.pause(fmt.Errorf("beginning match %d: %w", j.match.ID, b.Err))
			}
		case j.machine.Local:
			r.placement.begun(j, b.Match, b.Attempt)
			r.start(playing, j)
		default:
			r.placement.begun(j, b.Match, b.Attempt)
			r.start(context.WithoutCancel(ctx), j) // see stop
		}
	}
}

// adopt takes up the attempts that an earlier server has handed out. Those that it played itself have ended
// with it.
func (r *Runner) adopt(ctx context.Context) error {
	handed, err := r.Store.Running(ctx)
	if err != nil {
		return err
	}
	for _, h := range handed {
		if h.Machine == attempt.Local {
			r.metrics.broken.WithLabelValues("stop").Inc()
			r.Log.Info("match interrupted", "match", h.Match, "attempt", h.Attempt, "why", serverStopped)
			if _, err := r.Store.Break(ctx, h.Match, h.Attempt, serverStopped, false); err != nil {
				return err
			}
			continue
		}
		m, err := r.Store.Match(ctx, h.Match)
		if err != nil {
			return err
		}
		j := &job{match: &m, awaited: true, attempt: m.Attempts[len(m.Attempts)-1]}
		r.Log.Info("an attempt of an earlier server is awaited", "match", h.Match, "attempt", h.Attempt, "machine", h.Machine)
		r.placement.adopt(h.Machine, j, r.Now())
		r.start(context.WithoutCancel(ctx), j)
	}
	return nil
}

// play plays an attempt on its machine, until it ends or is interrupted.
func (r *Runner) play(ctx context.Context, o *outcome) {
	if !o.awaited {
		r.Log.Debug("match begins", "match", o.match.ID, "ladder", o.match.Ladder, "attempt", o.attempt.Number,
			"versions", o.match.Versions, "machine", o.attempt.Machine, "commitment", o.attempt.Commitment.String())
	}
	err := r.handOut(ctx, o)
	if !errors.Is(err, attempt.ErrDetach) { // the next server adopts it
		r.settle(ctx, o, err)
	}
}

// handOut gives an attempt to its machine, and stores its result.
func (r *Runner) handOut(ctx context.Context, o *outcome) error {
	for _, id := range o.match.Versions[len(o.versions):] {
		v, err := r.Store.Version(ctx, id)
		if err != nil {
			return serverError{err}
		}
		o.versions = append(o.versions, v)
	}
	j := attempt.NewJob(o.match, o.versions, o.attempt.Number, referee.Hex(o.seed))
	began := time.Now()
	// The machine's time ends with limited, which says nothing any more once the result has come.
	limited, over := context.WithTimeoutCause(ctx, r.longestAttempt(o), errOverdue)
	defer over()
	var kept error // what is not the machine's to keep for another server
	keep := func(result attempt.Result) error {
		o.took = time.Since(began)
		kept = r.keep(ctx, o, result)
		if errors.As(kept, new(serverError)) && errors.Is(context.Cause(ctx), attempt.ErrDetach) {
			return attempt.ErrDetach
		}
		return nil
	}
	var err error
	if o.awaited {
		err = r.Fleet.Adopt(limited, o.attempt.Machine, j, o.attempt.Commitment, keep)
	} else if j.Core, j.Together = o.core, o.rotations; o.attempt.Machine == attempt.Local {
		err = keep(r.here(ctx, o, j))
	} else {
		err = r.Fleet.Play(limited, o.attempt.Machine, j, keep)
	}
	if o.took == 0 {
		o.took = time.Since(began)
	}
	switch {
	case err == nil:
		return kept
	case ctx.Err() == nil && limited.Err() != nil && errors.Is(err, limited.Err()):
		return errOverdue
	}
	return err
}

// longestAttempt returns how long a machine may have an attempt: three times as long as all of its games can
// take. One that an earlier server gave out may have begun long ago.
func (r *Runner) longestAttempt(o *outcome) time.Duration {
	const longest, least = 30 * 24 * time.Hour, 10 * time.Minute
	m := o.match
	v, err := m.Variant()
	if err != nil {
		return least // play tells what is wrong
	}
	starts := time.Duration(m.Deals * len(m.Versions) * v.Players)
	start := min(m.Clock.Startup, longest/starts)
	most := 3*min(longest, ladder.Longest(v, m.Clock, len(m.Versions), m.Deals)) + 3*starts*start + least
	if o.awaited {
		most -= r.Now().Sub(o.attempt.Began)
	}
	return max(most, least)
}

// keep stores the games of a result.
func (r *Runner) keep(ctx context.Context, o *outcome, result attempt.Result) error {
	elsewhere := o.attempt.Machine != attempt.Local
	if r.placement.isSuspended(o.machine) { // it may have handed this in as it was told to end
		return errSuspended
	}
	if f := result.Failure; f != nil && elsewhere {
		return toldError{f}
	}
	r.metrics.void.Add(float64(result.Voids))
	r.metrics.starved.Add(float64(result.Starved))
	r.placement.note(o.machine, func(m *machine) {
		m.void += int64(result.Voids)
		m.starved += int64(result.Starved)
	})
	if f := result.Failure; f != nil {
		return f
	}
	o.games = result.Games
	err := r.finish(ctx, o)
	if err == nil {
		r.placement.note(o.machine, func(m *machine) {
			m.finished++
			m.hour.add(r.Now())
		})
	}
	if err != nil && elsewhere && !errors.As(err, new(serverError)) && !errors.Is(err, store.ErrOver) {
		return toldError{&attempt.Failure{Kind: attempt.FailedMachine, Text: fmt.Sprintf("what it handed in cannot be stored: %s", err)}}
	}
	return err
}

// settle ends an attempt whose games are stored, or that has none.
func (r *Runner) settle(ctx context.Context, o *outcome, err error) {
	m := o.match
	switch {
	case err == nil:
		o.fine = append(o.fine, matchName(m.ID), ladderName(m.Ladder))
		for _, v := range m.Versions {
			o.fine = append(o.fine, versionName(v), thereName(o.attempt.Machine, v))
		}
	case context.Cause(ctx) == errOverTime:
		r.overTime(ctx, m)
	case r.cancelled(context.WithoutCancel(ctx), o.job):
		r.tellCancelled(m)
	case errors.Is(err, store.ErrOver):
		r.Log.Info("a result came too late", "match", m.ID, "attempt", o.attempt.Number, "err", err)
	default:
		r.interrupt(ctx, o, err)
	}
}

// Fleet is what a runner plays matches on other machines with.
type Fleet interface {
	// Machines returns the machines that are there, the refused and the draining included.
	Machines() []attempt.Machine
	// Changed receives, without blocking the fleet, after machines came, left or changed.
	Changed() <-chan struct{}
	// Play hands a job to a machine and gives its result to keep, once. An error of keep says that the
	// result cannot be stored now: then the machine keeps it for the next server. Play returns that
	// error, an *attempt.Contradiction for what cannot be a result of the job, and an error when the
	// context ends (the machine is told to stop, and has a moment to do so) or the machine is lost
	// (attempt.ErrLost): then the attempt is over, and a result of it that still comes is refused. With
	// the cause attempt.ErrDetach the attempt is not over. What cannot be handed out at all is an
	// *attempt.Failure, or attempt.ErrUnavailable.
	Play(ctx context.Context, machine string, j attempt.Job, keep func(attempt.Result) error) error
	// Adopt is Play of an attempt that an earlier server has handed out: j has no seed, but a
	// commitment to it is known.
	Adopt(ctx context.Context, machine string, j attempt.Job, commitment referee.Hex, keep func(attempt.Result) error) error
}

// nobody is a fleet without machines.
type nobody struct{}

func (nobody) Machines() []attempt.Machine { return nil }
func (nobody) Changed() <-chan struct{}    { return nil }

func (nobody) Play(context.Context, string, attempt.Job, func(attempt.Result) error) error {
	return attempt.ErrLost
}

func (nobody) Adopt(context.Context, string, attempt.Job, referee.Hex, func(attempt.Result) error) error {
	return attempt.ErrLost
}
