package runner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/timba-arena/timba/ladder"
)

// Why a job is ended before its time.
var (
	errOverTime  = errors.New("it is over its time")
	errUnwanted  = errors.New("it is not wanted any more")
	errHeld      = errors.New("its machine has it for too long")
	errSuspended = errors.New("its machine is suspended")
)

// maxCredit is what matches that people ask for save up at most while there are none.
const maxCredit = 5 * time.Second

// credit is how much of the workers' time the matches that people asked for are behind
// their share; less than 0 where they have had more.
type credit struct {
	share float64 // 1: there is no bound
	time.Duration
}

// others counts time of rated matches and submissions. playing is how long the asked matches have
// played that are not counted yet.
func (c *credit) others(took, playing time.Duration) {
	if c.share < 1 {
		c.Duration = min(maxCredit+playing, c.Duration+time.Duration(float64(took)*c.share/(1-c.share)))
	}
}

// asked counts time of asked matches while there was other work.
func (c *credit) asked(took time.Duration) { c.Duration -= took }

// over reports whether asked matches have had their share, what is played now included.
func (r *Runner) over() bool { return r.credit.share < 1 && r.credit.Duration < r.askedPlaying() }

// askedPlaying returns how long the asked matches have played that play now, while there was other work.
func (r *Runner) askedPlaying() (sum time.Duration) {
	for _, j := range r.taken {
		if j.asked() && !j.spare {
			sum += r.Now().Sub(j.began)
		}
	}
	return sum
}

// count counts the time of a job that has ended.
func (r *Runner) count(j *job) {
	took := r.Now().Sub(j.began)
	switch {
	case !j.asked():
		r.credit.others(took, r.askedPlaying())
	case !j.spare:
		r.credit.asked(took)
	}
}

// mayAsked reports whether a match that somebody asked for can begin as far as others of that kind
// are concerned: one core of several is kept for the rest, of each person one match is played at a
// time, and one that needs memory which another has is not next before that has ended.
func (r *Runner) mayAsked(ctx context.Context, m *ladder.Match) bool {
	playing := 0
	for _, j := range r.taken {
		if !j.asked() {
			continue
		}
		if playing++; j.match.AskedBy == m.AskedBy {
			return false
		}
	}
	if playing == 0 || r.Room.Total == 0 {
		return playing < max(1, r.localCores()-1)
	}
	j := &job{match: m}
	return playing < r.localCores()-1 && r.measure(ctx, r.local, j) == nil && r.local.memory.used+j.memory <= r.Room.Total
}

// recheck ends what is played, or is next, and is not wanted any more: a match that
// somebody cancelled, or a submission of a person who was blocked.
func (r *Runner) recheck(ctx context.Context) {
	running, err := r.Store.Running(ctx)
	if err != nil {
		return // as in unwanted
	}
	goesOn := map[int64]bool{}
	for _, h := range running {
		goesOn[h.Match] = true
	}
	for id, j := range r.taken {
		if !goesOn[id] && r.unwanted(ctx, j) { // it has just ended, or is to end
			j.end(errUnwanted)
		}
	}
	for _, m := range r.machines {
		if j := m.memory.head; j != nil && r.unwanted(ctx, j) {
			r.dropHead(m)
		}
	}
	r.endSuspended()
}

// unwanted reports whether a job has been cancelled. Where that cannot be read it has
// not been: the job comes to an end by itself.
func (r *Runner) unwanted(ctx context.Context, j *job) bool {
	if j.match == nil {
		v, err := r.Store.Version(ctx, j.version)
		return err == nil && v.State == ladder.Failed
	}
	if j.match.ID == 0 {
		return false // it is not stored yet
	}
	m, err := r.Store.Match(ctx, j.match.ID)
	return err == nil && m.State == ladder.Dropped
}

// timeLeft returns how long a match may still play: earlier attempts count, which were interrupted.
func (r *Runner) timeLeft(m *ladder.Match) time.Duration {
	if r.Time == 0 {
		return math.MaxInt64
	}
	return r.Time - m.Spent()
}

// overTime drops a match that is over its time.
func (r *Runner) overTime(ctx context.Context, m *ladder.Match) {
	r.cancel(ctx, m, fmt.Sprintf("cancelled: over its time of %s", r.Time.Round(time.Second)))
}

// neverFits drops a match that needs more memory than the server's machine has, which had more when
// it was asked for or begun.
func (r *Runner) neverFits(ctx context.Context, j *job) error {
	if j.match == nil {
		return fmt.Errorf("a submission can use %d MiB, and all bots together have %d MiB", j.memory>>20, r.Room.Total>>20)
	}
	r.cancel(ctx, j.match, fmt.Sprintf("cancelled: its bots can use %d MiB at once, and all bots together have %d MiB", j.memory>>20, r.Room.Total>>20))
	r.Wake()
	return nil
}

func (r *Runner) cancel(ctx context.Context, m *ladder.Match, reason string) {
	err := r.Store.CancelMatch(context.WithoutCancel(ctx), m.ID, 0, reason)
	if err != nil && ladder.CodeOf(err) != ladder.Conflict { // it has ended in the meantime
		r.pause(fmt.Errorf("cancelling match %d: %w", m.ID, err))
		return
	}
	r.cancelled(m)
}

// cancelled tells of a match that was dropped while it was played.
func (r *Runner) cancelled(m *ladder.Match) {
	r.metrics.broken.WithLabelValues("cancelled").Inc()
	r.Log.Info("match cancelled", "match", m.ID, "ladder", m.Ladder)
}
