package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee/match"
)

// Why a job is ended before its time.
var (
	errOverTime  = errors.New("it is over its time")
	errUnwanted  = errors.New("it is not wanted any more")
	errMadeRoom  = errors.New("it made room for other matches")
	errStopped   = errors.New("the server stopped")
	errHeld      = errors.New("its machine has it for too long")
	errSuspended = errors.New("its machine is suspended")
)

// A match that somebody asked for plays for a slice of time, then pauses between two
// turns and keeps its processes until its next turn.
const (
	minSlice = time.Second
	maxSlice = 5 * time.Second // what such matches save up at most while there are none
	maxRound = time.Minute     // a slice where games do not end before they make room
	maxBegun = 8               // such matches that have begun
)

// credit is how much of the workers' time the matches that people asked for are behind
// their share; less than 0 where they have had more.
type credit struct {
	share float64 // 0 and 1: any
	time.Duration
}

func (c *credit) bound() bool { return c.share > 0 && c.share < 1 }

// others counts time of rated matches and submissions.
func (c *credit) others(took time.Duration) {
	if c.bound() {
		c.Duration = min(maxSlice, c.Duration+time.Duration(float64(took)*c.share/(1-c.share)))
	}
}

// asked counts time of asked matches while there was other work.
func (c *credit) asked(took time.Duration) { c.Duration -= took }

// slice returns how long an asked match may play: twice as long for each time that it
// made room, and lost a game that had begun. What is over the share is owed.
func (c *credit) slice(madeRoom int) time.Duration {
	slice := maxSlice
	if c.bound() {
		slice = max(minSlice, c.Duration)
	}
	return min(slice<<min(madeRoom, 6), maxRound)
}

// over reports whether asked matches have had their share, what is played now included.
func (r *Runner) over() bool {
	left := r.credit.Duration
	for _, j := range r.taken {
		if j.asked() && !j.paused && !j.spare {
			left -= r.Now().Sub(j.began)
		}
	}
	return r.credit.bound() && left < 0
}

// count counts the time of a job since it has begun, or has gone on.
func (r *Runner) count(j *job) {
	took := r.Now().Sub(j.began)
	switch {
	case !j.asked():
		r.credit.others(took)
	case !j.spare:
		r.credit.asked(took)
	}
}

// parked returns the matches that have paused, in the order in which they were made.
func (r *Runner) parked() (list []*job) {
	for _, j := range r.taken {
		if j.paused {
			list = append(list, j)
		}
	}
	slices.SortFunc(list, func(a, b *job) int { return cmp.Compare(a.match.ID, b.match.ID) })
	return list
}

// mayAsked reports whether a match that somebody asked for can be begun, or go on, as
// far as others of that kind are concerned: one core of several is kept for the rest,
// and of each person one match is played at a time.
func (r *Runner) mayAsked(m *ladder.Match) bool {
	begun, playing := 0, 0
	for _, j := range r.taken {
		if !j.asked() {
			continue
		}
		begun++
		if !j.paused {
			playing++
		}
		if j.match.AskedBy == m.AskedBy && j.match.ID != m.ID {
			return false
		}
	}
	if playing >= max(1, r.localCores()-1) {
		return false
	}
	if j := r.taken[m.ID]; j != nil {
		return slices.Contains(r.local.free, j.core) && !(j.evicted && j.held > 0) && r.hasRoom(j)
	}
	return begun < maxBegun && r.hasRoom(&job{match: m})
}

// hasRoom reports whether a match finds its memory now: matches that people asked for do not
// put each other out.
func (r *Runner) hasRoom(j *job) bool {
	others := false
	for _, o := range r.taken {
		others = others || o != j && o.asked() && o.held > 0
	}
	if r.Room.Total == 0 || j.held > 0 || !others {
		return true
	}
	if j.memory == 0 && r.measure(context.Background(), r.local, j) != nil {
		return false
	}
	return r.local.memory.used+j.memory <= r.Room.Total
}

// share is a match that somebody asked for, between its goroutine and the runner's.
type share struct {
	job   *job
	left  time.Duration // that it may take
	own   match.OwnTime // that it has taken
	since time.Time     // it has played
	over  func()        // ends it
}

// yield ends a match that is over its time, and pauses one that has played for its slice.
func (s *share) yield(ctx context.Context) error {
	if s.own.Sum() > s.left {
		s.over()
	}
	if time.Since(s.since) < s.job.slice {
		return nil
	}
	s.job.report <- outcome{job: s.job, paused: true}
	return s.wait(ctx)
}

// wait returns when the match may go on.
func (s *share) wait(ctx context.Context) error {
	select {
	case <-s.job.goOn:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.since = time.Now()
	return nil
}

// pauseJob takes the core of a match that pauses, but for a server that stops: then the
// match goes on as long as it may.
func (r *Runner) pauseJob(ctx context.Context, j *job) {
	if ctx.Err() != nil {
		j.goOn <- struct{}{}
		return
	}
	r.count(j)
	j.paused = true
	j.machine.giveBack(j.core)
}

// makeRoom ends the processes of a match that has paused, where its memory is in the way
// of what comes next.
func (r *Runner) makeRoom(m *machine) {
	if m.memory.head == nil || !m.Local {
		return
	}
	for _, j := range slices.Backward(r.parked()) {
		if !j.evicted {
			j.evicted = true
			j.evict <- struct{}{}
			return
		}
		if j.held > 0 {
			return // it is about to
		}
	}
}

// madeRoom takes the memory of a match that has made room.
func (r *Runner) madeRoom(j *job) {
	j.machine.memory.release(j.held)
	j.held = 0
	j.madeRoom++
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

// timeLeft returns how long a match may still play. Of earlier attempts, which were
// interrupted, that part counts which they had of the time at least.
func (r *Runner) timeLeft(m *ladder.Match) time.Duration {
	spent := m.Spent()
	if r.Share > 0 {
		spent = time.Duration(float64(spent) * r.Share)
	}
	if r.Time == 0 {
		return 1 << 62
	}
	return r.Time - spent
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
