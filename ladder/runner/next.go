package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/rules"
)

// next returns the next job for a machine, and the memory to reserve for it; nil for none.
func (r *Runner) next(ctx context.Context, m *machine) (*job, int64, error) {
	j, err := r.choose(ctx, m)
	if err != nil || j == nil {
		return nil, 0, err
	}
	if err := r.measure(ctx, m, j); err != nil {
		return nil, 0, err
	}
	if total := m.memory.total; total > 0 && j.memory > total {
		return nil, 0, r.neverFits(ctx, j) // on the server's own machine: others choose what fits
	}
	if j.asked() && r.timeLeft(j.match) <= 0 {
		r.overTime(ctx, j.match)
		r.Wake()
		return nil, 0, nil
	}
	if j.match != nil && !r.reserve(j.match) {
		r.forgetFresh(j)
		r.Wake()
		return nil, 0, nil
	}
	r.turns.began(j)
	r.costs.fade(r.Now())
	j.charged = r.costs.began(j.ladder())
	return j, j.memory, nil
}

// measure finds out how much memory a job needs on a machine.
func (r *Runner) measure(ctx context.Context, m *machine, j *job) error {
	if j.match == nil {
		j.memory = r.Submission
		return nil
	}
	v, err := j.match.Variant()
	if err != nil {
		return nil // play tells what is wrong
	}
	j.rotations, j.memory = r.roomOf(m).Together(v, j.match.House(), max(1, len(m.Cores)))
	if r.Standing == nil || !m.Local {
		return nil
	}
	build := r.Submission // or as much as there is
	if total := m.memory.total; total > 0 {
		build = min(build, total)
	}
	for _, id := range j.match.Versions {
		v, err := r.version(ctx, id)
		if err != nil {
			return err
		}
		if !v.Remote && !r.Standing(v) {
			j.memory = max(j.memory, build)
		}
	}
	return nil
}

// hasMemory reports whether a machine has the memory of a match.
func (r *Runner) hasMemory(on *machine, v *rules.Variant, house []bool) bool {
	total := on.memory.total
	return total == 0 || r.roomOf(on).Rotation(v, house) <= total
}

func (r *Runner) choose(ctx context.Context, m *machine) (*job, error) {
	var submission *job
	if m.Local {
		var err error
		if submission, err = r.nextSubmission(ctx); err != nil {
			return nil, err
		}
	}
	// Half of the cores are for submissions. Of an odd number, they and matches take
	// turns on the one in the middle.
	if submission != nil && (len(r.submitting) < r.localCores()/2 || !r.turns.submitted) {
		return submission, nil
	}
	j, err := r.nextMatch(ctx, m)
	if err != nil {
		return nil, err
	}
	if j == nil {
		return submission, nil
	}
	return j, nil
}

// nextSubmission returns the version whose turn it is; nil for none, or while as many
// submissions run as may at the same time: on half of the cores, rounded up, one of
// each owner.
func (r *Runner) nextSubmission(ctx context.Context) (*job, error) {
	if r.Submit == nil || len(r.submitting) >= (r.localCores()+1)/2 {
		return nil, nil
	}
	pending, err := r.Store.Pending(ctx)
	if err != nil {
		return nil, fmt.Errorf("the submissions: %w", err)
	}
	r.metrics.submissions.Set(float64(len(pending)))
	now := r.Now()
	busy := slices.Collect(maps.Values(r.submitting))
	for _, v := range pending {
		if !slices.Contains(busy, v.Owner) && !r.backoffs.active(versionName(v.ID), now) {
			return &job{version: v.ID, owner: v.Owner}, nil
		}
	}
	return nil, nil
}

func versionName(id int64) string   { return fmt.Sprintf("version %d", id) }
func matchName(id int64) string     { return fmt.Sprintf("match %d", id) }
func ladderName(name string) string { return "ladder " + name }

// maxWaiting is how many of the waiting matches are considered.
const maxWaiting = 1000

// nextMatch returns a match for a machine that waits, or a new one of a ladder.
func (r *Runner) nextMatch(ctx context.Context, on *machine) (*job, error) {
	if err := r.readWaiting(ctx); err != nil {
		return nil, err
	}
	waiting := r.waiting.rated
	if on.Local {
		waiting = r.waiting.all
	}
	r.giveUp(ctx, waiting)
	over := r.over()
	may := func(m *ladder.Match) bool { return r.may(ctx, on, m) }
	turn := func(m *ladder.Match) bool { return may(m) && (m.AskedBy == 0 || !over) }
	if m := r.turns.pick(waiting, turn); m != nil {
		return &job{match: m}, nil
	}
	if j, err := r.newMatch(ctx, on); err != nil || j != nil {
		return j, err
	}
	if m := r.turns.pick(waiting, may); m != nil {
		return &job{match: m, spare: true}, nil
	}
	return nil, nil
}

// may reports whether a waiting match can begin on a machine now.
func (r *Runner) may(ctx context.Context, on *machine, m *ladder.Match) bool {
	now := r.Now()
	if m.State == ladder.Dropped || r.taken[m.ID] != nil {
		return false
	}
	if m.AskedBy != 0 && (!on.Local || !r.mayAsked(ctx, m)) {
		return false
	}
	if slices.ContainsFunc(r.heads(), func(j *job) bool { return j.match != nil && j.match.ID == m.ID }) {
		return false
	}
	if r.backoffs.active(matchName(m.ID), now) || r.backoffs.active(ladderName(m.Ladder), now) {
		return false
	}
	able := true
	for slot, v := range m.Versions {
		if r.leftAlone(on, v, now) || m.Remote[slot] && !r.Remotes.Ready(v) {
			return false
		}
		able = r.canPlay(ctx, on, v, m.Remote[slot]) && able
	}
	if !able || on.Local { // what never fits there is dropped when it is its turn
		return able
	}
	v, err := m.Variant()
	return err != nil || r.hasMemory(on, v, m.House()) // play tells what is wrong
}

// leftAlone reports whether a version has a backoff, or has one on a machine.
func (r *Runner) leftAlone(on *machine, version int64, now time.Time) bool {
	if len(r.backoffs) == 0 {
		return false
	}
	return r.backoffs.active(versionName(version), now) || !on.Local && r.backoffs.active(thereName(on.Name, version), now)
}

// waiting has the matches that wait, the oldest first.
type waiting struct {
	read       bool
	generation uint64 // of the store, when they were read
	all, rated []*ladder.Match
}

// readWaiting reads what waits, if that can have changed.
func (r *Runner) readWaiting(ctx context.Context) error {
	now := r.Store.Generation()
	if r.waiting.read && r.waiting.generation == now {
		return nil
	}
	list, err := r.Store.Waiting(ctx, maxWaiting)
	if err != nil {
		return err
	}
	r.waiting = waiting{read: true, generation: now}
	for i := range list {
		m := &list[i]
		r.waiting.all = append(r.waiting.all, m)
		if m.Rated {
			r.waiting.rated = append(r.waiting.rated, m)
		}
	}
	r.metrics.waiting.Set(float64(len(list)))
	return nil
}

// newMatch makes a match for a machine of the ladder whose turn it is; nil when no ladder has
// enough versions or fits into the machine's memory, or all of them rest. Ladders of house bots
// alone come last. It is not stored before it begins.
func (r *Runner) newMatch(ctx context.Context, on *machine) (*job, error) {
	now := r.Now()
	r.costs.fade(now)
	r.quiet = time.Time{}
	var houses []string
	for _, l := range r.costs.order(r.Ladders) {
		if r.backoffs.active(ladderName(l.Name), now) {
			continue
		}
		a := r.asks(ctx, on, now)
		p, err := r.pool(ctx, l.Name)
		if err != nil {
			return nil, fmt.Errorf("ladder %s: %w", l.Name, err)
		}
		people := p.Contains(func(p *matchmaking.Player) bool { return !p.House && a.may(p) })
		a.name()
		if !r.hasMemory(on, r.variants[l.Name], slices.Repeat([]bool{!people}, l.Bots)) {
			continue
		}
		if !people {
			houses = append(houses, l.Name)
			continue
		}
		if j, err := r.matchOf(ctx, on, l.Name, now); j != nil || err != nil {
			return j, err
		}
	}
	for _, name := range houses {
		if j, err := r.matchOf(ctx, on, name, now); j != nil || err != nil {
			return j, err
		}
	}
	return nil, nil
}

// pool returns the pool of a ladder, in which the matches are that are chosen, and not stored yet.
func (r *Runner) pool(ctx context.Context, name string) (*matchmaking.Pool, error) {
	p, err := r.Store.Pool(ctx, name)
	if err != nil || p == r.pools[name] {
		return p, err
	}
	r.pools[name] = p
	for j := range r.fresh {
		if j.ladder() == name {
			r.addFresh(j, p)
		}
	}
	return p, nil
}

// addFresh adds a match that is not stored yet to a pool. Those have numbers below 0 there.
func (r *Runner) addFresh(j *job, p *matchmaking.Pool) {
	r.freshCount--
	j.pool, j.inPool = p, r.freshCount
	p.Open(j.inPool, j.match.Versions)
}

// forgetFresh forgets that a match is not stored yet.
func (r *Runner) forgetFresh(j *job) {
	delete(r.fresh, j)
	if j.pool != nil {
		j.pool.Close(j.inPool)
		j.pool = nil
	}
}

// asking asks who can play on a machine. What it learns is told afterwards: a pool is not to be used
// while it asks.
type asking struct {
	*Runner
	ctx    context.Context
	on     *machine
	now    time.Time
	doubts []int64 // versions that the machine cannot play, or could not
}

func (r *Runner) asks(ctx context.Context, on *machine, now time.Time) *asking {
	return &asking{Runner: r, ctx: ctx, on: on, now: now}
}

// may reports whether the machine can play a version, which has no backoff and, if it is remote, can
// play now.
func (a *asking) may(p *matchmaking.Player) bool {
	if a.leftAlone(a.on, p.ID, a.now) || p.Remote && !a.Remotes.Ready(p.ID) {
		return false
	}
	able, doubt := a.ableTo(a.ctx, a.on, p.ID, p.Remote)
	if doubt && !slices.Contains(a.doubts, p.ID) {
		a.doubts = append(a.doubts, p.ID)
	}
	return able
}

// name tells of the versions that no machine can play.
func (a *asking) name() {
	for _, id := range a.doubts {
		a.nameUnplayable(a.ctx, id)
	}
	a.doubts = nil
}

// matchOf makes a match of a ladder; nil when it has not enough versions, or rests.
func (r *Runner) matchOf(ctx context.Context, on *machine, name string, now time.Time) (*job, error) {
	p, err := r.pool(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("ladder %s: %w", name, err)
	}
	a := r.asks(ctx, on, now)
	defer a.name()
	if r.pauses(name, p, a.may, now) {
		return nil, nil
	}
	idleUntil := r.idled[name].Add(r.Idle)
	c := matchmaking.Choice{May: a.may}
	if now.Before(idleUntil) {
		c.Idle = known
	}
	slots, unknown := p.Next(c, r.rand)
	for unknown != 0 {
		if err := r.Store.Learn(ctx, name, unknown); err != nil {
			return nil, fmt.Errorf("ladder %s: counting meetings: %w", name, err)
		}
		if p, err = r.pool(ctx, name); err != nil {
			return nil, fmt.Errorf("ladder %s: %w", name, err)
		}
		slots, unknown = p.Next(c, r.rand)
	}
	if slots == nil {
		l := r.ladderNamed(name)
		if now.Before(idleUntil) && p.Count(a.may) >= l.Bots {
			r.restsUntil(idleUntil)
		}
		return nil, nil
	}
	r.last[name] = now
	if !p.Contains(func(p *matchmaking.Player) bool { return slices.Contains(slots, p.ID) && !known(p) }) {
		r.idled[name] = now
	}
	j, err := r.freshJob(ctx, name, slots)
	if err == nil {
		r.addFresh(j, p)
	}
	return j, err
}

func (r *Runner) ladderNamed(name string) ladder.Ladder {
	return r.Ladders[slices.IndexFunc(r.Ladders, func(l ladder.Ladder) bool { return l.Name == name })]
}

// freshJob returns the job of a match that is not stored yet.
func (r *Runner) freshJob(ctx context.Context, name string, slots []int64) (*job, error) {
	l := r.ladderNamed(name)
	m := &ladder.Match{Ladder: name, Rated: true, Game: l.Game, Options: l.Options, Clock: l.Clock, Deals: l.Deals, Versions: slots, State: ladder.Waiting}
	j := &job{match: m, asNew: &store.NewMatch{Ladder: name, Versions: slots, Allowance: r.Allowance}}
	for _, id := range slots {
		v, err := r.version(ctx, id)
		if err != nil {
			return nil, err
		}
		j.versions = append(j.versions, v)
		m.Bots, m.Numbers, m.Remote = append(m.Bots, v.Bot), append(m.Numbers, v.Number), append(m.Remote, v.Remote)
	}
	r.fresh[j] = struct{}{}
	return j, nil
}

// known reports whether a version is a house bot that has enough matches.
func known(p *matchmaking.Player) bool { return p.House && p.Matches >= ladder.EnoughMatches }

// pauses reports whether all versions of a ladder that may play have enough matches and the last
// one was less than Options.Pause ago.
func (r *Runner) pauses(name string, pool *matchmaking.Pool, may func(*matchmaking.Player) bool, now time.Time) bool {
	last, played := r.last[name]
	until := last.Add(r.Pause)
	if !played || !now.Before(until) {
		return false
	}
	if pool.Contains(func(p *matchmaking.Player) bool { return p.Matches < ladder.EnoughMatches && may(p) }) {
		return false
	}
	r.restsUntil(until)
	return true
}

// restsUntil notes when a ladder can have a match again.
func (r *Runner) restsUntil(until time.Time) {
	if r.quiet.IsZero() || until.Before(r.quiet) {
		r.quiet = until
	}
}
