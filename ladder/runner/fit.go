package runner

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/stats"
)

const (
	// fitInterval is the shortest time between two computations of the ratings of a ladder.
	fitInterval = 5 * time.Second
	// After its ratings were computed, a ladder waits fitRestFactor times the duration of that before the next
	// time. For many versions the computation takes minutes.
	fitRestFactor = 10
)

// fitter computes the maximum-likelihood ratings of ladders that have new matches, one ladder at a time.
type fitter struct {
	store    Store
	ladders  []ladder.Ladder
	seconds  *prometheus.HistogramVec // durations of fits, by ladder
	log      *slog.Logger
	turn     chan struct{}            // holds an element while a ladder is fitted
	requests map[string]chan struct{} // by ladder; holds an element if matches are missing from its fit
}

// newFitter returns a fitter that first computes the maximum-likelihood ratings of all ladders: the previous run of
// the server may have ended before it did that for the last matches. from is the store of the matches. seconds
// observes how long each computation takes.
func newFitter(from Store, ladders []ladder.Ladder, seconds *prometheus.HistogramVec, log *slog.Logger) *fitter {
	f := &fitter{store: from, ladders: ladders, seconds: seconds, log: log, turn: make(chan struct{}, 1), requests: map[string]chan struct{}{}}
	for _, l := range ladders {
		f.requests[l.Name] = make(chan struct{}, 1)
		f.requestFit(l.Name)
	}
	return f
}

// requestFit makes f compute the ratings of the ladder called name, which has a new match, as soon as possible.
func (f *fitter) requestFit(name string) {
	select {
	case f.requests[name] <- struct{}{}:
	default: // a request is pending
	}
}

func (f *fitter) run(ctx context.Context) {
	var ended sync.WaitGroup
	for _, l := range f.ladders {
		ended.Go(func() { f.fitRepeatedly(ctx, l) })
	}
	ended.Wait()
}

// fitRepeatedly computes the ratings of ladder l after requestFit has been called for it, until ctx ends. It waits
// for a while between two computations.
func (f *fitter) fitRepeatedly(ctx context.Context, l ladder.Ladder) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.requests[l.Name]:
		}
		f.turn <- struct{}{}
		start := time.Now()
		if err := f.fit(ctx, l); err != nil && ctx.Err() == nil {
			f.log.Error("fitting the ratings", "ladder", l.Name, "err", err)
		}
		took := time.Since(start)
		<-f.turn
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(fitInterval-took, fitRestFactor*took)):
		}
	}
}

// fit computes and stores the ratings of a ladder from all of its matches. They are relative to the anchor, the bot
// whose rating is fixed. The order of the matches does not matter.
func (f *fitter) fit(ctx context.Context, l ladder.Ladder) error {
	results, err := f.fitInput(ctx, l)
	if err != nil || results.isEmpty() {
		return err
	}
	start := time.Now()
	anchors := map[int64]bool{}
	for _, id := range results.versions {
		v, err := f.store.Versions.Find(ctx, id)
		if err != nil {
			return err
		}
		anchors[id] = v.Bot == ladder.Anchor
	}
	estimates, err := results.estimateWithContext(ctx, anchors)
	if err != nil {
		return err
	}
	if err := f.store.Ladders.SaveFit(ctx, l.Name, estimates); err != nil {
		return fmt.Errorf("storing the fit: %w", err)
	}
	took := time.Since(start)
	f.seconds.WithLabelValues(l.Name).Observe(took.Seconds())
	f.log.Debug("ratings fitted", "ladder", l.Name, "versions", len(results.versions), "ms", took.Milliseconds())
	return nil
}

// fitInput has the results on a ladder, from which its ratings are computed. versions has the IDs of the versions;
// pairs and bouts refer to them by index.
type fitInput struct {
	versions []int64
	pairs    []stats.Pair // results by pair of versions, if no teams play
	bouts    []stats.Bout // the matches themselves, if teams play
}

func (r fitInput) isEmpty() bool { return len(r.pairs)+len(r.bouts) == 0 }

// maxBouts limits how many matches are read to compute the ratings of a ladder on which teams play.
const maxBouts = 100_000

func (f *fitter) fitInput(ctx context.Context, l ladder.Ladder) (out fitInput, err error) {
	sides, err := l.Sides()
	if err != nil {
		return out, err
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(sides))); len(distinct) < len(sides) {
		out.versions, out.bouts, err = f.store.Ladders.Bouts(ctx, l.Name, sides, maxBouts)
		return out, err
	}
	out.versions, out.pairs, err = f.store.Ladders.Pairs(ctx, l.Name)
	return out, err
}

// estimateWithContext returns the result of estimate, which it calls in a thread with low priority. If ctx ends
// first, it returns an error.
func (r fitInput) estimateWithContext(ctx context.Context, anchors map[int64]bool) (map[int64]stats.Estimate, error) {
	type result struct {
		estimates map[int64]stats.Estimate
		err       error
	}
	done := make(chan result, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		cores.Lower(10)        // matches come first
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

// estimate returns the most likely rating of each version, by ID. anchors contains the versions of the bot whose
// rating is fixed; they count as one bot.
func (r fitInput) estimate(anchors map[int64]bool) (map[int64]stats.Estimate, error) {
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
		fixed = &stats.Anchor{Bot: anchor, Elo: rating.Current.Anchor}
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

func (r fitInput) fit(bots int, number []int, anchor *stats.Anchor) *stats.Fit {
	if len(r.bouts) > 0 {
		return stats.FitBouts(bots, renumberBouts(r.bouts, number), anchor)
	}
	var pairs []stats.Pair
	for _, p := range r.pairs {
		p.A, p.B = number[p.A], number[p.B]
		if p.A != p.B { // two versions of the anchor
			pairs = append(pairs, p)
		}
	}
	return stats.FitPairs(bots, pairs, anchor)
}

func renumberBouts(bouts []stats.Bout, number []int) []stats.Bout {
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
