package runner

import (
	"context"
	"runtime"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/rules"
)

// Job is work for one core. It is a match, the check of an uploaded version, or a test of a bot that is being edited
// (*TryoutJob).
type Job interface {
	// owner returns the person whose submission or try-out the job is, and 0 for a match.
	owner() int64
	// memory returns the memory, in bytes, that the job needs on its machine.
	memory() int64
	// isCancelled reports whether the job was cancelled. It returns false if the store cannot be read; the job
	// then continues until its end.
	isCancelled(context.Context, Store) bool
}

// TryoutJob is a job that tests a bot before it is submitted.
type TryoutJob struct {
	Owner  int64                               // the person who tests it
	Memory int64                               // in bytes, for its build and its games
	Run    func(ctx context.Context, core int) // builds and plays it
}

func (t *TryoutJob) owner() int64  { return t.Owner }
func (t *TryoutJob) memory() int64 { return t.Memory }

// isCancelled returns false, because Run itself ends when a try-out is cancelled.
func (t *TryoutJob) isCancelled(context.Context, Store) bool { return false }

// submission is the job of checking an uploaded version, in the stages unpack, build, check and trial.
type submission struct {
	ladder.Version
	need int64 // memory in bytes
	run  func(ctx context.Context, version int64, core int) error
}

func (s *submission) owner() int64  { return s.Owner }
func (s *submission) memory() int64 { return s.need }

func (s *submission) isCancelled(ctx context.Context, from Store) bool {
	v, err := from.Versions.Find(ctx, s.ID)
	return err == nil && (v.State == ladder.Failed || v.State == ladder.Cancelled)
}

// matchJob is a job that plays one match on one machine.
type matchJob struct {
	match     *ladder.Match
	rotations int         // number of rotations that are played at the same time
	need      int64       // memory in bytes
	fresh     *freshMatch // nil if the match was already stored when it was chosen
}

// freshMatch has the additional data of a matchJob whose match is not stored yet. Such a match was chosen for a
// ladder.
type freshMatch struct {
	entry      store.NewMatch
	versions   []ladder.Version // by slot
	onlyHouses bool             // all versions are house bots with enough matches
	chosenAt   time.Time
	pool       *matchmaking.Pool
	poolNumber int64 // negative number under which pool has the match until it is stored
}

func (m *matchJob) owner() int64  { return 0 }
func (m *matchJob) memory() int64 { return m.need }

func (m *matchJob) isCancelled(ctx context.Context, from Store) bool {
	stored, err := from.Matches.Find(ctx, m.match.ID)
	return err == nil && stored.State == ladder.Dropped
}

func requesterOf(j Job) int64 {
	if m, ok := j.(*matchJob); ok {
		return m.match.RequestedBy
	}
	return 0
}

func ladderOf(j Job) string {
	if m, ok := j.(*matchJob); ok {
		return m.match.Ladder
	}
	return ""
}

// assignment is a job together with the core of a machine that was given to it.
type assignment struct {
	job     Job
	machine *machine
	core    int
	start   time.Time // when the core was assigned
	charge
	play *play                   // the attempt at a match; nil before it is stored, and for other jobs
	end  context.CancelCauseFunc // cancels the job; set when the job is started
}

// outcome is how a job ended.
type outcome struct {
	*assignment
	took      time.Duration // 0 if the job did not start
	successes []string      // keys of the things whose backoff is reset; see backoffs
	failures  []string      // keys of the things that get a backoff
	blamed    bool          // whether the machine could not play the job
}

// play is a match in progress.
type play struct {
	outcome
	*matchJob
	attempt  ladder.Attempt
	seed     rules.Seed       // zero if the attempt is adopted
	adopted  bool             // an earlier server started the attempt
	versions []ladder.Version // by slot; read from the store before the job is sent
	games    []*referee.GameResult
}

// work runs the job of assignment a on the core reserved for it, waits until the job ends, and returns the outcome.
func (r *Runner) work(ctx context.Context, a *assignment) outcome {
	if a.play != nil {
		r.playAttempt(ctx, a.play)
		return a.play.outcome
	}
	o := outcome{assignment: a}
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	if err := cores.Bind(a.core); err != nil {
		r.pause(err)
		return o
	}
	start := time.Now()
	switch j := a.job.(type) {
	case *TryoutJob:
		j.Run(ctx, a.core)
		o.took = time.Since(start)
	case *submission:
		err := j.run(ctx, j.ID, a.core)
		o.took = time.Since(start)
		r.finishSubmission(ctx, &o, j, err)
	}
	return o
}
