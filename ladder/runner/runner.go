// Package runner plays the matches of a competition: for each free core it chooses what is played next
// (sources.go has the order, placement.go the machines), hands it to its machine, publishes the commitment
// before the match and stores its games after it, suspends versions that fail repeatedly, and computes the
// maximum-likelihood fits in the background.
//
// Each match has a core of its own, and so has each submission. The runner never
// polls: it sleeps until a match ends, a timer fires or Wake is called.
package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/referee"
)

// Options are the parts of a Runner and its limits. Store and Programs are required.
type Options struct {
	Store    Store
	Ladders  []ladder.Ladder
	Limits   Limits
	Programs Programs
	// Local is the machine of this process. Submissions, try-outs, matches that somebody asked for and those of remote
	// versions are for it alone.
	Local attempt.Machine
	// Host answers questions about that machine. If Host is nil, the machine can always play.
	Host Host
	// Remotes are the remote versions. If Remotes is nil, there are none.
	Remotes Remotes
	// Fleet plays matches on other machines. If Fleet is nil, there are none.
	Fleet Fleet
	// Watch is called when a match begins. It returns a function for each position and one for the end of the match,
	// or nil if nobody may watch it; neither may make the match wait. Watch is not called for a rated match with a
	// remote version. If Watch is nil, no match is watched.
	Watch      func(*ladder.Match) (position func(*referee.Game), end func())
	Registerer prometheus.Registerer // of the metrics; if it is nil, they are not published
	Log        *slog.Logger          // if it is nil, nothing is logged
	Now        func() time.Time      // if it is nil, the time is that of the system's clock
}

// Limits are the memory and the time of matches. For the durations but Grace, 0 is no limit or no pause.
type Limits struct {
	// Room is the memory that matches share. A match whose bots do not fit beside those that play waits, and so does
	// everything after it.
	Room ladder.MemoryBudget
	// BuildMemory is the memory that the stages of a submission can use, and so can a build before a match.
	BuildMemory int64
	// Time is how long a match that somebody asked for may take in all.
	Time time.Duration
	// Allowance is added to the margin of the clock of a match with a remote version.
	Allowance time.Duration
	// Pause is the time between two matches of a ladder whose versions all have had ladder.EnoughMatches.
	Pause time.Duration
	// Idle is the time between two matches of a ladder among house bots alone that have had ladder.EnoughMatches.
	Idle time.Duration
	// Grace is how long running matches may continue when the runner is stopped.
	Grace time.Duration
}

// Runner plays matches.
type Runner struct {
	Options
	metrics   *metrics
	health    health
	wake      chan struct{}
	outcomes  chan outcome
	fitter    *fitter
	journal   attempt.Journal
	placement *placement
	player    func(context.Context, *play, attempt.Job) attempt.Result // plays on this machine: playLocal, except in tests

	// The goroutine of Run owns what follows.

	sources  sources
	charges  *charges
	catalog  *catalog
	backoffs backoffs // of ladders, matches and versions that failed
}

// New checks the options and makes a Runner.
func New(o Options) (*Runner, error) {
	if o.Store.Matches == nil || o.Programs == nil {
		return nil, errors.New("runner: Store and Programs are required")
	}
	if o.Host == nil {
		o.Host = soundHost{}
	}
	if o.Fleet == nil {
		o.Fleet = emptyFleet{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Local.Name, o.Local.Local, o.Local.Memory = attempt.Local, true, o.Limits.Room.Total
	r := &Runner{
		Options:   o,
		metrics:   newMetrics(o.Registerer),
		wake:      make(chan struct{}, 1),
		outcomes:  make(chan outcome, maxBatch),
		journal:   attempt.Journal{Log: o.Log},
		placement: newPlacement(),
		backoffs:  backoffs{},
	}
	r.player = r.playLocal
	r.fitter = newFitter(o.Store, o.Ladders, r.metrics.fitSeconds, o.Log)
	r.charges = newCharges(r.placement)
	r.catalog = &catalog{
		store: o.Store, programs: o.Programs, host: o.Host, remotes: o.Remotes, limits: o.Limits, backoffs: r.backoffs,
		versions: map[int64]knownVersion{},
	}
	ladders, err := newLadders(o.Ladders, o.Store, r.catalog, &r.charges.costs)
	if err != nil {
		return nil, err
	}
	w := &waitingMatches{store: o.Store, catalog: r.catalog, placement: r.placement, count: r.metrics.waiting, cancelMatch: r.cancelMatch}
	r.sources = sources{
		placement: r.placement, charges: r.charges,
		interruptedMatches: interruptedMatches{w}, requestedMatches: requestedMatches{waitingMatches: w, turns: map[int64]int{}}, ladders: ladders,
	}
	r.syncMachines()
	return r, nil
}

// Wake makes the runner look for work: a match was requested, or a version was
// submitted. It never blocks.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// Run plays until the context ends. Then no more matches begin; running ones have
// Limits.Grace to finish, and are interrupted after it. Run returns when none is
// left.
func (r *Runner) Run(ctx context.Context) error {
	playing, breakOff := context.WithCancel(context.WithoutCancel(ctx))
	defer breakOff()
	switch err := r.adoptAttempts(ctx); {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return fmt.Errorf("reading the running matches: %w", err)
	}
	r.syncMachines() // their cores are in use
	var fitted sync.WaitGroup
	fitted.Go(func() { r.fitter.run(ctx) })
	defer fitted.Wait()
	var graceOver <-chan time.Time
	var remotesChanged <-chan struct{}
	if r.Remotes != nil {
		remotesChanged = r.Remotes.Changes()
	}
	stop := ctx.Done()
	for {
		now := r.Now()
		if ctx.Err() == nil {
			r.fillCores(ctx, playing)
		}
		left := r.placement.allAssignments()
		if ctx.Err() != nil && len(left) == 0 {
			return nil
		}
		timer := r.timer(now)
		select {
		case <-stop:
			r.health.stop()
			r.Log.Info("stopping", "playing", len(left), "grace", r.Limits.Grace)
			stop = nil
			r.detachAttempts(left)
			graceOver = time.After(r.Limits.Grace)
		case <-graceOver:
			breakOff()
			graceOver = nil
		case o := <-r.outcomes:
			r.finishJob(ctx, o)
			for range len(r.outcomes) { // they come together, and their cores are given out together
				r.finishJob(ctx, <-r.outcomes)
			}
		case <-r.Fleet.Changes():
			r.syncMachines()
		case <-r.wake:
			r.endUnwantedJobs(ctx)
		case <-remotesChanged:
		case <-timer:
		}
	}
}

// detachAttempts leaves the matches on other machines to the next server.
func (r *Runner) detachAttempts(list []*assignment) {
	for _, a := range list {
		if a.play != nil && !a.machine.Local {
			a.end(attempt.ErrDetach)
		}
	}
}

// maxBatch is how many jobs are begun together at most.
const maxBatch = 100

// fillCores gives a job to every free core, as long as there are jobs.
func (r *Runner) fillCores(ctx, playing context.Context) {
	if until := r.health.pausedUntil(); !until.IsZero() {
		if r.Now().Before(until) {
			return
		}
		r.resume(ctx)
	}
	r.countMachines()
	r.reportUnplayable(ctx)
	for ctx.Err() == nil && r.health.pausedUntil().IsZero() {
		list := r.chooseJobs(ctx)
		if len(list) == 0 {
			return
		}
		r.startJobs(ctx, playing, list)
	}
}

// chooseJobs gives jobs to free cores, up to maxStarts.
func (r *Runner) chooseJobs(ctx context.Context) (list []*assignment) {
	for core := range r.placement.freeCores(r.Now()) {
		a, err := r.chooseJob(ctx, core)
		if err != nil {
			if ctx.Err() == nil {
				r.pause(fmt.Errorf("choosing a match: %w", err))
			}
			return list
		}
		if a != nil {
			list = append(list, a)
		}
		if len(list) == maxBatch || !r.health.pausedUntil().IsZero() {
			return list
		}
	}
	return list
}

// chooseJob gives a core its next job. It returns nil if there is none, if it has dropped the job, if memory is saved for
// it, or if a remote version of it has just left.
func (r *Runner) chooseJob(ctx context.Context, core Core) (*assignment, error) {
	c, err := r.sources.nextChoice(ctx, core)
	if c == nil || err != nil {
		return nil, err
	}
	if ok, err := r.admitJob(ctx, core, c.job); !ok {
		return nil, err
	}
	a := r.placement.assign(core, c.job)
	if a == nil {
		return nil, nil
	}
	if m, ok := c.job.(*matchJob); ok && !r.reserveRemotes(m.match) {
		r.placement.release(a)
		r.Wake()
		return nil, nil
	}
	r.sources.recordStart(c)
	r.charges.add(a, c.spare)
	return a, nil
}

// releaseJob takes back what a job was given. took is 0 if the job did not begin.
func (r *Runner) releaseJob(a *assignment, took time.Duration) {
	r.placement.release(a)
	if m, ok := a.job.(*matchJob); ok && !a.isAdopted() {
		r.releaseRemotes(m.match, len(m.match.Versions))
	}
	r.charges.settle(a, took, r.Now())
}

// reserveRemotes reserves the remote versions of a match. It reports false if one of them has just left.
func (r *Runner) reserveRemotes(m *ladder.Match) bool {
	for slot, v := range m.Versions {
		if m.Remote[slot] && !r.Remotes.Reserve(v) {
			r.releaseRemotes(m, slot)
			return false
		}
	}
	return true
}

// releaseRemotes ends the reservations of the first slots of a match.
func (r *Runner) releaseRemotes(m *ladder.Match, slots int) {
	for slot, v := range m.Versions[:slots] {
		if m.Remote[slot] {
			r.Remotes.Release(v)
		}
	}
}

// startJob starts a job on its core.
func (r *Runner) startJob(ctx context.Context, a *assignment) {
	if a.play != nil {
		r.metrics.playing.Inc()
	}
	ctx, a.end = context.WithCancelCause(ctx)
	go func() { r.outcomes <- r.work(ctx, a) }()
}

// finishJob records the end of a job.
func (r *Runner) finishJob(ctx context.Context, o outcome) {
	o.assignment.end(nil)
	r.releaseJob(o.assignment, o.took)
	now := r.Now()
	if o.play != nil {
		r.metrics.playing.Dec()
		switch {
		case len(o.successes) > 0:
			r.placement.recordSuccess(o.machine)
		case o.blamed:
			r.placement.recordFailure(o.machine, now)
		}
	}
	for _, name := range o.successes {
		r.backoffs.reset(name)
	}
	for _, name := range o.failures {
		r.backoffs.recordFailure(name, now)
	}
	if requesterOf(o.job) != 0 || o.play == nil {
		r.endUnwantedJobs(ctx)
	}
}

// timer returns a channel that fires when a pause or a backoff that delayed a job is
// over, and nil if there is none. now is the time before the runner looked for jobs: what has
// ended since then counts.
func (r *Runner) timer(now time.Time) <-chan time.Time {
	next := earliest(earliest(r.backoffs.nextEnd(now), r.placement.pauseEnd(now)), r.sources.ladders.pauseEnd(now))
	if report := r.catalog.nextReportTime(); report.After(now) {
		next = earliest(next, report)
	}
	if until := r.health.pausedUntil(); !until.IsZero() {
		next = until
	}
	if next.IsZero() {
		return nil
	}
	return time.After(max(next.Sub(r.Now()), time.Millisecond))
}

// endUnwantedJobs ends the jobs that nobody wants any more: a match that somebody cancelled, a submission of a
// person who was blocked, what a suspended machine plays. No machine saves memory for such a job.
func (r *Runner) endUnwantedJobs(ctx context.Context) {
	list := r.placement.allAssignments()
	for _, a := range list {
		if r.placement.isSuspended(a.machine) {
			a.end(errSuspended)
		}
	}
	running, err := r.Store.Matches.Running(ctx)
	if err != nil {
		return // as in Job.isCancelled
	}
	goesOn := map[int64]bool{}
	for _, h := range running {
		goesOn[h.Match] = true
	}
	for _, a := range list {
		if a.play != nil && goesOn[a.play.match.ID] {
			continue
		}
		if a.job.isCancelled(ctx, r.Store) { // it has just ended, or is to end
			a.end(errCancelled)
		}
	}
	r.placement.clearAwaitedMemory()
}

// cancelMatch drops a match, and reports false where that cannot be stored.
func (r *Runner) cancelMatch(ctx context.Context, m *ladder.Match, reason phrase.Text) bool {
	err := r.Store.Matches.Cancel(context.WithoutCancel(ctx), m.ID, 0, reason)
	if err != nil && ladder.CodeOf(err) != ladder.Conflict { // it has ended in the meantime
		r.pause(fmt.Errorf("cancelling match %d: %w", m.ID, err))
		return false
	}
	r.logCancelled(m)
	return true
}

// logCancelled counts and logs a match that was dropped.
func (r *Runner) logCancelled(m *ladder.Match) {
	r.metrics.brokenAttempts.WithLabelValues("cancelled").Inc()
	r.Log.Info("match cancelled", "match", m.ID, "ladder", m.Ladder)
}
