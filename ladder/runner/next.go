package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/ladder/store"
)

// next chooses what is done next; nil when there is nothing.
func (r *Runner) next(ctx context.Context) (*job, error) {
	j, err := r.choose(ctx)
	if err != nil || j == nil {
		return nil, err
	}
	r.turns.began(j)
	if j.match != nil && j.match.Rated {
		r.costs.fade(r.Now())
		j.charged = r.costs.began(j.match.Ladder)
	}
	return j, nil
}

func (r *Runner) choose(ctx context.Context) (*job, error) {
	submission, err := r.nextSubmission(ctx)
	if err != nil {
		return nil, err
	}
	if submission != nil && (len(r.Cores) > 1 || !r.turns.submitted) {
		return submission, nil
	}
	m, err := r.nextMatch(ctx)
	if err != nil {
		return nil, err
	}
	if m != nil {
		return &job{match: m}, nil
	}
	return submission, nil
}

// nextSubmission is the oldest version that is not through its stages; nil while
// another one is at it.
func (r *Runner) nextSubmission(ctx context.Context) (*job, error) {
	if r.Submit == nil || r.submitting {
		return nil, nil
	}
	pending, err := r.Store.Pending(ctx)
	if err != nil {
		return nil, fmt.Errorf("the submissions: %w", err)
	}
	r.metrics.submissions.Set(float64(len(pending)))
	now := r.Now()
	for _, v := range pending {
		if !r.rests.resting(versionName(v.ID), now) {
			return &job{version: v.ID}, nil
		}
	}
	return nil, nil
}

func versionName(id int64) string   { return fmt.Sprintf("version %d", id) }
func matchName(id int64) string     { return fmt.Sprintf("match %d", id) }
func ladderName(name string) string { return "ladder " + name }

// maxWaiting is how many of the matches that wait are looked at.
const maxWaiting = 1000

// nextMatch is a match that waits, or a new one of a ladder.
func (r *Runner) nextMatch(ctx context.Context) (*ladder.Match, error) {
	waiting, err := r.Store.Waiting(ctx, maxWaiting)
	if err != nil {
		return nil, err
	}
	r.metrics.waiting.Set(float64(len(waiting)))
	if m := r.turns.pick(waiting, r.may, false); m != nil {
		return m, nil
	}
	m, err := r.newMatch(ctx)
	if err != nil || m != nil {
		return m, err
	}
	return r.turns.pick(waiting, r.may, true), nil
}

// may tells whether a match that waits can be begun now.
func (r *Runner) may(m *ladder.Match) bool {
	now := r.Now()
	if r.taken[m.ID] || r.rests.resting(matchName(m.ID), now) || r.rests.resting(ladderName(m.Ladder), now) {
		return false
	}
	for _, v := range m.Versions {
		if r.rests.resting(versionName(v), now) {
			return false
		}
	}
	return true
}

// newMatch makes a match of the ladder whose turn it is; nil when no ladder has
// versions enough.
func (r *Runner) newMatch(ctx context.Context) (*ladder.Match, error) {
	now := r.Now()
	r.costs.fade(now)
	r.quiet = time.Time{}
	for _, l := range r.costs.order(r.Ladders) {
		if r.rests.resting(ladderName(l.Name), now) {
			continue
		}
		state, err := r.Store.LadderState(ctx, l.Name)
		if err != nil {
			return nil, fmt.Errorf("ladder %s: %w", l.Name, err)
		}
		state.Slots, state.Players = l.Bots, r.rested(state.Players)
		if r.pauses(l.Name, state.Players, now) {
			continue
		}
		if slots, ok := matchmaking.Next(state, r.rand); ok {
			r.last[l.Name] = now
			m, err := r.Store.AddMatch(ctx, store.NewMatch{Ladder: l.Name, Versions: slots})
			return &m, err
		}
	}
	return nil, nil
}

// pauses tells whether a ladder has nothing new to tell and had a match lately.
func (r *Runner) pauses(name string, players []matchmaking.Player, now time.Time) bool {
	last, played := r.last[name]
	if !played || slices.ContainsFunc(players, func(p matchmaking.Player) bool { return p.Matches < ladder.Settled }) {
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

// rested are the players without those whose program cannot be had now.
func (r *Runner) rested(players []matchmaking.Player) (rested []matchmaking.Player) {
	now := r.Now()
	for _, p := range players {
		if !r.rests.resting(versionName(p.ID), now) {
			rested = append(rested, p)
		}
	}
	return rested
}
