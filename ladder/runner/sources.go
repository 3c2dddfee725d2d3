package runner

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
)

// A source offers what to do next on a free core; nil for nothing. What it offers is charged to nobody, and
// counts nowhere, before began.
type source func(ctx context.Context, at freeCore) (*job, error)

// next returns what to do on a free core, of the first source that has something; nil for nothing.
//
//   - Submissions come first on half of the cores of this machine. On a single core, and on the middle one
//     of an odd number, they and matches take turns.
//   - Interrupted matches come before new ones.
//   - Matches that people asked for come before those of the ladders while they have had less than their
//     share of the time, and last where there is nothing else to play.
func (r *Runner) next(ctx context.Context, at freeCore) (*job, error) {
	order := []source{r.waiting.interrupted, r.waiting.asked, r.ladders.next, r.waiting.spare, r.submissions.next}
	if r.submissions.first() {
		order = slices.Insert(order[:4], 0, r.submissions.next)
	}
	for _, source := range order {
		j, err := source(ctx, at)
		if err != nil {
			return nil, err
		}
		if j != nil {
			return r.measured(ctx, at, j)
		}
	}
	return nil, nil
}

// began tells the sources of a job that has got a core.
func (r *Runner) began(j *job, now time.Time) {
	r.submissions.began(j)
	r.waiting.began(j)
	r.ladders.began(j, now)
}

// measured returns a job with the memory that it needs on a machine; nil for one that is dropped, because it
// never fits or is over its time.
func (r *Runner) measured(ctx context.Context, at freeCore, j *job) (*job, error) {
	err := r.measure(ctx, at, j)
	switch {
	case err != nil:
		return nil, err
	case at.Memory > 0 && j.memory > at.Memory && j.match == nil:
		return nil, fmt.Errorf("a submission can use %d MiB, and all bots together have %d MiB", j.memory>>20, at.Memory>>20)
	case at.Memory > 0 && j.memory > at.Memory: // it was asked for or begun when this machine had more: others choose what fits
		r.cancel(ctx, j.match, fmt.Sprintf("cancelled: its bots can use %d MiB at once, and all bots together have %d MiB", j.memory>>20, at.Memory>>20))
	case j.asked() && r.timeLeft(j.match) <= 0:
		r.overTime(ctx, j.match)
	default:
		return j, nil
	}
	r.Wake()
	return nil, nil
}

// measure finds out how much memory a job needs on a machine.
func (r *Runner) measure(ctx context.Context, at freeCore, j *job) error {
	switch {
	case j.tryout != nil:
		return nil // it is known
	case j.match == nil:
		j.memory = r.Submission
		return nil
	}
	v, err := j.match.Variant()
	if err != nil {
		return nil // play tells what is wrong
	}
	j.rotations, j.memory = r.roomOf(at).Together(v, j.match.House(), max(1, len(at.Cores)))
	if !at.Local {
		return nil
	}
	build := r.Submission // or as much as there is
	if at.Memory > 0 {
		build = min(build, at.Memory)
	}
	for _, id := range j.match.Versions {
		v, err := r.version(ctx, id)
		if err != nil {
			return err
		}
		if !v.Remote && !r.Standing(v.Version) {
			j.memory = max(j.memory, build)
		}
	}
	return nil
}

// roomOf returns the memory that the matches of a machine share.
func (r *Runner) roomOf(at freeCore) ladder.Room {
	return ladder.Room{Total: at.Memory, Bot: r.Room.Bot}
}

// mayPlay reports whether a version can play on a machine now.
func (r *Runner) mayPlay(ctx context.Context, at freeCore, version int64, remote bool) bool {
	if len(r.backoffs) > 0 && (r.backoffs.active(versionName(version), at.now) || r.backoffs.active(thereName(at.Name, version), at.now)) {
		return false
	}
	if remote { // it is connected to the server
		return at.Local && r.Remotes.Ready(version)
	}
	return r.canPlay(ctx, at.machine, version)
}

// submissions offers versions that are to go through their stages, and tryouts, which take turns with them.
//
//   - They run on this machine, on half of its cores at most, rounded up.
//   - Owners take turns, as store.Pending has them, and each has one core.
type submissions struct {
	*Runner
	last  bool  // the last job that got a core is one
	tried bool  // the last of them was a tryout
	tries int64 // tryouts so far
}

func (s *submissions) began(j *job) {
	if s.last = j.match == nil; s.last {
		s.tried = j.tryout != nil
	}
}

// first reports whether a submission comes before matches.
func (s *submissions) first() bool { return len(s.owners()) < len(s.Local.Cores)/2 || !s.last }

// owners returns whose submissions run.
func (s *submissions) owners() (list []int64) {
	for _, j := range s.placement.local().jobs {
		if j.match == nil {
			list = append(list, j.owner)
		}
	}
	return list
}

func (s *submissions) next(ctx context.Context, at freeCore) (*job, error) {
	owners := s.owners()
	if s.Submit == nil || !at.Local || len(owners) >= (len(s.Local.Cores)+1)/2 {
		return nil, nil
	}
	if j := s.tryout(owners); j != nil && !s.tried {
		return j, nil
	}
	pending, err := s.Store.Pending(ctx)
	if err != nil {
		return nil, fmt.Errorf("the submissions: %w", err)
	}
	s.metrics.submissions.Set(float64(len(pending)))
	for _, v := range pending {
		if !slices.Contains(owners, v.Owner) && !s.backoffs.active(versionName(v.ID), at.now) {
			return &job{version: v.ID, owner: v.Owner}, nil
		}
	}
	return s.tryout(owners), nil
}

// firstTryout is more than the numbers of versions, from which those of tryouts have to differ.
const firstTryout = 1 << 52

// tryout returns the first one that waits whose owner has nothing that runs; nil for none.
func (s *submissions) tryout(owners []int64) *job {
	if s.Tryout == nil {
		return nil
	}
	t := s.Tryout(owners)
	if t == nil {
		return nil
	}
	s.tries++
	return &job{version: firstTryout + s.tries, tryout: t, owner: t.Owner, memory: t.Memory}
}

// waiting offers the matches that wait: interrupted ones, and those that people asked for.
//
//   - Interrupted matches come in their order.
//   - Of the people who asked, the one whose last turn is longest ago comes first. Each has one match at a
//     time, and of several cores one stays free of such matches. They are played on this machine.
//   - They have their share of the time while there is other work.
type waiting struct {
	*Runner
	read       bool
	generation uint64          // of the store, when they were read
	matches    []*ladder.Match // the oldest first
	credit     credit
	turn       int
	served     map[int64]int // by person, the last turn
}

// maxWaiting is how many of the waiting matches are considered.
const maxWaiting = 1000

// refresh reads what waits, if that can have changed.
func (w *waiting) refresh(ctx context.Context) error {
	now := w.Store.Generation()
	if !w.read || w.generation != now {
		list, err := w.Store.Waiting(ctx, maxWaiting)
		if err != nil {
			return err
		}
		w.read, w.generation, w.matches = true, now, nil
		for i := range list {
			w.matches = append(w.matches, &list[i])
		}
		w.metrics.waiting.Set(float64(len(list)))
	}
	w.giveUp(ctx)
	return nil
}

// giveUp drops matches that wait for a remote version which does not come back: the opponents of a rated one would not
// be chosen for others meanwhile, and of those that people asked for more and more would wait.
func (w *waiting) giveUp(ctx context.Context) {
	for _, m := range w.matches {
		if m.State == ladder.Dropped || w.placement.jobs[m.ID] != nil {
			continue
		}
		for slot, v := range m.Versions {
			if m.Remote[slot] && w.Remotes.Gone(v) {
				if !w.cancel(ctx, m, fmt.Sprintf("cancelled: version %d of %s is not connected", m.Numbers[slot], m.Bots[slot])) {
					return
				}
				m.State = ladder.Dropped
				break
			}
		}
	}
}

// interrupted offers the first match that was interrupted.
func (w *waiting) interrupted(ctx context.Context, at freeCore) (*job, error) {
	if err := w.refresh(ctx); err != nil {
		return nil, err
	}
	for _, m := range w.matches {
		if m.AskedBy == 0 && (m.Rated || at.Local) && w.may(ctx, at, m) {
			return &job{match: m}, nil
		}
	}
	return nil, nil
}

// asked offers a match that somebody asked for, unless such have had their share of the time.
func (w *waiting) asked(ctx context.Context, at freeCore) (*job, error) {
	if w.credit.over(w.playing(at.now)) {
		return nil, nil
	}
	return w.pick(ctx, at), nil
}

// spare offers a match that somebody asked for where there is nothing else to do: its time counts for
// nothing.
func (w *waiting) spare(ctx context.Context, at freeCore) (*job, error) {
	j := w.pick(ctx, at)
	if j != nil {
		j.spare = true
	}
	return j, nil
}

// pick returns the match of the person whose turn it is.
func (w *waiting) pick(ctx context.Context, at freeCore) *job {
	var best *ladder.Match
	for _, m := range w.matches {
		before := best == nil || w.served[m.AskedBy] < w.served[best.AskedBy]
		if m.AskedBy != 0 && before && w.isFree(ctx, at, m) && w.may(ctx, at, m) {
			best = m
		}
	}
	if best == nil {
		return nil
	}
	return &job{match: best}
}

// isFree reports whether the other matches that people asked for leave a core to one. Where they leave
// no memory, it is not next before one of them has ended.
func (w *waiting) isFree(ctx context.Context, at freeCore, m *ladder.Match) bool {
	if !at.Local {
		return false
	}
	playing := 0
	for _, j := range at.jobs {
		if j.asked() {
			if playing++; j.match.AskedBy == m.AskedBy {
				return false
			}
		}
	}
	if playing == 0 {
		return true
	}
	j := &job{match: m}
	return playing < len(at.Cores)-1 && (at.Memory == 0 || w.measure(ctx, at, j) == nil && at.fits(j.memory))
}

// may reports whether a waiting match can begin on a machine now.
func (w *waiting) may(ctx context.Context, at freeCore, m *ladder.Match) bool {
	if m.State == ladder.Dropped || w.placement.jobs[m.ID] != nil {
		return false
	}
	if w.backoffs.active(matchName(m.ID), at.now) || w.backoffs.active(ladderName(m.Ladder), at.now) {
		return false
	}
	for slot, v := range m.Versions {
		if !w.mayPlay(ctx, at, v, m.Remote[slot]) {
			return false
		}
	}
	if at.Local {
		return true // what never fits is dropped when it is its turn
	}
	v, err := m.Variant()
	return err != nil || w.roomOf(at).Check("", v, m.House()) == nil // play tells what is wrong
}

func (w *waiting) began(j *job) {
	if j.asked() {
		w.turn++
		w.served[j.match.AskedBy] = w.turn
	}
}

func (w *waiting) ended(j *job, now time.Time) {
	took := now.Sub(j.began)
	switch {
	case !j.asked():
		w.credit.others(took, w.playing(now))
	case !j.spare:
		w.credit.asked(took)
	}
}

// playing returns how long the asked matches have played that play now, while there was other work.
func (w *waiting) playing(now time.Time) (sum time.Duration) {
	for _, j := range w.placement.local().jobs {
		if j.asked() && !j.spare {
			sum += now.Sub(j.began)
		}
	}
	return sum
}

// credit is how much of the workers' time the matches that people asked for are behind
// their share; less than 0 where they have had more.
type credit struct {
	share float64 // 1: there is no bound
	time.Duration
}

// maxCredit is what they save up at most while there are none.
const maxCredit = 5 * time.Second

// others counts time of other work. playing is how long the asked matches have played that are not counted
// yet.
func (c *credit) others(took, playing time.Duration) {
	if c.share < 1 {
		c.Duration = min(maxCredit+playing, c.Duration+time.Duration(float64(took)*c.share/(1-c.share)))
	}
}

// asked counts time of asked matches while there was other work.
func (c *credit) asked(took time.Duration) { c.Duration -= took }

// over reports whether they have had their share, with what is played now.
func (c *credit) over(playing time.Duration) bool { return c.share < 1 && c.Duration < playing }

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
