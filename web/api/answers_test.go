package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/web/api/wire"
)

func at(format string, args ...any) call {
	return call{path: "/api/v1" + fmt.Sprintf(format, args...)}
}

func (c call) by(who string) call { c.who = who; return c }

func TestLadders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	page := get[wire.Page[wire.Ladder]](w, at("/ladders"))
	var names []string
	for _, l := range page.Items {
		names = append(names, l.Name)
	}
	if !slices.Equal(names, []string{"teeko", "tebes"}) {
		t.Errorf("ladders %v", names)
	}
	one := get[wire.Ladder](w, at("/ladders/teeko"))
	if diff := cmp.Diff(page.Items[0], one); diff != "" || one.Matches != 1 || one.Slots != 2 || one.Clock.Move != time.Minute {
		t.Errorf("%+v %s", one, diff)
	}
	places := get[wire.Page[wire.Standing]](w, at("/ladders/teeko/standings"))
	if len(places.Items) != 3 {
		t.Fatalf("places %+v", places)
	}
	for i, s := range places.Items {
		if i > 0 && s.Elo > places.Items[i-1].Elo {
			t.Errorf("place %d has a higher Elo than the one before", i)
		}
		if s.Bot == "adabot" && (s.Owner != "ada" || s.House || s.Matches != 1 || s.Games != 2 || s.Last.IsZero()) {
			t.Errorf("adabot %+v", s)
		}
		if s.Bot == "@random" && (!s.House || s.Elo != 1000) {
			t.Errorf("the anchor %+v", s)
		}
	}
}

// pagesOf returns all items of a list, some at a time.
func pagesOf[T any](w *world, c call, limit int) (all []T) {
	w.tb.Helper()
	sep := "?"
	if strings.Contains(c.path, "?") {
		sep = "&"
	}
	next := ""
	for range 1000 {
		page := get[wire.Page[T]](w, call{path: fmt.Sprintf("%s%slimit=%d%s", c.path, sep, limit, next), who: c.who})
		if len(page.Items) > limit {
			w.tb.Fatalf("%s: a page of %d items", c.path, len(page.Items))
		}
		all = append(all, page.Items...)
		if page.Next == "" || len(page.Items) == 0 {
			return all
		}
		next = "&cursor=" + page.Next
	}
	w.tb.Fatalf("%s: the pages do not end", c.path)
	return nil
}

// TestPages: however large the pages, they have all items once and in order.
func TestPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	same(t, w, wire.Bot{}, at("/bots"))
	same(t, w, wire.Bot{}, at("/bots?house=true"))
	same(t, w, wire.Bot{}, at("/me/bots").by("ada read"))
	same(t, w, wire.Version{}, at("/bots/adabot/versions"))
	same(t, w, wire.Match{}, at("/matches"))
	same(t, w, wire.Match{}, at("/bots/adabot/matches"))
	same(t, w, wire.Match{}, at("/ladders/teeko/matches"))
	same(t, w, wire.Game{}, at("/matches/%d/games", w.rated.ID))
	same(t, w, wire.Standing{}, at("/ladders/teeko/standings?active=false"))
	same(t, w, wire.Message{}, at("/me/messages").by("ada read"))
	same(t, w, wire.Person{}, at("/admin/people").by("root all"))
	same(t, w, wire.Machine{}, at("/machines"))
	same(t, w, wire.Machine{}, at("/admin/machines").by("root all"))
}

func same[T any](t *testing.T, w *world, _ T, c call) {
	t.Helper()
	t.Run(strings.TrimPrefix(c.path, "/api/v1/"), func(t *testing.T) {
		all := pagesOf[T](w, c, maxLimit)
		if len(all) == 0 {
			t.Fatal("there is nothing to page")
		}
		for limit := 1; limit <= len(all)+1; limit++ {
			if diff := cmp.Diff(all, pagesOf[T](w, c, limit)); diff != "" {
				t.Errorf("limit %d: %s", limit, diff)
			}
		}
	})
}

func TestBots(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	b := get[wire.Bot](w, at("/bots/adabot"))
	if b.Owner != "ada" || b.House || b.Live != 1 || b.Latest.Version != 3 || b.Latest.State != "queued" || len(b.Standings) != 2 || b.Standings[0].Ladder != "teeko" {
		t.Errorf("%+v", b)
	}
	if h := get[wire.Bot](w, at("/bots/@random")); !h.House || h.Owner != "" || h.Live != 1 {
		t.Errorf("%+v", h)
	}
	mine := get[wire.Page[wire.Bot]](w, at("/bots?owner=ada"))
	if len(mine.Items) != 1 || mine.Items[0].Name != "adabot" {
		t.Errorf("owner=ada: %+v", mine)
	}
	people := get[wire.Page[wire.Bot]](w, at("/bots?house=false"))
	if len(people.Items) != 1 {
		t.Errorf("house=false: %+v", people)
	}
}

// TestReasons: why a version failed may quote its build; only its owner sees it.
func TestReasons(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for who, want := range map[string]string{"": "", "bob all": "", "root read": "", "ada read": "build: exit status 1", "root all": "build: exit status 1"} {
		v := get[wire.Version](w, at("/bots/adabot/versions/2").by(who))
		if v.Reason != want || v.State != "failed" || v.Ended.IsZero() {
			t.Errorf("by %q: %+v", who, v)
		}
	}
	rec := w.ask(call{method: "GET", path: "/api/v1/bots/adabot/versions/2/logs/build", who: "ada read", header: map[string]string{"Accept": "text/plain"}})
	if rec.Body.String() != "bot.c:1: secret of ada\n" || !strings.HasPrefix(rec.Header().Get("Content-Type"), "text/plain") {
		t.Errorf("%v %s", rec.Header(), rec.Body)
	}
	stages := get[wire.Page[wire.Stage]](w, at("/bots/adabot/versions/2/logs").by("ada read"))
	if len(stages.Items) != 2 || stages.Items[1].OK || stages.Items[1].Log != "" || stages.Items[1].Summary != "cc -O2" {
		t.Errorf("%+v", stages)
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	m := get[wire.Match](w, at("/matches/%d", w.rated.ID))
	want := w.rated.Attempts[0]
	if len(m.Attempts) != 1 || m.Attempts[0].Commitment != want.Commitment.String() || m.Attempts[0].Seed != want.Seed.String() {
		t.Errorf("attempts %+v", m.Attempts)
	}
	if m.State != "finished" || m.Order != 1 || m.Versions[0].SHA256 != hashOf(2) || m.Versions[0].Owner != "ada" || !m.Versions[1].House {
		t.Errorf("%+v", m)
	}
	if len(m.Changes) != 2 || m.Changes[0].Bot != "adabot" || m.Changes[0].Before != 1000 || m.Changes[1].After != 1000 {
		t.Errorf("changes %+v", m.Changes)
	}
	history := get[wire.Page[wire.Change]](w, at("/bots/adabot/history?ladder=teeko"))
	if len(history.Items) != 1 || history.Items[0].Match != m.ID || history.Items[0].After != m.Changes[0].After {
		t.Errorf("history %+v", history)
	}
	running := get[wire.Match](w, at("/matches/%d", w.running.ID))
	if a := running.Attempts; len(a) != 1 || a[0].Seed != "" || len(a[0].Commitment) != 64 {
		t.Errorf("a running match reveals its seed: %+v", a)
	}
	u := get[wire.Match](w, at("/matches/%d", w.unrated.ID))
	if u.Rated || u.Ladder != "" || u.AskedBy != "ada" || len(u.Changes) != 0 {
		t.Errorf("%+v", u)
	}
	for query, n := range map[string]int{
		"": 4, "?state=finished": 2, "?state=waiting": 1, "?ladder=teeko": 3, "?bot=adabot": 4, "?bot=@first": 0,
		"?bot=adabot&version=1": 4, "?bot=adabot&version=2": 0, "?bot=adabot&ladder=teeko&state=running": 1, "?ladder=tebes": 0,
	} {
		if got := get[wire.Page[wire.Match]](w, at("/matches%s", query)); len(got.Items) != n {
			t.Errorf("matches%s: %d, want %d", query, len(got.Items), n)
		}
	}
	games := get[wire.Page[wire.Game]](w, at("/matches/%d/games", m.ID))
	if len(games.Items) != 2 || games.Items[0].Seats[0].Bot != "adabot" || games.Items[0].ID != w.gameID {
		t.Errorf("games %+v", games)
	}
	if g := get[wire.Game](w, at("/games/%d", w.gameID)); cmp.Diff(g, games.Items[0]) != "" {
		t.Errorf("game %+v", g)
	}
}

func TestAskedMatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ask := func(body string) *wire.Match {
		m := get[wire.Match](w, call{method: "POST", path: "/api/v1/matches", who: "ada submit", body: body})
		return &m
	}
	m := ask(`{"ladder":"teeko","bots":["adabot","@random"]}`)
	if m.Rated || m.State != "waiting" || m.Game != "teeko" || m.Deals != 1 || m.AskedBy != "ada" || w.woken == 0 {
		t.Errorf("%+v, woken %d", m, w.woken)
	}
	m = ask(`{"game":"tute","options":{"teams":"yes"},"deals":3,"bots":["adabot@1","@greedy","@random","@first"]}`)
	if m.Options["players"] != "4" || m.Options["teams"] != "yes" || m.Deals != 3 || len(m.Versions) != 4 || m.Clock.Move != time.Minute {
		t.Errorf("%+v", m)
	}
	for body, want := range map[string]struct {
		status int
		text   string
	}{
		`{"bots":["adabot","@random"]}`:                                        {400, "needs either a ladder or a game"},
		`{"ladder":"teeko","game":"teeko","bots":["adabot","@random"]}`:        {400, "needs either a ladder or a game"},
		`{"ladder":"teeko","options":{"x":"y"},"bots":["adabot","@random"]}`:   {400, "sets its own options"},
		`{"ladder":"chess","bots":["adabot","@random"]}`:                       {404, `ladder \"chess\" does not exist`},
		`{"game":"chess","bots":["adabot","@random"]}`:                         {400, `\"chess\"`},
		`{"game":"tebes","options":{"size":"99"},"bots":["adabot","@random"]}`: {400, "99"},
		`{"ladder":"teeko","bots":["adabot"]}`:                                 {400, "bots cannot be 1"},
		`{"ladder":"teeko","bots":["adabot","nobody"]}`:                        {404, `bot \"nobody\" does not exist`},
		`{"ladder":"teeko","bots":["adabot@9","@random"]}`:                     {404, "has no version 9"},
		`{"ladder":"teeko","bots":["adabot@x","@random"]}`:                     {400, `bot cannot be \"adabot@x\"`},
		`{"ladder":"teeko","bots":["adabot@2","@random"]}`:                     {409, "failed"},
		`{"ladder":"teeko","bots":["adabot","adabot"]}`:                        {400, "cannot play against itself"},
		`{"ladder":"teeko","deals":101,"bots":["adabot","@random"]}`:           {400, "deals cannot be 101"},
		`{"ladder":"teeko","deals":-1,"bots":["adabot","@random"]}`:            {400, "deals cannot be -1"},
		`{"ladder":"teeko","deals":"many","bots":["adabot","@random"]}`:        {400, `\"deals\" cannot be a string`},
		`{"ladder":"teeko","bots":["adabot","@random"],"rated":true}`:          {400, `unknown member \"rated\"`},
		`{"ladder":"teeko","bots":["adabot","@random"]} {}`:                    {400, "has more after the document"},
		`{"ladder":`: {400, "ends too early"},
		`ladder`:     {400, "not JSON at byte 1"},
	} {
		rec := w.ask(call{method: "POST", path: "/api/v1/matches", who: "ada submit", body: body})
		if rec.Code != want.status || !strings.Contains(rec.Body.String(), want.text) {
			t.Errorf("%s: %d %s, want %d and %s", body, rec.Code, rec.Body, want.status, want.text)
		}
	}
	w.config.Limits.Unrated = 3
	ask(`{"ladder":"teeko","bots":["adabot","@first"]}`)
	rec := w.ask(call{method: "POST", path: "/api/v1/matches", who: "ada submit", body: `{"ladder":"teeko","bots":["adabot","@first"]}`})
	if rec.Code != 409 || rec.Header().Get("Retry-After") != "" || !strings.Contains(rec.Body.String(), "3 unrated matches at a time") {
		t.Errorf("%d %v %s", rec.Code, rec.Header(), rec.Body)
	}
}

func TestJoining(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	made := get[wire.MadeInvite](w, call{method: "POST", path: "/api/v1/admin/invites", who: "root all", body: `{"name":"eve"}`})
	if made.By != "root" || made.Name != "eve" || !strings.HasPrefix(made.Code, "invite_") {
		t.Errorf("%+v", made)
	}
	list := get[wire.Page[wire.Invite]](w, at("/admin/invites").by("root all"))
	if len(list.Items) != 1 || list.Items[0].ID != made.ID {
		t.Errorf("%+v", list)
	}
	join := func(body string, status int, text string) []byte {
		t.Helper()
		rec := w.ask(call{method: "POST", path: "/api/v1/people", body: body})
		if rec.Code != status || !strings.Contains(rec.Body.String(), text) {
			t.Errorf("%s: %d %s, want %d and %s", body, rec.Code, rec.Body, status, text)
		}
		return rec.Body.Bytes()
	}
	join(`{"name":"mallory"}`, 401, "by invite only")
	join(fmt.Sprintf(`{"name":"mallory","invite":%q}`, made.Code), 403, "not for")
	join(fmt.Sprintf(`{"name":"E V E","invite":%q}`, made.Code), 403, "not for")
	var joined wire.Registered
	kit.Must(t, json.Unmarshal(join(fmt.Sprintf(`{"name":"eve","invite":%q}`, made.Code), 201, "timba_"), &joined))
	join(fmt.Sprintf(`{"name":"eve","invite":%q}`, made.Code), 401, "has been used")
	me := get[wire.Me](w, at("/me").by("="+joined.Key))
	if me.Name != "eve" || me.Admin || me.Token.Scope != "all" {
		t.Errorf("%+v", me)
	}
	w.config.Registration = "open"
	join(`{"name":"frank"}`, 201, "timba_")
	join(`{"name":"frank"}`, 409, "exists")
	join(`{"name":"F"}`, 400, "name cannot be")
	rec := w.ask(call{method: "DELETE", path: fmt.Sprintf("/api/v1/admin/invites/%d", made.ID), who: "root all"})
	if rec.Code != 404 {
		t.Errorf("a used invite is taken back: %d", rec.Code)
	}
	rec = w.ask(call{method: "PUT", path: "/api/v1/admin/people/root/block", who: "root all"})
	if rec.Code != 409 {
		t.Errorf("an admin blocks himself: %d", rec.Code)
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	page := get[wire.Page[wire.Message]](w, at("/me/messages").by("ada read"))
	if len(page.Items) != 1 || !strings.Contains(page.Items[0].Text, "version 2 of adabot failed") || page.Next == "" {
		t.Fatalf("%+v", page)
	}
	again := get[wire.Page[wire.Message]](w, at("/me/messages?cursor=%s", page.Next).by("ada read"))
	if len(again.Items) != 0 || again.Next != page.Next {
		t.Errorf("%+v", again)
	}
}

// A game contains the reason of a forfeit.
func TestFaultReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.adaFails = true
	m, err := w.store.AddMatch(bg, store.NewMatch{Ladder: "teeko", Versions: []int64{w.houseVersion("@random"), w.live.ID}})
	kit.Must(t, err)
	games, err := w.store.Games(bg, w.finish(m).ID)
	kit.Must(t, err)
	want := fault.Reason{Kind: fault.Failed, BeforeReady: true, Detail: "out of luck"}
	for _, s := range get[wire.Game](w, at("/games/%d", games[0].ID)).Seats {
		if s.Bot == "adabot" && (s.Fault != "startup" || s.Reason != want) || s.Bot != "adabot" && s.Reason != (fault.Reason{}) {
			t.Errorf("%+v, want %+v of adabot", s, want)
		}
	}
}

// TestReplays: byte for byte, once, compressed, as lines and as an archive.
func TestReplays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	want := kit.Get[[]byte](t)(w.store.Replay(bg, w.gameID))
	rec := w.ask(call{method: "GET", path: fmt.Sprintf("/api/v1/games/%d/replay", w.gameID)})
	if !bytes.Equal(rec.Body.Bytes(), want) {
		t.Error("the document is not that of the store")
	}
	tag := rec.Header().Get("ETag")
	if !strings.Contains(rec.Header().Get("Cache-Control"), "immutable") || tag == "" {
		t.Errorf("%v", rec.Header())
	}
	rec = w.ask(call{method: "GET", path: fmt.Sprintf("/api/v1/games/%d/replay", w.gameID), header: map[string]string{"If-None-Match": `"x", ` + tag}})
	if rec.Code != http.StatusNotModified || rec.Body.Len() != 0 {
		t.Errorf("%d, %d bytes", rec.Code, rec.Body.Len())
	}
	var all []wire.ReplayLine
	for _, f := range []string{"", "?ladder=teeko", "?bot=adabot", "?bot=@first"} {
		lines := linesOf(t, w, "/api/v1/replays"+f)
		if n := map[string]int{"": 4, "?ladder=teeko": 2, "?bot=adabot": 4, "?bot=@first": 0}[f]; len(lines) != n {
			t.Errorf("replays%s: %d lines, want %d", f, len(lines), n)
		}
		if f == "" {
			all = lines
		}
	}
	var compact bytes.Buffer
	kit.Must(t, json.Compact(&compact, want))
	if all[0].Game != w.gameID || all[0].Ladder != "teeko" || !bytes.Equal(all[0].Replay, compact.Bytes()) {
		t.Errorf("the first line is of game %d of ladder %q", all[0].Game, all[0].Ladder)
	}
	// After the cursor of any line come the rest, some at a time.
	for i, line := range all {
		var rest []wire.ReplayLine
		for cursor := line.Cursor; ; {
			lines := linesOf(t, w, "/api/v1/replays?limit=1&after="+cursor)
			if len(lines) == 0 {
				break
			}
			rest, cursor = append(rest, lines...), lines[0].Cursor
		}
		if diff := cmp.Diff(append([]wire.ReplayLine{}, all[i+1:]...), append([]wire.ReplayLine{}, rest...)); diff != "" {
			t.Errorf("after %s: %s", line.Cursor, diff)
		}
	}
	if of := linesOf(t, w, fmt.Sprintf("/api/v1/matches/%d/replays", w.rated.ID)); cmp.Diff(of, all[:2]) != "" {
		t.Errorf("a match's replays are %d lines", len(of))
	}
}

func linesOf(t *testing.T, w *world, path string) (lines []wire.ReplayLine) {
	t.Helper()
	rec := w.ask(call{method: "GET", path: path})
	if rec.Code != 200 || rec.Header().Get("Content-Type") != ndjson {
		t.Fatalf("%s: %d %v %s", path, rec.Code, rec.Header(), rec.Body)
	}
	for line := range strings.Lines(rec.Body.String()) {
		var l wire.ReplayLine
		kit.Must(t, json.Unmarshal([]byte(line), &l))
		lines = append(lines, l)
	}
	return lines
}

func TestGameLogs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rec := w.ask(call{method: "GET", path: fmt.Sprintf("/api/v1/games/%d/logs/%d", w.gameID, w.adaSeat), who: "ada read"})
	if rec.Body.String() != "secret thoughts\n" {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	rec = w.ask(call{method: "GET", path: fmt.Sprintf("/api/v1/games/%d/logs/%d", w.gameID, 1-w.adaSeat), who: "ada all"})
	if rec.Code != 403 {
		t.Errorf("a house bot's log: %d", rec.Code)
	}
	rec = w.ask(call{method: "GET", path: fmt.Sprintf("/api/v1/games/%d/logs/7", w.gameID), who: "ada all"})
	if rec.Code != 404 || !strings.Contains(rec.Body.String(), "0 to 1") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

func TestHealth(t *testing.T) {
	var sick error
	w := newWorld(t, func(o *Options) {
		o.Health = func(context.Context) error { return sick }
	})
	if rec := w.ask(call{method: "GET", path: "/healthz"}); rec.Code != 200 {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	sick = fmt.Errorf("open /secret/path: no space left")
	rec := w.ask(call{method: "GET", path: "/healthz"})
	if rec.Code != 503 || strings.Contains(rec.Body.String(), "secret") || rec.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	if !strings.Contains(w.log.String(), "/secret/path") {
		t.Error("the log does not have the cause")
	}
}
