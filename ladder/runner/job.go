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

// Job is something to do on a core: a match, the stages of a submission or a *Tryout.
type Job interface {
	// owner returns the person of a submission or a try-out, and 0 for a match.
	owner() int64
	// memory returns the memory that the job needs on its machine.
	memory() int64
	// isCancelled reports whether nobody wants the job any more. If that cannot be read, it reports false: the job
	// comes to an end by itself.
	isCancelled(context.Context, Store) bool
}

// Tryout is a bot that is tested before it is submitted.
type Tryout struct {
	Owner  int64
	Memory int64 // of its build and its games
	Run    func(ctx context.Context, core int)
}

func (t *Tryout) owner() int64  { return t.Owner }
func (t *Tryout) memory() int64 { return t.Memory }

// isCancelled returns false: who cancels a try-out ends its Run.
func (t *Tryout) isCancelled(context.Context, Store) bool { return false }

// submission is a version that goes through its stages.
type submission struct {
	ladder.Version
	need int64 // of memory
	run  func(ctx context.Context, version int64, core int) error
}

func (s *submission) owner() int64  { return s.Owner }
func (s *submission) memory() int64 { return s.need }

func (s *submission) isCancelled(ctx context.Context, from Store) bool {
	v, err := from.Versions.Find(ctx, s.ID)
	return err == nil && v.State == ladder.Failed
}

// matchJob is a match to play on one machine.
type matchJob struct {
	match     *ladder.Match
	rotations int         // that are played at the same time
	need      int64       // of memory
	fresh     *freshMatch // nil for a match that was stored before it was chosen
}

// freshMatch is what a new match of a ladder has beside its job.
type freshMatch struct {
	entry      store.NewMatch
	versions   []ladder.Version // by slot
	onlyHouses bool             // all versions are house bots with enough matches
	chosenAt   time.Time
	pool       *matchmaking.Pool
	poolNumber int64 // of the match in the pool until it is stored
}

func (m *matchJob) owner() int64  { return 0 }
func (m *matchJob) memory() int64 { return m.need }

func (m *matchJob) isCancelled(ctx context.Context, from Store) bool {
	stored, err := from.Matches.Find(ctx, m.match.ID)
	return err == nil && stored.State == ladder.Dropped
}

// requesterOf returns the person who asked for a match, and 0 for any other job.
func requesterOf(j Job) int64 {
	if m, ok := j.(*matchJob); ok {
		return m.match.RequestedBy
	}
	return 0
}

// ladderOf returns the ladder of a rated match, and "" for any other job.
func ladderOf(j Job) string {
	if m, ok := j.(*matchJob); ok {
		return m.match.Ladder
	}
	return ""
}

// assignment is a job that has a core.
type assignment struct {
	job     Job
	machine *machine
	core    int
	start   time.Time // when it got the core
	charge
	play *play                   // the attempt of a match, once that has begun
	end  context.CancelCauseFunc // ends the job before its time; set when the job is started
}

// outcome is how a job has ended.
type outcome struct {
	*assignment
	took      time.Duration // 0 if the job was not begun
	successes []string      // the names of what worked
	failures  []string      // the names of what failed and gets a backoff
	blamed    bool          // its machine could not play it
}

// play is an attempt at a match, from its beginning in the store to its result.
type play struct {
	outcome
	*matchJob
	attempt  ladder.Attempt
	seed     rules.Seed       // zero if adopted
	adopted  bool             // an earlier server has begun the attempt
	versions []ladder.Version // by slot; read from the store before the match is handed out
	games    []*referee.Result
}

// work does a job on its core.
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
	case *Tryout:
		j.Run(ctx, a.core)
		o.took = time.Since(start)
	case *submission:
		err := j.run(ctx, j.ID, a.core)
		o.took = time.Since(start)
		r.finishSubmission(ctx, &o, j, err)
	}
	return o
}
