// Package runner plays the matches of a competition: it decides what is played
// next, on which core, publishes the commitment before a match and keeps its
// games after it, benches versions that fail again and again, and computes the
// maximum-likelihood fits in the background.
//
// Each match has a core that it shares with nothing else; submissions borrow one.
// Nothing is ever asked for by looking again and again: the runner sleeps until a
// match ends or somebody calls Wake.
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
	"github.com/timba-arena/timba/referee"
)

// Options are what a Runner works with.
type Options struct {
	Store   Store
	Ladders []ladder.LadderConfig
	// Resolve gives a version as a program that can be started. An error is a
	// failure of the server's own, never the bot's.
	Resolve func(context.Context, ladder.Version) (referee.Bot, error)
	// Submit takes a version through its stages, on a core that is its own
	// meanwhile. An error is a failure of the server's own: the version is tried
	// again. nil: there are no submissions.
	Submit func(ctx context.Context, version int64, core int) error
	// Hold is how bots are held that are not of the house; nil: not at all, which
	// is for bots that nobody submitted from outside.
	Hold *referee.Hold
	// Pause is the time between two matches of a ladder whose versions all have had
	// ladder.Settled of them; 0: none.
	Pause time.Duration
	// Cores are where matches are played, one at a time on each; referee.AnyCore
	// where this system does not bind programs to cores.
	Cores []int
	// Grace is how long running matches may go on when the runner is stopped.
	Grace time.Duration
	// Check tells whether the server can play at all: it is asked before it goes on
	// after a failure, and before a version is benched. nil: it always can.
	Check func(context.Context) error

	Registerer prometheus.Registerer // of the metrics; nil: nobody sees them
	Log        *slog.Logger          // nil: none
	Now        func() time.Time      // nil: the system's clock
}

// Runner plays matches.
type Runner struct {
	Options
	metrics *metrics
	hub     hub
	health  *health
	wake    chan struct{}
	fits    *fitter

	// What follows belongs to the goroutine of Run.

	rand       *rand.Rand
	taken      map[int64]bool // matches and, negative, versions that somebody works on
	rests      rests          // ladders, matches and versions that failed
	turns      turns
	costs      costs
	submitting bool
	last       map[string]time.Time // by ladder, when its last match was begun
	quiet      time.Time            // when the first ladder that pauses goes on; zero: none does
}

// New checks the options and makes a Runner.
func New(o Options) (*Runner, error) {
	switch {
	case o.Store == nil || o.Resolve == nil:
		return nil, errors.New("runner: there is no store or nothing that resolves versions")
	case len(o.Cores) == 0:
		return nil, errors.New("runner: workers cannot be 0: try 1 or more")
	}
	if o.Check == nil {
		o.Check = func(context.Context) error { return nil }
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &Runner{
		Options: o,
		metrics: newMetrics(o.Registerer),
		health:  newHealth(len(o.Cores)),
		wake:    make(chan struct{}, 1),
		fits:    newFitter(),
		rand:    rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
		taken:   map[int64]bool{},
		rests:   rests{},
		last:    map[string]time.Time{},
		turns:   newTurns(),
		costs:   newCosts(),
	}
	r.metrics.workers.Set(float64(len(o.Cores)))
	return r, nil
}

// Wake makes the runner look for something to do: somebody has asked for a match,
// or submitted a version. It never waits.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// Health tells whether the runner plays, and if not, why.
func (r *Runner) Health() Health { return r.health.state() }

// Subscribe gives what happens from now on, at most n events that have not been
// taken, and what ends it. The channel is closed at the end, by then or when the
// runner stops.
func (r *Runner) Subscribe(n int) (<-chan Event, func()) { return r.hub.subscribe(n) }

// Run plays until the context ends. Then no more matches are begun; those that
// run have the grace to finish, and are broken off after it. It returns when none
// is left.
func (r *Runner) Run(ctx context.Context) error {
	defer r.hub.close()
	playing, breakOff := context.WithCancel(context.WithoutCancel(ctx))
	defer breakOff()
	fitted := r.startFitter(ctx)
	defer func() { <-fitted }()

	free := append([]int{}, r.Cores...)
	ended := make(chan outcome)
	var over <-chan time.Time // the grace
	stop := ctx.Done()
	for {
		now := r.Now()
		if ctx.Err() == nil {
			free = r.begin(ctx, playing, free, ended)
		}
		if ctx.Err() != nil && len(free) == len(r.Cores) {
			return nil
		}
		timer := r.timer(now)
		select {
		case <-stop:
			r.health.stopped()
			r.Log.Info("stopping", "playing", len(r.Cores)-len(free), "grace", r.Grace)
			stop = nil
			over = time.After(r.Grace)
		case <-over:
			breakOff()
			over = nil
		case o := <-ended:
			free = append(free, o.core)
			r.ended(o)
		case <-r.wake:
		case <-timer:
		}
	}
}

// begin gives every free core something to do, as far as there is something, and
// returns those that stay free.
func (r *Runner) begin(ctx, playing context.Context, free []int, ended chan<- outcome) []int {
	if h := r.health.state(); !h.OK {
		if r.Now().Before(h.Until) {
			return free
		}
		r.resume(ctx)
	}
	for len(free) > 0 && r.health.state().OK {
		j, err := r.next(ctx)
		if err != nil {
			if ctx.Err() == nil {
				r.pause(fmt.Errorf("choosing a match: %w", err))
			}
			return free
		}
		if j == nil {
			return free
		}
		core := free[len(free)-1]
		free = free[:len(free)-1]
		r.taken[j.id()] = true
		under := playing
		if j.match == nil {
			r.submitting = true
			under = ctx // a submission begins again at the next start
		} else {
			r.health.playing(1)
			r.metrics.playing.Inc()
		}
		go func() { ended <- r.work(under, j, core) }()
	}
	return free
}

// job is one thing to do on a core: a match, or a version's stages.
type job struct {
	match   *ladder.Match
	version int64
	charged float64 // to the match's ladder; see costs
}

// id tells jobs apart: matches have positive ones.
func (j *job) id() int64 {
	if j.match != nil {
		return j.match.ID
	}
	return -j.version
}

// outcome is how a job ended.
type outcome struct {
	*job
	core  int
	took  time.Duration // of a match, 0 when it was not begun
	again []string      // what to leave alone for a while, since it failed
	fine  []string      // what worked
}

func (r *Runner) work(ctx context.Context, j *job, core int) outcome {
	o := outcome{job: j, core: core}
	if j.match != nil {
		r.play(ctx, &o)
	} else {
		r.submit(ctx, &o)
	}
	return o
}

// ended takes note of a job's end.
func (r *Runner) ended(o outcome) {
	delete(r.taken, o.id())
	if o.match == nil {
		r.submitting = false
	} else {
		r.health.playing(-1)
		r.metrics.playing.Dec()
	}
	now := r.Now()
	if o.match != nil && o.match.Rated {
		r.costs.fade(now)
		r.costs.ended(o.match.Ladder, o.charged, o.took)
	}
	for _, name := range o.fine {
		r.rests.worked(name)
	}
	for _, name := range o.again {
		r.rests.failed(name, now)
	}
}

// timer fires when a pause or a rest is over that held something up; nil when
// there is none. now is from before it was looked for: what has ended since then
// counts.
func (r *Runner) timer(now time.Time) <-chan time.Time {
	next := r.rests.next(now)
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
