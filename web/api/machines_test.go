package api

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/web/api/wire"
)

// machines are one in each state.
func (w *world) machines() ([]ladder.Machine, error) {
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	about := ladder.Machine{
		State: ladder.MachineReady, Version: "1.2.3", Protocol: 77, OS: "linux", Arch: "arm64", Sandbox: "full",
		Interpreters: map[string]string{"python3": "3.12.9"}, Cores: 4, Memory: 12345678912, Seen: at, Added: at.Add(-time.Hour),
	}
	local, resting, leaves, old := about, about, about, about
	local.Name, local.Local, local.Added = "local", true, time.Time{}
	local.Playing = []ladder.MachineMatch{{
		Match: w.running.ID, Attempt: 1, Ladder: w.running.Ladder, Bots: w.running.Bots, Numbers: w.running.Numbers, Began: at,
	}}
	local.Finished, local.LastHour, local.Void, local.Starved, local.Broken = 100, 60, 5, 4, 987
	resting.Name, resting.State, resting.Reason, resting.Until = "lab-1", ladder.MachineResting, "it could not play a match", at.Add(time.Minute)
	leaves.Name, leaves.State = "lab-2", ladder.MachineDraining
	old.Name, old.State, old.Reason = "lab-3", ladder.MachineRefused, "timba 1.2.3 on \"lab-3\" has protocol 77"
	away := ladder.Machine{Name: "lab-4", State: ladder.MachineAway, Added: at}
	return []ladder.Machine{local, resting, leaves, old, away}, nil
}

// Everybody sees the machines that are there and what they play; admins also see those that are not
// there, and what else is known.
func TestMachines(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	public := get[wire.Page[wire.Machine]](w, at("/machines")).Items
	full := get[wire.Page[wire.Machine]](w, at("/admin/machines").by("root all")).Items
	if len(public) != 4 || len(full) != 5 || full[4].Name != "lab-4" || full[4].State != "away" {
		t.Fatalf("everybody sees %+v, admins see %+v", public, full)
	}
	began := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	want := wire.Machine{
		Name: "local", Local: true, State: "ready", Version: "1.2.3", Arch: "arm64", Sandbox: "full", Cores: 4, Seen: began,
		Playing:  []wire.MachineMatch{{Match: w.running.ID, Attempt: 1, Ladder: "teeko", Bots: []string{"@random@1", "adabot@1"}, Began: began}},
		Finished: 100, LastHour: 60, Void: 5, Starved: 4,
	}
	if diff := cmp.Diff(want, public[0]); diff != "" {
		t.Errorf("the server's own (-want +got):\n%s", diff)
	}
	want.Operator = &wire.MachineOperator{Protocol: 77, OS: "linux", Memory: 12345678912, Interpreters: map[string]string{"python3": "3.12.9"}, Broken: 987}
	if diff := cmp.Diff(want, full[0]); diff != "" {
		t.Errorf("the server's own, for admins (-want +got):\n%s", diff)
	}
	if m := public[1]; m.State != "resting" || m.Reason == "" || !m.Until.Equal(began.Add(time.Minute)) {
		t.Errorf("the one that rests is %+v", m)
	}
	text := w.ask(call{method: "GET", path: "/api/v1/machines"}).Body.String()
	for _, secret := range []string{"lab-4", "12345678912", "3.12.9", "987", "seed", "added"} {
		if strings.Contains(text, secret) {
			t.Errorf("everybody sees %q in %s", secret, text)
		}
	}
	w = newWorld(t, func(o *Options) {
		o.Machines = func() ([]ladder.Machine, error) { return nil, errors.New("the file /secret is gone") }
	})
	if rec := w.ask(call{method: "GET", path: "/api/v1/machines"}); rec.Code != 500 || strings.Contains(rec.Body.String(), "secret") {
		t.Errorf("where the list cannot be read: %d %s", rec.Code, rec.Body)
	}
}

// An attempt names its machine, also while it runs.
func TestAttemptsNameTheirMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	b := w.store.Begin(bg, []store.Start{{
		New: &store.NewMatch{Ladder: "teeko", Versions: []int64{w.live.ID, w.houseVersion("@first")}}, Machine: "lab-1", Seed: referee.NewSeed(),
	}})[0]
	kit.Must(t, b.Err)
	m := get[wire.Match](w, at("/matches/%d", b.Match.ID))
	if len(m.Attempts) != 1 || m.Attempts[0].Machine != "lab-1" || m.Attempts[0].Seed != "" {
		t.Errorf("the attempts are %+v", m.Attempts)
	}
}
