package runner

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
)

// Source chooses jobs of one kind for free cores. The runner calls only one source at a time.
type Source interface {
	// Next returns a job for a core, or nil if the source has none. Next may return the same job again until
	// RecordStart is called.
	Next(context.Context, Core) (Job, error)
	// RecordStart is called when the job that the last call of Next returned has been assigned to the core.
	RecordStart(Job)
}

// Core means a core on a certain machine that is free. Which of the machine's cores it is, placement.assign decides
// later.
type Core struct {
	*machine
	BusyOwners []int64 // people who have a submission or a try-out on a core
	now        time.Time
}

// choice is a job and the source that it comes from.
type choice struct {
	source Source
	job    Job
	spare  bool // a requested match, chosen because there was nothing else to do
}

// sources has all sources of jobs and decides in which order they are asked.
type sources struct {
	placement          *placement
	charges            *charges
	interruptedMatches interruptedMatches
	requestedMatches   requestedMatches
	ladders            ladders
	queues             []Source // of submissions and try-outs, the next one first
	wasQueueLast       bool     // whether the last job that got a core came from one of queues
}

// Register adds sources of submissions (uploaded versions to check) or of try-outs (tests of bots that are being
// edited). These sources take turns. Register must be called before Run.
func (r *Runner) Register(queues ...Source) { r.sources.queues = append(r.sources.queues, queues...) }

// nextChoice returns the job for a free core, from the first source that has one. It returns nil if there is no
// job. The sources come in this order:
//
//   - Submissions and try-outs together use at most half of the cores of this machine, rounded up, and at most one
//     core per owner. On half of the cores, rounded down, they come before matches. If the number of cores is odd,
//     they take turns with matches on one more core.
//   - Interrupted matches come before new ones.
//   - Requested matches come before the matches of ladders, until they have used up their share of the time
//     (ladder.UnratedShare). After that they come last.
func (s *sources) nextChoice(ctx context.Context, c Core) (*choice, error) {
	order := []choice{{source: &s.interruptedMatches}, {source: &s.requestedMatches}, {source: &s.ladders}, {source: &s.requestedMatches, spare: true}}
	if s.charges.isShareUsed(c.now) {
		order = slices.Delete(order, 1, 2)
	}
	c.BusyOwners = s.placement.busyOwners()
	if workers := len(s.placement.local().Cores); c.Local && len(c.BusyOwners) < (workers+1)/2 {
		place := len(order)
		if len(c.BusyOwners) < workers/2 || !s.wasQueueLast {
			place = 0
		}
		for _, q := range slices.Backward(s.queues) {
			order = slices.Insert(order, place, choice{source: q})
		}
	}
	for _, o := range order {
		var err error
		if o.job, err = o.source.Next(ctx, c); err != nil {
			return nil, err
		}
		if o.job != nil {
			return &o, nil
		}
	}
	return nil, nil
}

// recordStart tells the source of c that the job of c got a core. If the source is one of submissions or try-outs,
// recordStart moves it to the end of the order in which these sources take turns.
func (s *sources) recordStart(c *choice) {
	c.source.RecordStart(c.job)
	i := slices.Index(s.queues, c.source)
	if s.wasQueueLast = i >= 0; s.wasQueueLast {
		s.queues = append(slices.Delete(s.queues, i, i+1), c.source)
	}
}

// admitJob reports whether job j can be assigned to a core. A match is dropped, and the result is false, if it needs
// more memory than the machine has or has used up its time. If another job needs too much memory, admitJob returns an
// error.
func (r *Runner) admitJob(ctx context.Context, c Core, j Job) (bool, error) {
	m, isMatch := j.(*matchJob)
	tooLarge := c.Memory > 0 && j.memory() > c.Memory
	switch {
	case tooLarge && !isMatch:
		return false, fmt.Errorf("a submission can use %d MiB, and all bots together have %d MiB", j.memory()>>20, c.Memory>>20)
	case tooLarge: // it was requested or started when this machine had more memory
		r.cancelMatch(ctx, m.match, phrase.New("cancelled: its bots can use %d MiB at once, and all bots together have %d MiB", m.need>>20, c.Memory>>20))
	case requesterOf(j) != 0 && r.timeLeft(m.match) <= 0:
		r.dropOverTime(ctx, m.match)
	default:
		return true, nil
	}
	r.Wake()
	return false, nil
}

// timeLeft returns how long a match may still play. The time of interrupted attempts is subtracted.
func (r *Runner) timeLeft(m *ladder.Match) time.Duration {
	if r.Limits.Time == 0 {
		return math.MaxInt64
	}
	return r.Limits.Time - m.PlayTime()
}

func (r *Runner) dropOverTime(ctx context.Context, m *ladder.Match) {
	r.cancelMatch(ctx, m, phrase.New("cancelled: over its time of %s", r.Limits.Time.Round(time.Second)))
}
