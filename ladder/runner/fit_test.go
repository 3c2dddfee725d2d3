package runner

import (
	"context"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/stats"
)

// slowPairs delays the reading of pairs, and so the fits of ladders.
type slowPairs struct {
	Ladders
	reads func(ladder string)
}

func (s slowPairs) Pairs(_ context.Context, ladder string) (v []int64, p []stats.Pair, err error) {
	s.reads(ladder)
	return v, p, err
}

// Ladders are fitted at the start and when they have new matches, one at a time, with pauses.
func TestFitter(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		fits, fitting, start := map[string][]time.Duration{}, 0, time.Now()
		var ladders []ladder.Ladder
		for _, name := range []string{"a", "b"} {
			ladders = append(ladders, ladder.Ladder{Name: name, Game: "tebes", Bots: 2})
		}
		slow := slowPairs{reads: func(name string) {
			if fitting++; fitting > 1 {
				t.Error("two ladders are fitted at once")
			}
			fits[name] = append(fits[name], time.Since(start))
			if time.Since(start) >= time.Minute {
				time.Sleep(fitInterval)
			}
			fitting--
		}}
		f := newFitter(Store{Ladders: slow}, ladders, nil, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); f.run(ctx) }()
		at := func(d time.Duration) { time.Sleep(time.Until(start.Add(d))) }
		at(time.Second)
		f.requestFit("a")
		f.requestFit("a")
		f.requestFit("no ladder")
		at(time.Minute) // a was fitted after fitInterval
		f.requestFit("a")
		at(time.Minute + 1)
		f.requestFit("a")
		f.requestFit("b") // after a
		at(time.Hour)
		cancel()
		<-ended
		want := map[string][]time.Duration{
			"a": {0, fitInterval, time.Minute, time.Minute + (1+fitRestFactor)*fitInterval},
			"b": {0, time.Minute + fitInterval},
		}
		if diff := cmp.Diff(want, fits); diff != "" {
			t.Errorf("the fits (-want +got):\n%s", diff)
		}
	})
}

// All versions of the anchor are one bot with a fixed rating.
func TestEstimate(t *testing.T) {
	t.Parallel()
	versions := []int64{4, 9, 17, 20}
	anchors := map[int64]bool{4: true, 17: true}
	pairs := []stats.Pair{
		{A: 0, B: 1, Deals: 100, Score: 25, Squares: 25}, {A: 1, B: 2, Deals: 100, Score: 75, Squares: 75},
		{A: 0, B: 2, Deals: 50, Score: 50, Squares: 50}, {A: 1, B: 3, Deals: 100, Score: 50, Squares: 50},
	}
	got := kit.Get[map[int64]stats.Estimate](t)(fitInput{versions: versions, pairs: pairs}.estimate(anchors))
	for id, want := range map[int64]float64{4: 1000, 17: 1000, 9: 1000 + stats.Elo(0.75), 20: 1000 + stats.Elo(0.75)} {
		if e := got[id]; math.Abs(e.Value-want) > 5 || e.Low > e.Value || e.High < e.Value {
			t.Errorf("version %d: %+v, want about %.0f", id, e, want)
		}
	}
	if got[4] != got[17] {
		t.Errorf("the versions of the anchor have %+v and %+v", got[4], got[17])
	}
}

// Ratings of ladders with teams account for the partners.
func TestEstimateTeams(t *testing.T) {
	t.Parallel()
	versions := []int64{4, 9, 17, 20, 21}
	anchors := map[int64]bool{4: true, 17: true}
	// 9 is strong and all others are equal: a team with 9 scores by half of its lead.
	s := stats.Score(100)
	r := fitInput{versions: versions}
	for range 20 {
		r.bouts = append(r.bouts,
			stats.Bout{A: []int{0, 1}, B: []int{3, 4}, Deals: 10, Score: 10 * s}, stats.Bout{A: []int{3, 1}, B: []int{4, 2}, Deals: 10, Score: 10 * s},
			stats.Bout{A: []int{4, 1}, B: []int{2, 3}, Deals: 10, Score: 10 * s})
	}
	got := kit.Get[map[int64]stats.Estimate](t)(r.estimate(anchors))
	for id, want := range map[int64]float64{4: 1000, 17: 1000, 9: 1200, 20: 1000, 21: 1000} {
		if e := got[id]; math.Abs(e.Value-want) > 5 || e.Low > e.Value || e.High < e.Value {
			t.Errorf("version %d: %+v, want about %.0f", id, e, want)
		}
	}
}
