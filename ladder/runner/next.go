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
)

// next returns the next job and the memory to reserve for it; nil for none.
func (r *Runner) next(ctx context.Context) (*job, int64, error) {
	j, err := r.choose(ctx)
	if err != nil || j == nil {
		return nil, 0, err
	}
	if !j.paused {
		if err := r.measure(ctx, j); err != nil {
			return nil, 0, err
		}
		if r.Room.Total > 0 && j.memory > r.Room.Total {
			return nil, 0, r.neverFits(ctx, j)
		}
	}
	r.turns.began(j)
	r.costs.fade(r.Now())
	j.charged = r.costs.began(j.ladder())
	return j, j.memory - j.held, nil
}

// measure finds out how much memory a job needs.
func (r *Runner) measure(ctx context.Context, j *job) error {
	if j.match == nil {
		j.memory = r.Submission
		return nil
	}
	v, err := j.match.Variant()
	if err != nil {
		return nil // play tells what is wrong
	}
	j.rotations, j.memory = r.Room.Together(v, j.match.House(), len(r.Cores))
	if r.Standing == nil {
		return nil
	}
	for _, id := range j.match.Versions {
		v, err := r.Store.Version(ctx, id)
		if err != nil {
			return err
		}
		if !v.Remote && !r.Standing(v) {
			j.memory = max(j.memory, r.Submission)
		}
	}
	return nil
}

func (r *Runner) choose(ctx context.Context) (*job, error) {
	submission, err := r.nextSubmission(ctx)
	if err != nil {
		return nil, err
	}
	// Half of the cores are for submissions. Of an odd number, they and matches take
	// turns on the one in the middle.
	if submission != nil && (len(r.submitting) < len(r.Cores)/2 || !r.turns.submitted) {
		return submission, nil
	}
	m, spare, err := r.nextMatch(ctx)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return submission, nil
	}
	j := r.taken[m.ID] // it has paused
	if j == nil {
		j = &job{match: m}
	}
	j.spare = spare
	return j, nil
}

// nextSubmission returns the version whose turn it is; nil for none, or while as many
// submissions run as may at the same time: on half of the cores, rounded up, one of
// each owner.
func (r *Runner) nextSubmission(ctx context.Context) (*job, error) {
	if r.Submit == nil || len(r.submitting) >= (len(r.Cores)+1)/2 {
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

// nextMatch returns a match that waits or has paused, or a new one of a ladder; spare
// tells that it was asked for and there is nothing else to play.
func (r *Runner) nextMatch(ctx context.Context) (m *ladder.Match, spare bool, err error) {
	waiting, err := r.Store.Waiting(ctx, maxWaiting)
	if err != nil {
		return nil, false, err
	}
	r.metrics.waiting.Set(float64(len(waiting)))
	for _, j := range r.parked() {
		waiting = append(waiting, *j.match)
	}
	r.giveUp(ctx, waiting)
	over := r.over()
	turn := func(m *ladder.Match) bool { return r.may(m) && (m.AskedBy == 0 || !over) }
	if m := r.turns.pick(waiting, turn, false); m != nil {
		return m, false, nil
	}
	if m, err = r.newMatch(ctx); err != nil || m != nil {
		return m, false, err
	}
	m = r.turns.pick(waiting, r.may, true)
	return m, m != nil, nil
}

// may reports whether a waiting match can begin now.
func (r *Runner) may(m *ladder.Match) bool {
	now := r.Now()
	if m.State == ladder.Dropped {
		return false
	}
	if m.AskedBy != 0 && !r.mayAsked(m) {
		return false
	}
	if j := r.taken[m.ID]; j != nil {
		return j.paused
	}
	if r.backoffs.active(matchName(m.ID), now) || r.backoffs.active(ladderName(m.Ladder), now) {
		return false
	}
	for slot, v := range m.Versions {
		if r.backoffs.active(versionName(v), now) || m.Remote[slot] && r.busyOrAway(v) {
			return false
		}
	}
	return true
}

// newMatch makes a match of the ladder whose turn it is; nil when no ladder has
// enough versions.
func (r *Runner) newMatch(ctx context.Context) (*ladder.Match, error) {
	now := r.Now()
	r.costs.fade(now)
	r.quiet = time.Time{}
	for _, l := range r.costs.order(r.Ladders) {
		if r.backoffs.active(ladderName(l.Name), now) {
			continue
		}
		state, err := r.Store.LadderState(ctx, l.Name)
		if err != nil {
			return nil, fmt.Errorf("ladder %s: %w", l.Name, err)
		}
		state.Slots, state.Players = l.Bots, r.available(state.Players)
		if r.pauses(l.Name, state.Players, now) {
			continue
		}
		met := func(version int64) (map[int64]int, error) { return r.Store.Met(ctx, l.Name, version) }
		slots, ok, err := matchmaking.Next(state, met, r.rand)
		if err != nil {
			return nil, fmt.Errorf("ladder %s: counting meetings: %w", l.Name, err)
		}
		if ok {
			r.last[l.Name] = now
			m, err := r.Store.AddMatch(ctx, store.NewMatch{Ladder: l.Name, Versions: slots, Allowance: r.Allowance})
			return &m, err
		}
	}
	return nil, nil
}

// pauses reports whether all versions of a ladder have enough matches and the last
// one was less than Options.Pause ago.
func (r *Runner) pauses(name string, players []matchmaking.Player, now time.Time) bool {
	last, played := r.last[name]
	if !played || slices.ContainsFunc(players, func(p matchmaking.Player) bool { return p.Matches < ladder.EnoughMatches }) {
		return false
	}
	until := last.Add(r.Pause)
	if !now.Before(until) {
		return false
	}
	if r.quiet.IsZero() || until.Before(r.quiet) {
		r.quiet = until
	}
	return true
}

// available returns the players without those whose version has a backoff, or is remote
// and cannot play now.
func (r *Runner) available(players []matchmaking.Player) (available []matchmaking.Player) {
	now := r.Now()
	for _, p := range players {
		if !r.backoffs.active(versionName(p.ID), now) && !(p.Remote && r.busyOrAway(p.ID)) {
			available = append(available, p)
		}
	}
	return available
}
