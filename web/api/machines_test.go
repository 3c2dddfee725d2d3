package api

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/web/wire"
)

// machines returns a machine in each state.
func (w *world) machines() ([]ladder.Machine, error) {
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	about := ladder.Machine{
		State: ladder.MachineReady, Version: "1.2.3", Protocol: 77, OS: "linux", Arch: "arm64", Sandbox: "full",
		Interpreters: map[string]string{"python3": "3.12.9"}, Cores: 4, Memory: 12345678912, LastReportAt: at, AddedAt: at.Add(-time.Hour),
	}
	local, paused, leaves, old := about, about, about, about
	local.Name, local.Local, local.AddedAt = "local", true, time.Time{}
	local.Playing = []ladder.MachineMatch{{
		Match: w.running.ID, Attempt: 1, Ladder: w.running.Ladder, Bots: w.running.Bots, Numbers: w.running.Numbers, StartedAt: at,
	}}
	local.FinishedMatches, local.MatchesLastHour, local.VoidGames, local.StarvedGames, local.BrokenAttempts = 100, 60, 5, 4, 987
	paused.Name, paused.State, paused.Reason, paused.PausedUntil = "lab-1", ladder.MachinePaused, phrase.Plain("it could not play a match"), at.Add(time.Minute)
	leaves.Name, leaves.State = "lab-2", ladder.MachineDraining
	old.Name, old.State, old.Reason = "lab-3", ladder.MachineRefused, phrase.Plain("timba 1.2.3 on \"lab-3\" has protocol 77")
	away := ladder.Machine{Name: "lab-4", State: ladder.MachineAway, AddedAt: at}
	return []ladder.Machine{local, paused, leaves, old, away}, nil
}

// Only admins see the machines that are not connected, and the details of machines. testdata/answers.txt has
// the answers for everybody and for admins.
func TestMachines(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
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

// An attempt names its machine, even while it runs.
func TestAttemptsNameTheirMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	b := w.Store.Matches.Start(bg, []store.MatchStart{{
		New: &store.NewMatch{Ladder: "teeko", Versions: []int64{w.live.ID, w.houseVersion("@first")}}, Machine: "lab-1", Seed: referee.NewSeed(),
	}})[0]
	kit.Must(t, b.Err)
	m := get[wire.Match](w, at("/matches/%d", b.Match.ID))
	if len(m.Attempts) != 1 || m.Attempts[0].Machine != "lab-1" || m.Attempts[0].Seed != "" {
		t.Errorf("the attempts are %+v", m.Attempts)
	}
}
