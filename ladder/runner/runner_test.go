package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// Each core plays one match after the other. Matches are stored completely and match their commitments.
func TestPlay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	registry := prometheus.NewRegistry()
	r := w.startRunner(2, func(o *runnerParts) { o.Registerer = registry })
	r.awaitMatches(6)
	r.stop()
	finished := 0
	for _, m := range w.matches() {
		if m.State != ladder.Finished {
			t.Errorf("match %d is %s, after a stop that waited for all", m.ID, m.State)
			continue
		}
		finished++
		if len(m.Attempts) != 1 || m.Attempts[0].Seed == nil {
			t.Fatalf("match %d has the attempts %v, want one with a seed", m.ID, m.Attempts)
		}
		a := m.Attempts[0]
		if referee.Commitment(rules.Seed(*a.Seed)) != a.Commitment {
			t.Errorf("match %d: the seed is not what was promised", m.ID)
		}
		games := kit.Get[[]ladder.FinishedGame](t)(w.Store.Matches.Games(t.Context(), m.ID))
		if len(games) != 2 {
			t.Fatalf("match %d has %d games, want 2", m.ID, len(games))
		}
		for _, g := range games {
			data := kit.Get[[]byte](t)(w.Store.Matches.Replay(t.Context(), g.ID))
			replay := kit.Get[*referee.Replay](t)(referee.DecodeReplay(data))
			if replay.Match.Seed == nil || *replay.Match.Seed != *a.Seed || len(replay.Faults) > 0 {
				t.Errorf("game %d has the seed %v and the faults %v", g.ID, replay.Match.Seed, replay.Faults)
			}
		}
	}
	if finished < 6 {
		t.Errorf("%d matches are finished, want 6", finished)
	}
	if got := metricSum(t, registry, "timba_matches_finished_total"); got != float64(finished) {
		t.Errorf("the metrics count %v matches, want %d", got, finished)
	}
	if got := metricSum(t, registry, "timba_games_total"); got != float64(2*finished) {
		t.Errorf("the metrics count %v games, want %d", got, 2*finished)
	}
	if got := metricSum(t, registry, "timba_matches_playing"); got != 0 {
		t.Errorf("the metrics say that %v matches are played after the end", got)
	}
	for _, a := range allSeeds(w) {
		if strings.Contains(w.logText(), a) {
			t.Error("the log tells a seed")
		}
	}
}

func allSeeds(w *world) (seeds []string) {
	for _, m := range w.matches() {
		for _, a := range m.Attempts {
			if a.Seed != nil {
				seeds = append(seeds, a.Seed.String())
			}
		}
	}
	return seeds
}

// metricSum returns the sum of a metric over its labels.
func metricSum(t *testing.T, from *prometheus.Registry, name string) (sum float64) {
	t.Helper()
	families, err := from.Gather()
	kit.Must(t, err)
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.Metric {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
		return sum
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

// A stop without grace interrupts running matches. Their seeds become public, and the next runner plays them
// again with other seeds.
func TestStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	slow := w.bot("slow", script("test $verb = turn && exec sleep 1d"))
	r := w.startRunner(1, func(o *runnerParts) { o.Limits.Grace = 0 })
	e := r.awaitEvent("the slow one plays", func(e events.Event) bool {
		if e.Kind != events.MatchStarted {
			return false
		}
		m := kit.Get[ladder.Match](t)(w.Store.Matches.Find(t.Context(), e.Match))
		return slices.Contains(m.Versions, slow.ID)
	})
	r.stop()
	m := kit.Get[ladder.Match](t)(w.Store.Matches.Find(t.Context(), e.Match))
	if m.State != ladder.Waiting || len(m.Attempts) != 1 || m.Attempts[0].Seed == nil || m.Attempts[0].Reason.String() != "the server stopped" {
		t.Fatalf("after the stop it is %s, with the attempts %+v", m.State, m.Attempts)
	}

}

// unreadableMatches is a store that cannot read the running matches.
type unreadableMatches struct{ Matches }

func (unreadableMatches) ListRunning(context.Context) ([]store.RunningAttempt, error) {
	return nil, errors.New("the disk is broken")
}

// A runner that cannot read the running matches returns an error at once.
func TestRunFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	r := w.newRunner(1, func(o *runnerParts) { o.Store.Matches = unreadableMatches{o.Store.Matches} })
	if err := r.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "the disk is broken") {
		t.Errorf("it ends with %v", err)
	}
}
