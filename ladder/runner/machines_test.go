package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/events"
)

// machineNamed returns the machine called name in a list.
func machineNamed(t *testing.T, list []ladder.Machine, name string) ladder.Machine {
	t.Helper()
	i := slices.IndexFunc(list, func(m ladder.Machine) bool { return m.Name == name })
	if i < 0 {
		t.Fatalf("%q is not among %v", name, list)
	}
	return list[i]
}

// The description of a machine says what it plays, what it has finished, and why it gets no jobs. Machines
// with credentials are listed even if they are not connected.
func TestMachinesAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	f := w.newFleet("w1")
	f.AddMachine(attempt.WorkerInfo{Name: "old", Cores: []int{0}, Refusal: phrase.Plain("protocol 0"), Version: "0.1"})
	f.AddMachine(attempt.WorkerInfo{Name: "leaves", Cores: []int{0}, Draining: true})
	begun, goOn := make(chan attempt.Job, 100), make(chan struct{})
	f.Player = func(ctx context.Context, _ string, j attempt.Job) attempt.Result {
		begun <- j
		<-goOn
		result := w.playScripts(ctx, j)
		result.VoidGames, result.StarvedGames = 3, 1
		return result
	}
	registry := prometheus.NewRegistry()
	r := w.startRunner(0, func(o *runnerParts) { o.Fleet, o.Registerer = f, registry })
	first, second := <-begun, <-begun
	at := time.Unix(5000, 0)
	list := r.Machines(map[string]time.Time{"w1": at, "never": at})
	var names []string
	for _, m := range list {
		names = append(names, fmt.Sprintf("%s %s", m.Name, m.State))
	}
	want := []string{"local ready", "leaves draining", "never away", "old refused", "w1 ready"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("the machines (-want +got):\n%s", diff)
	}
	if old := machineNamed(t, list, "old"); old.Reason.String() != "protocol 0" || old.Version != "0.1" {
		t.Errorf("the refused one is %+v", old)
	}
	w1 := machineNamed(t, list, "w1")
	var plays []ladder.MachineMatch
	for _, j := range []attempt.Job{first, second} {
		m := kit.Get[ladder.Match](t)(w.Store.Matches.Find(t.Context(), j.Match))
		plays = append(plays, ladder.MachineMatch{Match: j.Match, Attempt: 1, Ladder: m.Ladder, Bots: m.Bots, Numbers: m.Numbers, StartedAt: m.Attempts[0].StartedAt})
	}
	byMatch := cmpopts.SortSlices(func(a, b ladder.MachineMatch) bool { return a.Match < b.Match })
	if diff := cmp.Diff(plays, w1.Playing, byMatch); diff != "" || w1.FinishedMatches != 0 || !w1.AddedAt.Equal(at) {
		t.Errorf("w1 is %+v; it plays (-want +got):\n%s", w1, diff)
	}
	close(goOn)
	r.awaitMatches(2)
	r.stop()
	w1 = machineNamed(t, r.Machines(nil), "w1")
	if w1.FinishedMatches < 2 || w1.MatchesLastHour != int(w1.FinishedMatches) || w1.VoidGames != 3*w1.FinishedMatches || w1.StarvedGames != w1.FinishedMatches || len(w1.Playing) != 0 {
		t.Errorf("after %d matches w1 is %+v", w1.FinishedMatches, w1)
	}
	f.LoseMachine("w1")
	r.syncMachines()
	gone := machineNamed(t, r.Machines(map[string]time.Time{"w1": at}), "w1")
	if gone.State != ladder.MachineAway || gone.FinishedMatches != w1.FinishedMatches || gone.Cores != 0 {
		t.Errorf("after it has left w1 is %+v", gone)
	}
}

// A machine that could not play pauses, which its description and the metrics show, and its failures are
// counted. Another machine plays meanwhile.
func TestMachineThatFailsIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	f := w.newFleet("w1")
	now := time.Unix(1000, 0) // a rest does not end
	f.Player = func(_ context.Context, _ string, j attempt.Job) attempt.Result {
		return attempt.Result{Match: j.Match, Attempt: j.Attempt, Failure: &attempt.Failure{Kind: attempt.FailedMachine, Text: phrase.Plain("/secret/dir is full")}}
	}
	r := w.startRunner(1, func(o *runnerParts) { o.Fleet, o.Now = f, func() time.Time { return now } })
	r.awaitEvent("w1 fails", func(e events.Event) bool { return e.Kind == events.MatchBroken })
	r.awaitMatches(2) // the end of the first was taken before the second began
	r.stop()
	m := machineNamed(t, r.Machines(nil), "w1")
	if m.State != ladder.MachinePaused || !m.Reason.Equal(pauseReason) || !m.PausedUntil.After(now) || m.BrokenAttempts == 0 || m.FinishedMatches != 0 {
		t.Errorf("it is %+v", m)
	}
	registry := r.Registerer.(*prometheus.Registry)
	if n := metricValue(t, registry, "timba_machines", "paused"); n != 1 {
		t.Errorf("%v machines are counted as paused", n)
	}
	if n := metricValue(t, registry, "timba_machines", "ready"); n != 1 {
		t.Errorf("%v machines are counted as ready", n)
	}
}

// metricValue returns the value of a metric with one label.
func metricValue(t *testing.T, from *prometheus.Registry, name, label string) float64 {
	t.Helper()
	families, err := from.Gather()
	kit.Must(t, err)
	for _, family := range families {
		for _, m := range family.Metric {
			if family.GetName() == name && len(m.Label) == 1 && m.Label[0].GetValue() == label {
				return m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("there is no metric %s with %s", name, label)
	return 0
}

// The matches of the last hour are counted by the minute.
func TestHour(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	h := minuteCounts{}
	for range 3 {
		h.add(at)
	}
	h.add(at.Add(30 * time.Minute))
	for after, want := range map[time.Duration]int{30 * time.Minute: 4, 59 * time.Minute: 4, 60 * time.Minute: 1, 89 * time.Minute: 1, 90 * time.Minute: 0, 1000 * time.Hour: 0} {
		c := maps.Clone(h)
		if n := c.sum(at.Add(after)); n != want {
			t.Errorf("after %v it counts %d, want %d", after, n, want)
		}
	}
	h.add(at.Add(-time.Hour)) // the clock was set back
	if n := h.sum(at.Add(30 * time.Minute)); n != 4 {
		t.Errorf("after the clock was set back it counts %d", n)
	}
}
