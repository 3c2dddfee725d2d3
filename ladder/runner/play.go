package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/fleet"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
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
	p := &played{Match: m, attempt: o.attempt.Number, machine: o.attempt.Machine, promised: o.attempt.Commitment}
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
	if o.attempt.Machine != fleet.Local {
		under, over := context.WithTimeoutCause(ctx, r.mayHold(o), errHeld)
		defer over()
		ctx = under
	}
	began := time.Now()
	d, err := r.handOut(ctx, p, o)
	o.took = time.Since(began)
	if err == nil {
		err = r.keep(ctx, p, &d, o.took)
	}
	if errors.Is(err, fleet.ErrDetach) {
		return // the next server awaits it
	}
	r.settle(ctx, o, p, err)
	if d.Ack != nil && !errors.As(err, new(serverError)) {
		r.acknowledge(d)
	}
}

// handOut gives an attempt to its machine, and waits for its result.
func (r *Runner) handOut(ctx context.Context, p *played, o *outcome) (d fleet.Delivery, err error) {
	p.versions = o.versions
	for _, id := range p.Versions[len(p.versions):] {
		v, err := r.Store.Version(ctx, id)
		if err != nil {
			return d, serverError{err}
		}
		p.versions = append(p.versions, v)
	}
	name := o.attempt.Machine
	if o.awaited {
		d, err = r.Fleet.Await(ctx, name, p.ID, p.attempt, p.promised)
	} else {
		defer r.here.add(p)()
		j := fleet.NewJob(p.Match, p.versions, p.attempt, referee.Hex(o.seed))
		j.Core, j.Together = o.core, o.rotations
		d, err = r.Fleet.Play(ctx, name, j)
	}
	switch {
	case err == nil || ctx.Err() != nil:
	case errors.Is(err, fleet.ErrUnavailable):
		err = serverError{err}
	case errors.Is(err, fleet.ErrLost):
		err = lostError{name, err}
	}
	return d, err
}

// keep stores the games of a result. Those of another machine are played again before.
func (r *Runner) keep(ctx context.Context, p *played, d *fleet.Delivery, took time.Duration) error {
	elsewhere := d.Machine != fleet.Local
	switch f := d.Failure; {
	case f == nil:
	case !elsewhere:
		r.countVoid(p.machine, d.Result)
		return f
	case f.Version != 0 && !slices.Contains(p.Versions, f.Version):
		return &fleet.Contradiction{Text: fmt.Sprintf("it told of a failure of version %d, which does not play", f.Version)}
	default:
		return toldError{f}
	}
	r.unpacking <- struct{}{} // no more at a time than there are processors: it takes memory
	err := d.Unpack(fleet.Expected{Job: fleet.NewJob(p.Match, p.versions, p.attempt, referee.Hex{}), Commitment: p.promised})
	<-r.unpacking
	if err != nil {
		return err
	}
	r.countVoid(p.machine, d.Result)
	d.Trim(len(p.Versions))
	p.games = d.Games
	if err = r.finish(ctx, p, took); err == nil {
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

// acknowledge lets the fleet forget a result.
func (r *Runner) acknowledge(d fleet.Delivery) {
	if err := d.Ack(); err != nil { // it comes again, and is refused
		r.Log.Warn("acknowledging a result", "match", d.Match, "attempt", d.Attempt, "err", err)
	}
}

func (r *Runner) countVoid(machine string, result fleet.Result) {
	r.metrics.void.Add(float64(result.Voids))
	r.metrics.starved.Add(float64(result.Starved))
	r.roster.counts(machine, result)
}

// claim stores results that nobody waits for: of an earlier server, or too late.
func (r *Runner) claim(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case d, more := <-r.Fleet.Unclaimed():
			if !more {
				return
			}
			if r.claimed(ctx, d) {
				r.acknowledge(d)
				r.Wake()
			}
		}
	}
}

// claimed stores a result that nobody waited for, and reports whether that is the end of it.
func (r *Runner) claimed(ctx context.Context, d fleet.Delivery) bool {
	m, err := r.Store.Match(ctx, d.Match)
	switch {
	case ladder.CodeOf(err) == ladder.NotFound:
		return true
	case err != nil:
		return false
	}
	var newest ladder.Attempt // of a match that has begun
	if n := len(m.Attempts); n > 0 {
		newest = m.Attempts[n-1]
	}
	switch {
	case m.State != ladder.Running || newest.Number != d.Attempt:
		r.Log.Info("a result came too late", "match", d.Match, "attempt", d.Attempt, "machine", d.Machine, "state", m.State)
		return true
	case newest.Machine != d.Machine || newest.Commitment != referee.Commitment(rules.Seed(d.Seed)):
		r.Log.Warn("a result is of a match that the machine was not given", "match", d.Match, "attempt", d.Attempt, "machine", d.Machine)
		return true
	}
	o := &outcome{job: &job{match: &m, awaited: true}}
	o.attempt = newest
	p := &played{Match: &m, attempt: d.Attempt, machine: newest.Machine, promised: newest.Commitment}
	for _, id := range m.Versions {
		v, err := r.Store.Version(ctx, id)
		if err != nil {
			return false
		}
		p.versions = append(p.versions, v)
	}
	err = r.keep(ctx, p, &d, d.Took)
	r.settle(ctx, o, p, err)
	return !errors.As(err, new(serverError))
}
