package runner

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/rating"
)

// A ladder is fitted again after fitMatches new matches, not more often than every
// fitEvery; a few new matches wait for fitLate at most.
const (
	fitMatches = 20
	fitEvery   = 30 * time.Second
	fitLate    = 5 * time.Minute
)

// fitter counts the matches that the ladders' fits do not have yet.
type fitter struct {
	mu      sync.Mutex
	ladders map[string]*unfitted
	changed chan struct{}
}

type unfitted struct {
	matches int
	last    time.Time // of the fit
}

func newFitter() *fitter {
	return &fitter{ladders: map[string]*unfitted{}, changed: make(chan struct{}, 1)}
}

// add counts a match.
func (f *fitter) add(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	u := f.ladders[name]
	if u == nil {
		u = &unfitted{}
		f.ladders[name] = u
	}
	u.matches++
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// due is a ladder to fit now, "" when there is none, and when the next one will be
// due, zero when nothing is known of any.
func (f *fitter) due(now time.Time) (name string, next time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var longest time.Duration = -1
	for n, u := range f.ladders {
		if u.matches == 0 {
			continue
		}
		wait := fitLate
		if u.matches >= fitMatches {
			wait = fitEvery
		}
		at := u.last.Add(wait)
		if late := now.Sub(at); late >= 0 && late > longest {
			name, longest = n, late
		} else if late < 0 && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return name, next
}

// begun takes the matches of a ladder as fitted.
func (f *fitter) begun(name string, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ladders[name].matches, f.ladders[name].last = 0, now
}

// startFitter fits in the background until the context ends; the channel is
// closed then.
func (r *Runner) startFitter(ctx context.Context) <-chan struct{} {
	for _, l := range r.Ladders {
		r.fits.add(l.Name) // what the last run of the server left
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lowPriority()
		r.fitLoop(ctx)
	}()
	return ended
}

func (r *Runner) fitLoop(ctx context.Context) {
	for ctx.Err() == nil {
		now := r.Now()
		name, next := r.fits.due(now)
		if name != "" {
			r.fits.begun(name, now)
			if err := r.fit(ctx, name); err != nil && ctx.Err() == nil {
				r.Log.Error("fitting the ratings", "ladder", name, "err", err)
			}
			continue
		}
		var timer <-chan time.Time
		if !next.IsZero() {
			timer = time.After(next.Sub(now))
		}
		select {
		case <-ctx.Done():
		case <-timer:
		case <-r.fits.changed:
		}
	}
}

// fit computes the ratings of a ladder from all its matches, whatever their order,
// relative to the anchor.
func (r *Runner) fit(ctx context.Context, name string) error {
	versions, pairs, upto, err := r.Store.Pairs(ctx, name)
	if err != nil || len(pairs) == 0 {
		return err
	}
	began := time.Now()
	anchors := map[int64]bool{}
	for _, id := range versions {
		v, err := r.Store.Version(ctx, id)
		if err != nil {
			return err
		}
		anchors[id] = v.Bot == ladder.Anchor
	}
	estimates, err := estimate(versions, pairs, anchors)
	if err != nil {
		return err
	}
	if err := r.Store.SaveFit(ctx, name, upto, estimates); err != nil {
		return fmt.Errorf("keeping it: %w", err)
	}
	took := time.Since(began)
	r.metrics.fits.WithLabelValues(name).Observe(took.Seconds())
	r.Log.Debug("ratings fitted", "ladder", name, "versions", len(versions), "matches", upto, "seconds", took.Seconds())
	r.hub.publish(Event{Kind: FitSaved, At: r.Now(), Ladder: name})
	return nil
}

// estimate fits versions; all versions of the anchor are one bot, which is held.
func estimate(versions []int64, pairs []rating.Pair, anchors map[int64]bool) (map[int64]rating.Estimate, error) {
	bots, number := 0, make([]int, len(versions))
	anchor := -1
	for i, id := range versions {
		if anchors[id] && anchor >= 0 {
			number[i] = anchor
			continue
		}
		if anchors[id] {
			anchor = bots
		}
		number[i] = bots
		bots++
	}
	var met []rating.Pair
	for _, p := range pairs {
		p.A, p.B = number[p.A], number[p.B]
		if p.A != p.B { // two versions of the anchor
			met = append(met, p)
		}
	}
	var o rating.Options
	if anchor >= 0 {
		o.Anchor = &rating.Anchor{Bot: anchor, Elo: ladder.AnchorElo}
	}
	fit, err := rating.FitPairs(bots, met, o)
	if err != nil {
		return nil, err
	}
	intervals, err := fit.Intervals()
	if err != nil {
		return nil, err
	}
	estimates := make(map[int64]rating.Estimate, len(versions))
	for i, id := range versions {
		estimates[id] = intervals[number[i]]
	}
	return estimates, nil
}
