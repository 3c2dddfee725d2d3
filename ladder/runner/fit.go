package runner

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/rating"
	stats "github.com/timba-arena/timba/referee/rating"
)

const (
	// fitEvery is how often a ladder with new matches is fitted: its standings are ordered by the fit.
	fitEvery = 5 * time.Second
	// fitRest is how often as long as the last fit of a ladder took it waits for the next: of many
	// versions it takes minutes.
	fitRest = 10
)

// fitter knows which ladders have matches that are not in their fits yet.
type fitter struct {
	mu      sync.Mutex
	ladders map[string]*unfitted
	changed chan struct{}
}

type unfitted struct {
	matches bool
	last    time.Time // of the fit
	took    time.Duration
}

func newFitter() *fitter {
	return &fitter{ladders: map[string]*unfitted{}, changed: make(chan struct{}, 1)}
}

// add notes a match.
func (f *fitter) add(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	u := f.ladders[name]
	if u == nil {
		u = &unfitted{}
		f.ladders[name] = u
	}
	u.matches = true
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// due returns a ladder to fit now, "" for none, and when the next one is due, zero
// for none.
func (f *fitter) due(now time.Time) (name string, next time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var longest time.Duration = -1
	for n, u := range f.ladders {
		if !u.matches {
			continue
		}
		at := u.last.Add(max(fitEvery, (1+fitRest)*u.took))
		if late := now.Sub(at); late >= 0 && late > longest {
			name, longest = n, late
		} else if late < 0 && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return name, next
}

// begun notes that a ladder's matches are fitted.
func (f *fitter) begun(name string, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ladders[name].matches, f.ladders[name].last = false, now
}

// ended notes how long a fit took.
func (f *fitter) ended(name string, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ladders[name].took = took
}

// startFitter fits in the background until the context ends; the channel is
// closed then.
func (r *Runner) startFitter(ctx context.Context) <-chan struct{} {
	for _, l := range r.Ladders {
		r.fits.add(l.Name) // matches of the server's previous run
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
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
			r.fits.ended(name, r.Now().Sub(now))
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
	results, err := r.results(ctx, name)
	if err != nil || results.empty() {
		return err
	}
	began := time.Now()
	anchors := map[int64]bool{}
	for _, id := range results.versions {
		v, err := r.Store.Version(ctx, id)
		if err != nil {
			return err
		}
		anchors[id] = v.Bot == ladder.Anchor
	}
	estimates, err := results.estimateUnder(ctx, anchors)
	if err != nil {
		return err
	}
	if err := r.Store.SaveFit(ctx, name, results.upto, estimates); err != nil {
		return fmt.Errorf("storing the fit: %w", err)
	}
	took := time.Since(began)
	r.metrics.fits.WithLabelValues(name).Observe(took.Seconds())
	r.Log.Debug("ratings fitted", "ladder", name, "versions", len(results.versions), "matches", results.upto, "seconds", took.Seconds())
	return nil
}

// results has a ladder's matches for a fit, with versions by number: counts by pair,
// or the matches themselves where teams play.
type results struct {
	versions []int64
	pairs    []stats.Pair
	bouts    []stats.Bout
	upto     int64
}

func (r results) empty() bool { return len(r.pairs)+len(r.bouts) == 0 }

// maxBouts is how many matches of teams are in a fit: it reads each of them.
const maxBouts = 100_000

func (r *Runner) results(ctx context.Context, name string) (out results, err error) {
	i := slices.IndexFunc(r.Ladders, func(l ladder.Ladder) bool { return l.Name == name })
	if i < 0 {
		return out, fmt.Errorf("ladder %q is not configured", name)
	}
	sides, err := r.Ladders[i].Sides()
	if err != nil {
		return out, err
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(sides))); len(distinct) < len(sides) {
		out.versions, out.bouts, out.upto, err = r.Store.Bouts(ctx, name, sides, maxBouts)
		return out, err
	}
	out.versions, out.pairs, out.upto, err = r.Store.Pairs(ctx, name)
	return out, err
}

// estimateUnder is estimate, and does not wait for it once the context has ended.
func (r results) estimateUnder(ctx context.Context, anchors map[int64]bool) (map[int64]stats.Estimate, error) {
	type result struct {
		estimates map[int64]stats.Estimate
		err       error
	}
	done := make(chan result, 1)
	go func() {
		lowPriority()
		estimates, err := r.estimate(anchors)
		done <- result{estimates, err}
	}()
	select {
	case out := <-done:
		return out.estimates, out.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// estimate fits the versions; all versions of the anchor are one bot, which is
// fixed.
func (r results) estimate(anchors map[int64]bool) (map[int64]stats.Estimate, error) {
	bots, number := 0, make([]int, len(r.versions))
	anchor := -1
	for i, id := range r.versions {
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
	var fixed *stats.Anchor
	if anchor >= 0 {
		fixed = &stats.Anchor{Bot: anchor, Elo: rating.AnchorElo}
	}
	fitted, err := r.fit(bots, number, fixed).Intervals()
	if err != nil {
		return nil, err
	}
	estimates := make(map[int64]stats.Estimate, len(r.versions))
	for i, id := range r.versions {
		estimates[id] = fitted[number[i]]
	}
	return estimates, nil
}

func (r results) fit(bots int, number []int, anchor *stats.Anchor) *stats.Fit {
	if len(r.bouts) > 0 {
		return stats.FitBouts(bots, renumbered(r.bouts, number), anchor)
	}
	var met []stats.Pair
	for _, p := range r.pairs {
		p.A, p.B = number[p.A], number[p.B]
		if p.A != p.B { // two versions of the anchor
			met = append(met, p)
		}
	}
	return stats.FitPairs(bots, met, anchor)
}

func renumbered(bouts []stats.Bout, number []int) []stats.Bout {
	team := func(members []int) (out []int) {
		for _, m := range members {
			out = append(out, number[m])
		}
		return out
	}
	out := make([]stats.Bout, len(bouts))
	for i, b := range bouts {
		out[i] = b
		out[i].A, out[i].B = team(b.A), team(b.B)
	}
	return out
}
