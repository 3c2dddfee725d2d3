// Package runner plays the matches of a competition: for each free core it chooses what is played next
// (sources.go and ladders.go decide that, placement.go where), hands it to its machine, publishes the
// commitment before the match and stores its games after it, suspends versions that fail repeatedly, and
// computes the maximum-likelihood fits in the background.
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
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/rules"
)

// Options are the options of a Runner.
type Options struct {
	Store   Store
	Ladders []ladder.Ladder
	// Resolve returns a version as a program that can be started, in its sandbox. An error
	// is a failure of the server, never the bot's.
	Resolve func(context.Context, ladder.Version) (match.Bot, error)
	// Remotes are the remote versions; nil: there are none.
	Remotes Remotes
	// Allowance is added to the margin of the clock of a match with a remote version.
	Allowance time.Duration
	// Submit takes a version through its stages, on a core of its own. An error is a
	// failure of the server: the version is tried again. nil: there are no
	// submissions.
	Submit func(ctx context.Context, version int64, core int) error
	// Tryout returns a bot that waits to be tested, whose owner is none of some; nil: there is none. It has a core of
	// its own as a submission has. nil: there are no tryouts.
	Tryout func(busy []int64) *Tryout
	// Sandbox is the sandbox of all but house bots, to tell what went wrong in it; nil: none, for bots that
	// come from nobody else.
	Sandbox *match.Sandbox
	// Pause is the time between two matches of a ladder whose versions all have had
	// ladder.EnoughMatches of them; 0: none.
	Pause time.Duration
	// Idle is the time between two matches of a ladder among house bots alone that have had
	// ladder.EnoughMatches of them; 0: none.
	Idle time.Duration
	// Time is how long a match that somebody asked for may take in all; 0: any time.
	Time time.Duration
	// Room is the memory that matches share. A match whose bots do not fit in beside
	// those that play waits, and all that comes after it.
	Room ladder.Room
	// Submission is the memory that the stages of a submission can use.
	Submission int64
	// Standing reports whether a version can be started without a build, which takes
	// the memory of a submission, on this machine; nil: all can.
	Standing func(ladder.Version) bool
	// Local is the machine of this process. Submissions, matches that somebody asked for and those of
	// remote versions are for it alone.
	Local attempt.Machine
	// Interpreters returns the versions of this machine's interpreters, for people; nil: none.
	Interpreters func() map[string]string
	// Fleet plays matches on other machines, one at a time on each of their cores; nil: there are none.
	Fleet Fleet
	// Finds reports whether this machine has an interpreter; nil: it has those that Local tells of.
	Finds func(name string) bool
	// Grace is how long running matches may continue when the runner is stopped.
	Grace time.Duration
	// Check returns an error if the server cannot play at all. It is called before
	// play resumes after a failure, and before a version is suspended. nil: it always
	// can.
	Check func(context.Context) error

	// Watch, if set, is called when a match begins, and returns what is called with each position, and when no more
	// come; nil: nobody watches it. Neither may make the match wait. A rated match with a remote version is not watched.
	Watch func(*ladder.Match) (position func(*referee.Game), end func())

	Registerer prometheus.Registerer // of the metrics; nil: nobody sees them
	Log        *slog.Logger          // nil: none
	Now        func() time.Time      // nil: the system's clock
}

// Tryout is a bot that is tested before it is submitted.
type Tryout struct {
	Owner  int64
	Memory int64 // that it needs
	Run    func(ctx context.Context, core int)
}

// Runner plays matches.
type Runner struct {
	Options
	metrics *metrics
	health  health
	wake    chan struct{}
	ended   chan outcome
	fits    *fitter
	journal attempt.Journal
	here    func(context.Context, *outcome, attempt.Job) attempt.Result // playHere, but for tests

	// What follows belongs to the goroutine of Run, but for what placement says.

	placement   *placement
	submissions submissions // the sources of what is played next
	waiting     waiting
	ladders     ladders
	able        abilities
	backoffs    backoffs // ladders, matches and versions that failed
}

// New checks the options and makes a Runner.
func New(o Options) (*Runner, error) {
	if o.Store == nil || o.Resolve == nil {
		return nil, errors.New("runner: Store and Resolve are required")
	}
	if o.Fleet == nil {
		o.Fleet = nobody{}
	}
	o.Local.Name, o.Local.Local, o.Local.Memory = attempt.Local, true, o.Room.Total
	if o.Standing == nil {
		o.Standing = func(ladder.Version) bool { return true }
	}
	if o.Finds == nil {
		o.Finds = func(string) bool { return false }
	}
	if o.Check == nil {
		o.Check = func(context.Context) error { return nil }
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &Runner{
		Options:   o,
		metrics:   newMetrics(o.Registerer),
		wake:      make(chan struct{}, 1),
		ended:     make(chan outcome, maxStarts),
		placement: newPlacement(),
		able:      abilities{versions: map[int64]remembered{}},
		backoffs:  backoffs{},
	}
	r.journal.Log, r.here = o.Log, r.playHere
	r.submissions = submissions{Runner: r}
	r.waiting = waiting{Runner: r, credit: credit{share: ladder.UnratedShare / 100.0}, served: map[int64]int{}}
	r.ladders = newLadders(r)
	r.fits = newFitter(r)
	for _, l := range o.Ladders {
		v, err := l.Variant()
		if err == nil {
			_, err = ladder.SlotSides(v, l.Bots)
		}
		if err != nil {
			return nil, err
		}
		r.ladders.variants[l.Name] = v
	}
	r.sync()
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
// Options.Grace to finish, and are interrupted after it. Run returns when none is
// left.
func (r *Runner) Run(ctx context.Context) error {
	playing, breakOff := context.WithCancel(context.WithoutCancel(ctx))
	defer breakOff()
	switch err := r.adopt(ctx); {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return fmt.Errorf("reading the running matches: %w", err)
	}
	r.sync() // their cores are in use
	var fitted sync.WaitGroup
	fitted.Go(func() { r.fits.run(ctx) })
	defer fitted.Wait()
	var over <-chan time.Time // the grace
	var came <-chan struct{}
	if r.Remotes != nil {
		came = r.Remotes.Changed()
	}
	stop := ctx.Done()
	for {
		now := r.Now()
		if ctx.Err() == nil {
			r.begin(ctx, playing)
		}
		if ctx.Err() != nil && len(r.placement.jobs) == 0 {
			return nil
		}
		timer := r.timer(now)
		select {
		case <-stop:
			r.health.stop()
			r.Log.Info("stopping", "playing", len(r.placement.jobs), "grace", r.Grace)
			stop = nil
			r.stop()
			over = time.After(r.Grace)
		case <-over:
			breakOff()
			over = nil
		case o := <-r.ended:
			r.end(ctx, o)
			for range len(r.ended) { // they come together, and their cores are given out together
				r.end(ctx, <-r.ended)
			}
		case <-r.Fleet.Changed():
			r.sync()
		case <-r.wake:
			r.recheck(ctx)
		case <-came:
		case <-timer:
		}
	}
}

// stop leaves the matches on other machines to the next server.
func (r *Runner) stop() {
	for _, j := range r.placement.jobs {
		if j.match != nil && !j.machine.Local {
			j.end(attempt.ErrDetach)
		}
	}
}

// sync takes in what machines there are.
func (r *Runner) sync() {
	come, left := r.placement.sync(append(r.Fleet.Machines(), r.Local))
	for _, m := range come {
		r.Log.Info("a machine has come", "machine", m.Name, "cores", len(m.Cores), "version", m.Version, "refused", m.Refused)
	}
	for _, m := range left {
		r.Log.Info("a machine has left", "machine", m.Name)
	}
}

// maxStarts is how many jobs are begun together at most.
const maxStarts = 100

// begin gives a job to every free core, as long as there are jobs.
func (r *Runner) begin(ctx, playing context.Context) {
	if until := r.health.pausedUntil(); !until.IsZero() {
		if r.Now().Before(until) {
			return
		}
		r.resume(ctx)
	}
	r.countMachines()
	r.tellUnplayable(ctx)
	for ctx.Err() == nil && r.health.pausedUntil().IsZero() {
		jobs := r.choose(ctx)
		if len(jobs) == 0 {
			return
		}
		r.beginAll(ctx, playing, jobs)
	}
}

// choose gives jobs to free cores, up to maxStarts.
func (r *Runner) choose(ctx context.Context) (jobs []*job) {
	for at := range r.placement.freeCores(r.Now()) {
		j, err := r.next(ctx, at)
		if err != nil {
			if ctx.Err() == nil {
				r.pause(fmt.Errorf("choosing a match: %w", err))
			}
			return jobs
		}
		if j != nil && r.take(at, j) {
			jobs = append(jobs, j)
		}
		if len(jobs) == maxStarts || !r.health.pausedUntil().IsZero() {
			return jobs
		}
	}
	return jobs
}

// take gives a job its core. It reports false where memory is saved for it, or a remote version has just
// left.
func (r *Runner) take(at freeCore, j *job) bool {
	if !r.placement.take(at, j) {
		return false
	}
	if j.match != nil && !r.reserve(j.match) {
		r.placement.release(j)
		r.Wake()
		return false
	}
	r.began(j, at.now)
	return true
}

// giveBack takes back what a job was given; took is 0 for one that did not begin.
func (r *Runner) giveBack(j *job, took time.Duration) {
	r.placement.release(j)
	if j.match != nil && !j.awaited {
		r.release(j.match, len(j.match.Versions))
	}
	now := r.Now()
	r.waiting.ended(j, now)
	r.ladders.ended(j, took, now)
}

// start starts a job on its core.
func (r *Runner) start(ctx context.Context, j *job) {
	if j.match != nil {
		r.metrics.playing.Inc()
	}
	ctx, j.end = context.WithCancelCause(ctx)
	go func() { r.ended <- r.work(ctx, j) }()
}

// end records the end of a job.
func (r *Runner) end(ctx context.Context, o outcome) {
	o.job.end(nil)
	r.giveBack(o.job, o.took)
	now := r.Now()
	if o.match != nil {
		r.metrics.playing.Dec()
		switch {
		case len(o.fine) > 0:
			r.placement.worked(o.machine)
		case o.blamed:
			r.placement.failed(o.machine, now)
		}
	}
	for _, name := range o.fine {
		r.backoffs.worked(name)
	}
	for _, name := range o.again {
		r.backoffs.failed(name, now)
	}
	if o.asked() || o.match == nil {
		r.recheck(ctx)
	}
}

// countMachines counts the machines by their state.
func (r *Runner) countMachines() {
	states, cores := r.placement.count(r.Now())
	for _, state := range ladder.MachineStates() {
		if state != ladder.MachineAway {
			r.metrics.machines.WithLabelValues(string(state)).Set(float64(states[state]))
		}
	}
	r.metrics.workers.Set(float64(cores))
}

// timer returns a channel that fires when a pause or a backoff that delayed a job is
// over; nil for none. now is the time before the runner looked for jobs: what has
// ended since then counts.
func (r *Runner) timer(now time.Time) <-chan time.Time {
	next := earliest(earliest(r.backoffs.next(now), r.placement.pausesUntil(now)), r.ladders.pausesUntil(now))
	if at := r.able.looksAgain(); at.After(now) {
		next = earliest(next, at)
	}
	if until := r.health.pausedUntil(); !until.IsZero() {
		next = until
	}
	if next.IsZero() {
		return nil
	}
	return time.After(max(next.Sub(r.Now()), time.Millisecond))
}

// job is one thing to do on a core: a match, a version's stages, or a tryout.
type job struct {
	match     *ladder.Match
	version   int64
	owner     int64             // of the version, or of the tryout
	tryout    *Tryout           // in place of a version, which is a number of the tryout alone
	rotations int               // of a match, that play together
	memory    int64             // that it needs
	spare     bool              // there was nothing else to do
	asNew     *store.NewMatch   // of a match that is not stored before it begins; so is what follows
	idle      bool              // it is among known house bots alone
	pool      *matchmaking.Pool // which knows of it while it is not stored
	inPool    int64             // the number of the match there
	// What follows is set when it has a core.
	machine *machine
	core    int
	began   time.Time
	charged float64 // to what it costs; see costs
	// What follows is set once it has begun.
	awaited bool // an earlier server has begun it
	attempt ladder.Attempt
	seed    rules.Seed
	end     context.CancelCauseFunc

	versions []ladder.Version // of a match, by slot; known at first if it is not stored
}

// asked reports whether it is a match that somebody asked for.
func (j *job) asked() bool { return j.match != nil && j.match.AskedBy != 0 }

// ladder returns that of a rated match, "" of anything else.
func (j *job) ladder() string {
	if j.match == nil {
		return ""
	}
	return j.match.Ladder
}

// id returns the key of a job in placement.jobs.
func (j *job) id() int64 {
	if j.match != nil {
		return j.match.ID
	}
	return -j.version
}

// outcome is how a job ended.
type outcome struct {
	*job
	took   time.Duration // 0 when it was not begun
	games  []*referee.Result
	fine   []string // what worked
	again  []string // what failed and gets a backoff
	blamed bool     // so does its machine
}

func (r *Runner) work(ctx context.Context, j *job) outcome {
	o := outcome{job: j}
	if j.match != nil {
		r.play(ctx, &o)
		return o
	}
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	if err := cores.Bind(j.core); err != nil {
		r.pause(err)
		return o
	}
	began := time.Now()
	var err error
	if j.tryout != nil {
		j.tryout.Run(ctx, j.core)
	} else {
		err = r.Submit(ctx, j.version, j.core)
	}
	if o.took = time.Since(began); j.tryout == nil {
		r.submitted(ctx, &o, err)
	}
	return o
}

// recheck ends what is played and is not wanted any more: a match that somebody cancelled, a submission of a
// person who was blocked, what a suspended machine plays. No machine saves memory for such.
func (r *Runner) recheck(ctx context.Context) {
	for _, j := range r.placement.suspended() {
		j.end(errSuspended)
	}
	running, err := r.Store.Running(ctx)
	if err != nil {
		return // as in cancelled
	}
	goesOn := map[int64]bool{}
	for _, h := range running {
		goesOn[h.Match] = true
	}
	for id, j := range r.placement.jobs {
		if !goesOn[id] && r.cancelled(ctx, j) { // it has just ended, or is to end
			j.end(errCancelled)
		}
	}
	r.placement.saveNothing()
}

// cancelled reports whether a job has been cancelled. Where that cannot be read it has
// not been: the job comes to an end by itself.
func (r *Runner) cancelled(ctx context.Context, j *job) bool {
	if j.tryout != nil {
		return false // who has it cancels it
	}
	if j.match == nil {
		v, err := r.Store.Version(ctx, j.version)
		return err == nil && v.State == ladder.Failed
	}
	m, err := r.Store.Match(ctx, j.match.ID)
	return err == nil && m.State == ladder.Dropped
}

// cancel drops a match, and reports false where that cannot be stored.
func (r *Runner) cancel(ctx context.Context, m *ladder.Match, reason string) bool {
	err := r.Store.CancelMatch(context.WithoutCancel(ctx), m.ID, 0, reason)
	if err != nil && ladder.CodeOf(err) != ladder.Conflict { // it has ended in the meantime
		r.pause(fmt.Errorf("cancelling match %d: %w", m.ID, err))
		return false
	}
	r.tellCancelled(m)
	return true
}

// tellCancelled tells of a match that was dropped.
func (r *Runner) tellCancelled(m *ladder.Match) {
	r.metrics.broken.WithLabelValues("cancelled").Inc()
	r.Log.Info("match cancelled", "match", m.ID, "ladder", m.Ladder)
}
