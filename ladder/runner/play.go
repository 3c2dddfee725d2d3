package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/fleet"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
)

// serverError is a failure of the server's machine, not of a match.
type serverError struct{ error }

// lostError says that a machine was lost with an attempt.
type lostError struct {
	machine string
	error
}

// toldError is a failure that another machine tells of. Only that machine is blamed on its word.
type toldError struct{ *fleet.Failure }

// beginAll stores the beginning of jobs, many in one transaction, and starts them. Where that fails
// they are given back.
func (r *Runner) beginAll(ctx, playing context.Context, jobs []*job, ended chan<- outcome) {
	var starts []store.Start
	var matches []*job
	for _, j := range jobs {
		if j.match == nil {
			continue
		}
		j.seed = referee.NewSeed()
		starts = append(starts, store.Start{Match: j.match.ID, New: j.asNew, Machine: j.machine.Name, Seed: j.seed})
		matches = append(matches, j)
	}
	begun := map[*job]store.Begun{}
	for i, b := range r.Store.Begin(ctx, starts) {
		begun[matches[i]] = b
	}
	for _, j := range jobs {
		b, match := begun[j]
		switch {
		case !match:
			r.start(ctx, playing, j, ended)
		case b.Err == nil:
			r.forgetFresh(j)
			j.match, j.attempt = &b.Match, b.Attempt
			r.start(ctx, playing, j, ended)
		default:
			r.giveBack(j)
			if ctx.Err() == nil && ladder.CodeOf(b.Err) != ladder.Conflict { // it was cancelled, or a version plays no more
				r.pause(fmt.Errorf("beginning match %d: %w", j.match.ID, b.Err))
			}
		}
	}
}

// giveBack takes back what a job was given that was not begun.
func (r *Runner) giveBack(j *job) {
	r.forgetFresh(j)
	r.letGo(j)
	if j.asNew == nil {
		delete(r.taken, j.match.ID)
	}
	j.machine.giveBack(j.core)
	j.machine.memory.release(j.memory)
	r.costs.ended(j.ladder(), j.charged, 0)
}

// play plays an attempt on its machine, until it ends or is interrupted.
func (r *Runner) play(ctx context.Context, o *outcome) {
	m := o.match
	p := &played{Match: m, attempt: o.attempt.Number, machine: o.attempt.Machine, versions: o.versions}
	log := r.Log.With("match", m.ID, "ladder", m.Ladder, "attempt", p.attempt)
	defer r.roster.plays(o.attempt.Machine, m, o.attempt)()
	if !o.awaited {
		log.Debug("match begins", "versions", m.Versions, "machine", o.attempt.Machine, "commitment", o.attempt.Commitment.String())
	}
	if o.asked() && !o.awaited {
		under, over := context.WithCancelCause(ctx)
		defer over(nil)
		ctx = under
		p.left, p.over = r.timeLeft(m), func() { over(errOverTime) }
	}
	err := r.handOut(ctx, p, o)
	if !errors.Is(err, fleet.ErrDetach) { // the next server adopts it
		r.settle(ctx, o, p, err)
	}
}

// handOut gives an attempt to its machine, and stores its result.
func (r *Runner) handOut(ctx context.Context, p *played, o *outcome) error {
	for _, id := range p.Versions[len(p.versions):] {
		v, err := r.Store.Version(ctx, id)
		if err != nil {
			return serverError{err}
		}
		p.versions = append(p.versions, v)
	}
	j := fleet.NewJob(p.Match, p.versions, p.attempt, referee.Hex(o.seed))
	j.Core, j.Together = o.core, o.rotations
	began := time.Now()
	// The machine is ended with held, which says nothing any more once the result has come.
	held, over := context.WithTimeoutCause(ctx, r.mayHold(o), errHeld)
	defer over()
	var kept error // what is not the machine's to keep for another server
	keep := func(result fleet.Result) error {
		o.took = time.Since(began)
		kept = r.keep(ctx, p, result, o.took)
		if errors.As(kept, new(serverError)) && errors.Is(context.Cause(ctx), fleet.ErrDetach) {
			return fleet.ErrDetach
		}
		return nil
	}
	var err error
	switch {
	case p.machine == fleet.Local:
		err = keep(r.here(ctx, p, j))
	case o.awaited:
		err = r.Fleet.Adopt(held, p.machine, j, o.attempt.Commitment, keep)
	default:
		err = r.Fleet.Play(held, p.machine, j, keep)
	}
	if o.took == 0 {
		o.took = time.Since(began)
	}
	switch {
	case err == nil:
		return kept
	case ctx.Err() != nil:
	case errors.Is(err, fleet.ErrUnavailable):
		err = serverError{err}
	case errors.Is(err, fleet.ErrLost):
		err = lostError{p.machine, err}
	case held.Err() != nil && errors.Is(err, held.Err()):
		err = errHeld
	}
	return err
}

// keep stores the games of a result.
func (r *Runner) keep(ctx context.Context, p *played, result fleet.Result, took time.Duration) error {
	elsewhere := p.machine != fleet.Local
	if f := result.Failure; f != nil && elsewhere {
		return toldError{f}
	}
	r.countVoid(p.machine, result)
	if f := result.Failure; f != nil {
		return f
	}
	p.games = result.Games
	err := r.finish(ctx, p, took)
	if err == nil {
		r.roster.finished(p.machine, r.Now())
	}
	if err != nil && elsewhere && !errors.As(err, new(serverError)) && !errors.Is(err, store.ErrOver) {
		return toldError{&fleet.Failure{Kind: fleet.FailedMachine, Text: fmt.Sprintf("what it handed in cannot be stored: %s", err)}}
	}
	return err
}

// settle ends an attempt whose games are stored, or that has none.
func (r *Runner) settle(ctx context.Context, o *outcome, p *played, err error) {
	m := o.match
	switch {
	case err == nil:
		o.fine = append(o.fine, matchName(m.ID), ladderName(m.Ladder))
		for _, v := range m.Versions {
			o.fine = append(o.fine, versionName(v), thereName(p.machine, v))
		}
	case errors.Is(err, store.ErrOver) && !r.unwanted(context.WithoutCancel(ctx), o.job):
		r.Log.Info("a result came too late", "match", m.ID, "attempt", p.attempt, "err", err)
	case context.Cause(ctx) == errOverTime:
		r.overTime(ctx, m)
	case r.unwanted(context.WithoutCancel(ctx), o.job):
		r.cancelled(m)
	default:
		r.interrupt(ctx, o, err)
	}
}

func (r *Runner) countVoid(machine string, result fleet.Result) {
	r.metrics.void.Add(float64(result.Voids))
	r.metrics.starved.Add(float64(result.Starved))
	r.roster.counts(machine, result)
}
