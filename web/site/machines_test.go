package site_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/web/site"
	"github.com/timba-arena/timba/web/webtest"
)

// withMachines gives the site a machine in each state.
func withMachines(o *site.Options) {
	o.Machines = func() ([]ladder.Machine, error) { return machinesInAllStates(), nil }
}

func machinesInAllStates() []ladder.Machine {
	at := time.Now().Add(-time.Minute)
	about := ladder.Machine{
		State: ladder.MachineReady, Version: "1.2.3", Protocol: 77, OS: "plan9", Arch: "amd64", Sandbox: "full", Cores: 4, Memory: 12345678912, LastReportAt: at, AddedAt: at,
		Interpreters: map[string]string{"python3": "3.12.9"}, FinishedMatches: 12345, MatchesLastHour: 678, VoidGames: 9, StarvedGames: 8, BrokenAttempts: 98765,
	}
	local, paused, leaves, old := about, about, about, about
	local.Name, local.Local = "local", true
	for i := range 7 {
		local.Playing = append(local.Playing, ladder.MachineMatch{
			Match: int64(i + 1), Attempt: 1, Ladder: "brisca", Bots: []string{"@first", "@greedy"}, Numbers: []int{1, 1}, StartedAt: at,
		})
	}
	paused.Name, paused.State, paused.Reason, paused.PausedUntil = strings.Repeat("lab-", 10), ladder.MachinePaused, phrase.New("it could not play a match"), at.Add(time.Hour)
	leaves.Name, leaves.State = "lab-2", ladder.MachineDraining
	old.Name, old.State, old.Reason = "lab-3", ladder.MachineRefused, phrase.New("timba %s on %q has protocol %d, and the server has %d: install the server's version", "0.1", "lab-3", 77, 1)
	return []ladder.Machine{local, paused, leaves, old, {Name: "lab-4", State: ladder.MachineAway, AddedAt: at}}
}

// The page of machines names the matches of each machine and why it gets none, and shows nothing that only
// admins see. A long list has several pages.
func TestMachinesPage(t *testing.T) {
	t.Parallel()
	many := 0
	w := webtest.NewStaticWorld(t, func(o *site.Options) {
		o.Machines = func() ([]ladder.Machine, error) {
			list := machinesInAllStates()
			for i := range many {
				list = append(list, ladder.Machine{Name: fmt.Sprintf("more-%d", i), State: ladder.MachineReady, Cores: 1})
			}
			return list, nil
		}
	})
	c := w.Client()
	page := w.Get(c, "/machines").Body
	requireTexts(t, "the page", page,
		`<tr id="local">`, `the server’s own`, `href="/matches/4">first – greedy</a>`, `and 3 more`, `12,345`, `678`, `9 <span class="soft">(8)</span>`,
		`amd64 · full<br>timba 1.2.3`, `paused</span> <span class="soft">it could not play a match`, `leaving`, `refused</span>`,
		`has protocol 77, and the server has 1`, `<a href="/machines" aria-current="page">Machines</a>`,
	)
	for _, secret := range []string{"lab-4", "12345678912", "3.12.9", "98765", "plan9", `href="/matches/5"`} {
		if strings.Contains(page, secret) {
			t.Errorf("the page shows %q", secret)
		}
	}
	if t.Failed() {
		t.Logf("%s", page)
	}
	for lang, text := range map[string]string{"es": "Enfrentamientos en la última hora", "ca": "Enfrontaments en l’última hora"} {
		if page := w.Get(w.Client(), "/machines", "Accept-Language", lang).Body; !strings.Contains(page, text) {
			t.Errorf("in %s the page lacks %q", lang, text)
		}
	}
	many = 60
	if page := w.Get(c, "/machines?page=2").Body; strings.Contains(page, `id="local"`) || !strings.Contains(page, `id="more-59"`) {
		t.Errorf("the second page is %s", page)
	}
	if a := w.Get(c, "/machines?page=0"); a.Status != http.StatusBadRequest {
		t.Errorf("page 0 answers %d", a.Status)
	}
}

// Without Options.Machines the page says that no machine is connected.
func TestNoMachines(t *testing.T) {
	t.Parallel()
	w := webtest.NewStaticWorld(t, nil)
	if page := w.Get(w.Client(), "/machines").Body; !strings.Contains(page, "No machine is connected.") {
		t.Errorf("without machines: %s", page)
	}
}

// The page of a match names the machine of each attempt.
func TestMatchNamesItsMachine(t *testing.T) {
	t.Parallel()
	w := webtest.NewStaticWorld(t, nil)
	b := w.Store.Matches.Start(t.Context(), []store.MatchStart{{
		New: &store.NewMatch{Ladder: "brisca", Versions: []int64{w.Version("@first"), w.Version("@greedy")}}, Machine: "lab-2", Seed: referee.NewSeed(),
	}})[0]
	w.Must(b.Err)
	page := w.Get(w.Client(), fmt.Sprintf("/matches/%d", b.Match.ID)).Body
	if !strings.Contains(page, `<a href="/machines#lab-2">lab-2</a>`) {
		t.Errorf("the page does not name the machine: %s", page)
	}
	if strings.Contains(page, "/live/") {
		t.Error("it offers to watch what another machine plays")
	}
}
