package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/web/wire"
)

// A match that may take too long is refused. The error has the numbers and a suggestion, which is then accepted.
func TestAskForTooMuchTime(t *testing.T) {
	// limit: limits.time
	t.Parallel()
	w := newWorld(t, nil)
	w.Config.Limits.Time = 3 * time.Hour // each move may take a minute
	post := func(body string) (int, string) {
		rec := w.ask(call{method: http.MethodPost, path: "/api/v1/matches", who: "ada submit", body: body})
		return rec.Code, rec.Body.String()
	}
	for _, c := range []struct {
		body string
		want []string // parts of the error; "" if the match is accepted
	}{
		{`{"game":"teeko","options":{"limit":"0"},"deals":100,"bots":["adabot","@random"]}`,
			[]string{"the match may take 218450h0m0s, which is over the 3h0m0s", "100 deals in 2 rotations, games of up to 65535 plies, 60 s a move", "try 1 deal with limit=90 or less"}},
		{`{"game":"teeko","options":{"limit":"91"},"deals":1,"bots":["adabot","@random"]}`, []string{"limit=90 or less"}},
		{`{"game":"teeko","options":{"limit":"90"},"deals":1,"bots":["adabot","@random"]}`, nil},
		{`{"game":"teeko","options":{"limit":"10"},"deals":10,"bots":["adabot","@random"]}`, []string{"try fewer deals: 9 at most"}},
		{`{"game":"teeko","options":{"limit":"10"},"deals":9,"bots":["adabot","@random"]}`, nil},
		{`{"ladder":"teeko","bots":["adabot","@random"]}`, []string{"the match may take 6h40m0s"}},
		{`{"game":"brisca","options":{"players":"4"},"bots":["adabot","@random","@first","@greedy"]}`, []string{"fewer deals: 1 at most"}},
	} {
		code, said := post(c.body)
		if (code == http.StatusAccepted) != (c.want == nil) {
			t.Errorf("%s: %d %s", c.body, code, said)
		}
		for _, want := range c.want {
			if !strings.Contains(said, want) {
				t.Errorf("%s: says %s, want %q", c.body, said, want)
			}
		}
	}
}

// A match whose bots cannot fit into the memory of a machine is refused with the numbers.
func TestAskForTooMuchMemory(t *testing.T) {
	// limit: limits.memory
	t.Parallel()
	w := newWorld(t, nil)
	w.api.Service.Memory = ladder.MemoryBudget{Total: 799 << 20, Bot: 512 << 20}
	ask := func(bots string) (int, string) {
		rec := w.ask(call{method: http.MethodPost, path: "/api/v1/matches", who: "ada submit", body: `{"game":"tute","deals":1,"options":{"players":"4"},"bots":[` + bots + `]}`})
		return rec.Code, rec.Body.String()
	}
	// Three house bots are counted with 96 MiB each.
	code, said := ask(`"adabot","@random","@first","@greedy"`)
	if code != http.StatusBadRequest || !strings.Contains(said, "its 4 bots can use 800 MiB at once, 512 MiB each, and all bots together have 799 MiB") {
		t.Errorf("%d %s", code, said)
	}
	w.api.Service.Memory.Total = 800 << 20
	if code, said := ask(`"adabot","@random","@first","@greedy"`); code != http.StatusAccepted {
		t.Errorf("%d %s", code, said)
	}
}

// Only the person who requested a match and admins can cancel it, while it waits and while it runs. An
// admin's cancellation is reported to that person.
func TestCancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	cancel := func(m ladder.Match, who string) (int, string) {
		rec := w.ask(call{method: http.MethodPost, path: fmt.Sprintf("/api/v1/matches/%d/cancel", m.ID), who: who})
		return rec.Code, rec.Body.String()
	}
	waits, runs := w.addRequestedMatch("ada"), w.addRequestedMatch("ada")
	seed := referee.NewSeed()
	kit.Must(t, w.Store.Matches.Start(bg, []store.MatchStart{{Match: runs.ID, Seed: seed}})[0].Err)
	for _, who := range []string{"bob all", "bob submit", "root submit"} {
		if code, said := cancel(waits, who); code != http.StatusForbidden || !strings.Contains(said, "only who asked for match") {
			t.Errorf("%s: %d %s", who, code, said)
		}
	}
	woken := w.wakeUps.Load()
	for _, m := range []ladder.Match{waits, runs} {
		who := map[int64]string{waits.ID: "ada submit", runs.ID: "root all"}[m.ID]
		if code, said := cancel(m, who); code != http.StatusOK {
			t.Fatalf("%s: %d %s", who, code, said)
		}
		name, _, _ := strings.Cut(who, " ")
		doc := get[wire.Match](w, call{path: fmt.Sprintf("/api/v1/matches/%d", m.ID)})
		if doc.State != "dropped" || doc.Reason != "cancelled by "+name || doc.FinishedAt.IsZero() {
			t.Errorf("match %d is %s, %q", m.ID, doc.State, doc.Reason)
		}
		for _, a := range doc.Attempts {
			if a.EndedAt.IsZero() || a.Seed == "" {
				t.Errorf("match %d: its attempt goes on: %+v", m.ID, a)
			}
		}
	}
	if w.wakeUps.Load() != woken+2 {
		t.Errorf("the runner was woken %d times, want twice", w.wakeUps.Load()-woken)
	}
	for _, m := range []ladder.Match{waits, w.rated} {
		if code, said := cancel(m, "root all"); code != http.StatusConflict || !strings.Contains(said, "already") {
			t.Errorf("match %d once more: %d %s", m.ID, code, said)
		}
	}
	if code, said := cancel(w.rated, "ada submit"); code != http.StatusForbidden {
		t.Errorf("a rated match: %d %s", code, said)
	}
	messages, err := w.Store.People.Messages(bg, w.person("ada"), 0, 100)
	kit.Must(t, err)
	told := slices.DeleteFunc(messages, func(m ladder.Message) bool { return !strings.HasPrefix(m.Text().String(), "match ") })
	if len(told) != 1 || told[0].Text().String() != fmt.Sprintf("match %d was dropped: cancelled by root", runs.ID) {
		t.Errorf("ada is told %+v", told)
	}
}

// Blocking a person ends their requested matches and submissions, and nothing of others.
func TestBlockEndsAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	root := w.person("root")
	waits, runs, theirs := w.addRequestedMatch("ada"), w.addRequestedMatch("ada"), w.addRequestedMatch("root")
	seed := referee.NewSeed()
	kit.Must(t, w.Store.Matches.Start(bg, []store.MatchStart{{Match: runs.ID, Seed: seed}})[0].Err)
	kit.Must(t, w.Store.Versions.StartStage(bg, w.queued.ID, "unpack"))
	get[wire.Person](w, call{method: http.MethodPut, path: "/api/v1/admin/people/ada/block", who: "root all"})
	if w.wakeUps.Load() == 0 {
		t.Error("the runner was not woken")
	}
	for _, id := range []int64{waits.ID, runs.ID, w.running.ID, theirs.ID} { // adabot plays in all
		m := kit.Get[ladder.Match](t)(w.Store.Matches.Find(bg, id))
		if m.State != ladder.Dropped || m.Reason.String() != "cancelled: ada is blocked" {
			t.Errorf("match %d is %s, %q", id, m.State, m.Reason)
		}
	}
	v, err := w.Store.Versions.Find(bg, w.queued.ID)
	kit.Must(t, err)
	if v.State != ladder.Cancelled || v.Reason.String() != "cancelled: ada is blocked" {
		t.Errorf("the submission is %s, %q", v.State, v.Reason)
	}
	other, err := w.Store.Matches.Add(bg, w.houseMatch(root))
	kit.Must(t, err)
	get[wire.Person](w, call{method: http.MethodPut, path: "/api/v1/admin/people/bob/block", who: "root all"})
	if m, err := w.Store.Matches.Find(bg, other.ID); err != nil || m.State != ladder.Waiting {
		t.Errorf("a match of somebody else is %s, %v", m.State, err)
	}
}

// houseMatch returns a match between house bots that somebody requests.
func (w *world) houseMatch(by int64) store.NewMatch {
	return store.NewMatch{
		Game: "teeko", Versions: []int64{w.houseVersion("@random"), w.houseVersion("@first")}, Clock: w.Config.Ladders[0].Clock, Deals: 1, RequestedBy: by,
	}
}
