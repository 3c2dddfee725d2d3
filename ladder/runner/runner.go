// Package runner plays the matches of a competition: it chooses the next match, its machine and
// its core, hands it to a fleet, publishes the commitment before the match and stores its games after it,
// benches versions that fail repeatedly, and computes the maximum-likelihood fits in
// the background.
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
	"math/rand/v2"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/fleet"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/rules"
)

// Options are the options of a Runner.
type Options struct {
	Store   Store
	Ladders []ladder.Ladder
	// Resolve returns a version as a program that can be started. An error is a
	// failure of the server, never the bot's.
	Resolve func(context.Context, ladder.Version) (match.Bot, error)
	// Remotes are the remote versions; nil: there are none.
	Remotes Remotes
	// Allowance is added to the margin of the clock of a match with a remote version.
	Allowance time.Duration
	// Submit takes a version through its stages, on a core of its own. An error is a
	// failure of the server: the version is tried again. nil: there are no
	// submissions.
	Submit func(ctx context.Context, version int64, core int) error
	// Sandbox is the sandbox of all but house bots; nil: none, for bots that come
	// from nobody else.
	Sandbox *match.Sandbox
	// Pause is the time between two matches of a ladder whose versions all have had
	// ladder.EnoughMatches of them; 0: none.
	Pause time.Duration
	// Idle is the time between two matches of a ladder among house bots alone that have had
	// ladder.EnoughMatches of them; 0: none.
	Idle time.Duration
	// Time is how long a match that somebody asked for may take in all; 0: any time.
	Time time.Duration
	// Share is the part of the workers' time that those matches have while there is
	// other work; 0: half of it.
	Share float64
	// Room is the memory that matches share. A match whose bots do not fit in beside
	// those that play waits, and all that comes after it.
	Room ladder.Room
	// Submission is the memory that the stages of a submission can use.
	Submission int64
	// Standing reports whether a version can be started without a build, which takes
	// the memory of a submission; nil: all can.
	Standing func(ladder.Version) bool
	// Local is the machine of this process. Submissions, matches that somebody asked for and those of
	// remote versions are for it alone.
	Local fleet.Machine
	// Interpreters returns the versions of this machine's interpreters, for people; nil: none.
	Interpreters func() map[string]string
	// Fleet plays matches on other machines, one at a time on each of their cores; nil: there are none.
	Fleet fleet.Fleet
	// Missing returns what a machine lacks that a version needs, "" for nothing. Where that is not known
	// the version is for the machine in this process, which builds it again. nil: all machines can play
	// all.
	Missing func(ladder.Version, fleet.Machine) (lacks string, known bool)
	// Grace is how long running matches may continue when the runner is stopped.
	Grace time.Duration
	// Check returns an error if the server cannot play at all. It is called before
	// play resumes after a failure, and before a version is benched. nil: it always
	// can.
	Check func(context.Context) error

	// Watch, if set, is called when a match begins, and returns who watches it; nil: nobody. A
	// rated match with a remote version is not watched.
	Watch func(*ladder.Match, []ladder.Version) Watcher

	Registerer prometheus.Registerer // of the metrics; nil: nobody sees them
	Log        *slog.Logger          // nil: none
	Now        func() time.Time      // nil: the system's clock
}

// Runner plays matches.
type Runner struct {
	Options
	metrics *metrics
	health  *health
	wake    chan struct{}
	fits    *fitter
	journal fleet.Journal
	roster  roster
	here    func(context.Context, *played, fleet.Job) fleet.Result // playHere, but for tests

	// What follows belongs to the goroutine of Run.

	rand            *rand.Rand
	taken           map[int64]*job               // by job.id, matches and, negative, versions that a core works on
	fresh           map[*job]struct{}            // chosen, and not stored yet
	freshCount      int64                        // below 0
	pools           map[string]*matchmaking.Pool // by ladder, as last seen
	waiting         waiting
	machines        []*machine // the local one first
	restingMachines int        // of them, as they were counted last
	local           *machine   // in this process
	able            abilities
	variants        map[string]*rules.Variant // by ladder
	credit          credit
	backoffs        backoffs // ladders, matches and versions that failed
	turns           turns
	costs           costs
	submitting      map[int64]int64      // the owners of versions that go through their stages
	last            map[string]time.Time // by ladder, when its last match was begun
	idled           map[string]time.Time // by ladder, when its last match among known house bots alone was begun
	quiet           time.Time            // when the first ladder that rests resumes; zero: none rests
}

// New checks the options and makes a Runner.
func New(o Options) (*Runner, error) {
	if o.Store == nil || o.Resolve == nil {
		return nil, errors.New("runner: Store and Resolve are required")
	}
	if o.Fleet == nil {
		o.Fleet = nobody{}
	}
	o.Local.Name, o.Local.Local = fleet.Local, true
	if o.Check == nil {
		o.Check = func(context.Context) error { return nil }
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &Runner{
		Options:  o,
		metrics:  newMetrics(o.Registerer),
		health:   newHealth(),
		wake:     make(chan struct{}, 1),
		fits:     newFitter(),
		rand:     rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
		taken:    map[int64]*job{},
		credit:   credit{share: cmp.Or(o.Share, 0.5)},
		fresh:    map[*job]struct{}{},
		pools:    map[string]*matchmaking.Pool{},
		able:     newAbilities(),
		roster:   newRoster(),
		variants: map[string]*rules.Variant{},
		backoffs: backoffs{},
		last:     map[string]time.Time{},
		idled:    map[string]time.Time{},
		turns:    newTurns(),
		costs:    newCosts(),

		submitting: map[int64]int64{},
	}
	r.journal.Log, r.here = o.Log, r.playHere
	for _, l := range o.Ladders {
		v, err := l.Variant()
		if err == nil {
			_, err = ladder.SlotSides(v, l.Bots)
		}
		if err != nil {
			return nil, err
		}
		r.variants[l.Name] = v
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

// Health reports whether the runner plays, and if not, why.
func (r *Runner) Health() Health { return r.health.state() }

// Run plays until the context ends. Then no more matches begin; running ones have
// Options.Grace to finish, and are interrupted after it. Run returns when none is
// left.
func (r *Runner) Run(ctx context.Context) error {
	playing, breakOff := context.WithCancel(context.WithoutCancel(ctx))
	defer breakOff()
	fitted := r.startFitter(ctx)
	defer func() { <-fitted }()

	ended := make(chan outcome, maxStarts)
	if err := r.await(playing, ended); err != nil {
		return fmt.Errorf("reading the running matches: %w", err)
	}
	r.sync()                  // their cores are in use
	var over <-chan time.Time // the grace
	var came <-chan struct{}
	if r.Remotes != nil {
		came = r.Remotes.Changed()
	}
	stop := ctx.Done()
	for {
		now := r.Now()
		if ctx.Err() == nil {
			r.begin(ctx, playing, ended)
		}
		if ctx.Err() != nil && len(r.taken) == 0 {
			return nil
		}
		timer := r.timer(now)
		select {
		case <-stop:
			r.health.stopped()
			r.Log.Info("stopping", "playing", len(r.taken), "grace", r.Grace)
			stop = nil
			r.stop()
			over = time.After(r.Grace)
		case <-over:
			breakOff()
			over = nil
		case o := <-ended:
			r.take(ctx, o)
			for more := true; more; { // they come together, and their cores are given out together
				select {
				case o := <-ended:
					r.take(ctx, o)
				default:
					more = false
				}
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

// take records the end of a job.
func (r *Runner) take(ctx context.Context, o outcome) {
	r.ended(o)
	if o.asked() || o.match == nil {
		r.recheck(ctx)
	}
}

// stop leaves the matches on other machines to the next server.
func (r *Runner) stop() {
	for _, j := range r.taken {
		if j.awaited || !j.local {
			j.end(fleet.ErrDetach)
		}
	}
}

// maxStarts is how many jobs are begun together at most.
const maxStarts = 100

// begin gives a job to every free core, as long as there are jobs.
func (r *Runner) begin(ctx, playing context.Context, ended chan<- outcome) {
	if h := r.health.state(); !h.OK {
		if r.Now().Before(h.Until) {
			return
		}
		r.resume(ctx)
	}
	if r.restingMachines > 0 {
		r.countMachines()
	}
	var jobs []*job
	for more := true; more && ctx.Err() == nil; jobs = jobs[:0] {
		more = false
		for _, m := range r.machines {
			n := len(jobs)
			jobs = r.choosesFor(ctx, m, jobs)
			more = more || len(jobs) > n
		}
		r.beginAll(ctx, playing, jobs, ended)
	}
}

// choosesFor appends jobs for the free cores of a machine, up to maxStarts in all.
func (r *Runner) choosesFor(ctx context.Context, m *machine, jobs []*job) []*job {
	for m.gets() && !r.rests(m) && len(m.used) < r.most(m) && len(m.free) > 0 && len(jobs) < maxStarts && r.health.state().OK {
		j, err := m.memory.next(func() (*job, int64, error) { return r.next(ctx, m) })
		if err != nil {
			if ctx.Err() == nil {
				r.pause(fmt.Errorf("choosing a match: %w", err))
			}
			return jobs
		}
		if j == nil {
			return jobs
		}
		r.assign(m, j)
		jobs = append(jobs, j)
	}
	return jobs
}

// assign gives a job a free core.
func (r *Runner) assign(m *machine, j *job) {
	j.machine, j.local, j.core, j.began = m, m.Local, m.take(), r.Now()
	if j.match == nil {
		r.submitting[j.version] = j.owner
	}
	if j.asNew == nil {
		r.taken[j.id()] = j
	}
}

// start begins a job on its core.
func (r *Runner) start(ctx, playing context.Context, j *job, ended chan<- outcome) {
	under := playing
	switch {
	case j.match == nil:
		under = ctx // a submission begins again at the next start
	case !j.local:
		under = context.WithoutCancel(ctx) // see stop
	}
	r.launch(under, j, ended)
}

// launch starts the goroutine of a job.
func (r *Runner) launch(ctx context.Context, j *job, ended chan<- outcome) {
	if j.match != nil {
		r.health.playing(1)
		r.metrics.playing.Inc()
	}
	r.taken[j.id()] = j
	ctx, j.end = context.WithCancelCause(ctx)
	go func() { ended <- r.work(ctx, j) }()
}

// job is one thing to do on a core: a match, or a version's stages.
type job struct {
	match     *ladder.Match
	version   int64
	owner     int64             // of the version
	charged   float64           // to what it costs; see costs
	rotations int               // of a match, that play together
	memory    int64             // that it has reserved
	spare     bool              // there was nothing else to do
	asNew     *store.NewMatch   // of a match that is not stored yet
	versions  []ladder.Version  // of such a match, by slot
	pool      *matchmaking.Pool // which knows of it while it is not stored
	inPool    int64             // the number of the match there
	// What follows is set once it has begun.
	local       bool     // the machine is that in the server's process
	machine     *machine // nil for an awaited attempt whose machine is not there
	machineName string   // of an awaited attempt
	awaited     bool     // an earlier server has begun it
	attempt     ladder.Attempt
	seed        rules.Seed
	core        int
	began       time.Time
	end         context.CancelCauseFunc
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

// id returns the key of a job in Runner.taken.
func (j *job) id() int64 {
	if j.match != nil {
		return j.match.ID
	}
	return -j.version
}

// outcome is how a job ended.
type outcome struct {
	*job
	took  time.Duration // 0 when it was not begun
	again []string      // what failed and gets a backoff
	fine  []string      // what worked
}

func (r *Runner) work(ctx context.Context, j *job) outcome {
	o := outcome{job: j}
	if j.match != nil {
		r.play(ctx, &o)
	} else {
		r.submit(ctx, &o)
	}
	return o
}

// ended records the end of a job.
func (r *Runner) ended(o outcome) {
	r.release(o)
	r.letGo(o.job)
	delete(r.taken, o.id())
	o.end(nil)
	if o.machine != nil {
		o.machine.memory.release(o.memory)
	}
	if o.match == nil {
		delete(r.submitting, o.version)
	} else {
		r.health.playing(-1)
		r.metrics.playing.Dec()
	}
	now := r.Now()
	r.costs.fade(now)
	r.costs.ended(o.ladder(), o.charged, o.took)
	r.count(o.job)
	for _, name := range o.fine {
		r.backoffs.worked(name)
	}
	for _, name := range o.again {
		machine := o.attempt.Machine
		switch {
		case name != machineName(machine):
			r.backoffs.failed(name, now)
		case !r.backoffs.active(name, now): // several that fail together count once
			r.roster.rests(machine, r.backoffs.failed(name, now))
		}
	}
	if len(o.again) > 0 {
		r.countMachines()
	}
}

// timer returns a channel that fires when a pause or a backoff that delayed a job is
// over; nil for none. now is the time before the runner looked for jobs: what has
// ended since then counts.
func (r *Runner) timer(now time.Time) <-chan time.Time {
	next := r.backoffs.next(now)
	if r.quiet.After(now) && (next.IsZero() || r.quiet.Before(next)) {
		next = r.quiet
	}
	if h := r.health.state(); !h.OK && !h.Stopped {
		next = h.Until
	}
	if next.IsZero() {
		return nil
	}
	return time.After(max(next.Sub(r.Now()), time.Millisecond))
}
