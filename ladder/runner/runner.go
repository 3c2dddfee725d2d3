// Package runner plays the matches of a competition. For each free core it chooses a job: a match, the stages
// that an uploaded version must pass, or a test of a bot that a person is editing (try-out). It publishes the
// commitment of a match (a hash of its seed) before the match and stores its games after it. It suspends versions
// that fail repeatedly, and computes the maximum-likelihood ratings in the background.
//
// Each job has a core of its own. The runner never polls: it sleeps until a job ends, a timer fires or Wake is
// called. Begin with Run; sources.go has the order of jobs and placement.go the machines.
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

// Options are the parts of a Runner and its limits. Programs and all fields of Store are required.
type Options struct {
	Store    Store
	Ladders  []ladder.Ladder
	Limits   Limits
	Programs Programs
	// Local describes the machine of this process. Some jobs run only on this machine: submissions, try-outs, unrated
	// matches, and matches with remote versions, which run on their owners' machines.
	Local attempt.WorkerInfo
	// Host answers questions about the machine of this process. If Host is nil, the machine can always play.
	Host Host
	// Remotes has the versions that run on their owners' machines and are connected. If Remotes is nil, there are none.
	Remotes Remotes
	// Fleet plays matches on other machines. If Fleet is nil, this machine is the only one.
	Fleet Fleet
	// Watch is called when a match starts on this machine, except for a rated match with a remote version. It returns
	// two functions, which must not block: position is called with each position of the match, and end at the end of
	// the match. If nobody may watch the match, position is nil. If Watch is nil, nobody can watch any match.
	Watch      func(*ladder.Match) (position func(*referee.Game), end func())
	Registerer prometheus.Registerer // registers the metrics; if it is nil, they are not published
	Log        *slog.Logger          // if it is nil, nothing is logged
	Now        func() time.Time      // if it is nil, time.Now is used
}

// Limits are the limits of memory and time for matches. A zero duration means no limit or no pause, except
// for Grace.
type Limits struct {
	// Room is the memory that all matches on this machine share. Its field Bot, the limit for one bot, applies on
	// every machine. If the next match needs more memory than is free, that match and all jobs after it wait. A
	// requested match does not hold up other jobs while another requested match is running.
	Room ladder.MemoryBudget
	// BuildMemory is the memory, in bytes, that building or checking an uploaded version can use.
	BuildMemory int64
	// Time is the longest time that a requested match may take. What counts is the duration of its earlier attempts
	// and, in the present one, the time that the bots themselves use.
	Time time.Duration
	// Allowance is added to the margin of the clock in a match with a remote version, which plays over the network.
	Allowance time.Duration
	// Pause is the shortest time between the starts of two matches of a ladder. It holds only while every version
	// that can play has had at least ladder.EnoughMatches matches.
	Pause time.Duration
	// Idle is the shortest time between the starts of two matches of a ladder in which only house bots play, the
	// bots that are part of timba. It holds for matches whose bots have all had at least ladder.EnoughMatches
	// matches.
	Idle time.Duration
	// Grace is how long matches on this machine may continue after the runner is stopped.
	Grace time.Duration
}

// Runner plays the matches of a competition. The fields sources, charges, catalog and backoffs are used only by the
// goroutine that calls Run.
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

	sources  sources
	charges  *charges
	catalog  *catalog
	backoffs backoffs // of ladders, matches and versions that failed
}

// New returns a Runner with the options o, or an error if o is not valid.
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
		versions: map[int64]cachedVersion{},
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

// Wake makes the runner look for work, for example after a match was requested or a version was submitted. It
// never blocks.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default: // a wake-up is pending
	}
}

// Run plays matches until ctx ends. Then it starts no more jobs, and leaves matches on other machines to the next
// server. It interrupts submissions and try-outs at once, and the matches on this machine after Limits.Grace. It
// returns when all jobs on this machine have ended. Run must be called only once.
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
			r.Log.Info("stopping", "playing", len(left), "grace_ms", r.Limits.Grace.Milliseconds())
			stop = nil
			r.detachAttempts(left)
			graceOver = time.After(r.Limits.Grace)
		case <-graceOver:
			breakOff()
			graceOver = nil
		case o := <-r.outcomes:
			r.finishJob(ctx, o)
			for range len(r.outcomes) { // take all that have ended, to fill their cores together
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

// detachAttempts makes the runner stop waiting for the matches in list that are played by other machines. These
// matches go on, and the next server process waits for their results.
func (r *Runner) detachAttempts(list []*assignment) {
	for _, a := range list {
		if a.play != nil && !a.machine.Local {
			a.end(attempt.ErrDetach)
		}
	}
}

// maxBatch is the largest number of jobs that are chosen at a time. Matches that are chosen together are started in
// one transaction.
const maxBatch = 100

// fillCores gives jobs to free cores until there are no more jobs or no more cores. playing is the context of matches
// on this machine, which ends Limits.Grace after ctx.
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

// chooseJobs assigns jobs to at most maxBatch free cores, without starting them.
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

// chooseJob assigns the next job to core. It returns nil if core gets no job this time: no job is waiting, the chosen
// match was cancelled, the job needs more memory than is free now, or a remote version (a bot that runs on its
// owner's machine) has just disconnected.
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

// releaseJob frees the core and the memory of a job, and ends its reservations of remote versions. took is the
// job's duration, or 0 if it did not start.
func (r *Runner) releaseJob(a *assignment, took time.Duration) {
	r.placement.release(a)
	if m, ok := a.job.(*matchJob); ok && !a.isAdopted() {
		r.releaseRemotes(m.match, len(m.match.Versions))
	}
	r.charges.settle(a, took, r.Now())
}

// reserveRemotes reserves the remote versions (on their owners' machines) that play in m; see Remotes.Reserve. If
// one of them has just disconnected, it reserves none and returns false.
func (r *Runner) reserveRemotes(m *ladder.Match) bool {
	for slot, v := range m.Versions {
		if m.Remote[slot] && !r.Remotes.Reserve(v) {
			r.releaseRemotes(m, slot)
			return false
		}
	}
	return true
}

// releaseRemotes ends the reservations of the remote versions (on their owners' machines) in m.Versions[:slots].
func (r *Runner) releaseRemotes(m *ladder.Match, slots int) {
	for slot, v := range m.Versions[:slots] {
		if m.Remote[slot] {
			r.Remotes.Release(v)
		}
	}
}

// startJob starts a job in a goroutine, which sends its outcome to r.outcomes.
func (r *Runner) startJob(ctx context.Context, a *assignment) {
	if a.play != nil {
		r.metrics.playing.Inc()
	}
	ctx, a.end = context.WithCancelCause(ctx)
	go func() { r.outcomes <- r.work(ctx, a) }()
}

// finishJob records how a job ended, and frees its core and memory.
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

// timer returns a channel that fires when the next pause or backoff ends, or nil if there is none. now is a time
// before the runner last looked for jobs, so that the timer also fires for a pause that has ended since then.
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

// endUnwantedJobs ends the jobs of cancelled matches and submissions, and the jobs of suspended machines. It also
// lets each machine that waits for memory choose its next job again.
func (r *Runner) endUnwantedJobs(ctx context.Context) {
	list := r.placement.allAssignments()
	for _, a := range list {
		if r.placement.isSuspended(a.machine) {
			a.end(errSuspended)
		}
	}
	running, err := r.Store.Matches.ListRunning(ctx)
	if err != nil {
		return // the jobs end by themselves
	}
	isRunning := map[int64]bool{}
	for _, h := range running {
		isRunning[h.Match] = true
	}
	for _, a := range list {
		if a.play != nil && isRunning[a.play.match.ID] {
			continue
		}
		if a.job.isCancelled(ctx, r.Store) { // else it has just finished
			a.end(errCancelled)
		}
	}
	r.placement.clearAwaitedMemory()
}

// cancelMatch drops a match for the given reason. It returns false if the store fails.
func (r *Runner) cancelMatch(ctx context.Context, m *ladder.Match, reason phrase.Text) bool {
	err := r.Store.Matches.Cancel(context.WithoutCancel(ctx), m.ID, 0, reason)
	if err != nil && ladder.CodeOf(err) != ladder.Conflict { // it has ended in the meantime
		r.pause(fmt.Errorf("cancelling match %d: %w", m.ID, err))
		return false
	}
	r.logCancelled(m)
	return true
}

func (r *Runner) logCancelled(m *ladder.Match) {
	r.metrics.brokenAttempts.WithLabelValues("cancelled").Inc()
	r.Log.Info("match cancelled", "match", m.ID, "ladder", m.Ladder)
}
