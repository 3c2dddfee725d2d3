package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/web/wire"
)

func at(format string, args ...any) call {
	return call{path: "/api/v1" + fmt.Sprintf(format, args...)}
}

func (c call) by(who string) call { c.who = who; return c }

// volatileMembers matches members whose values differ in every run.
var volatileMembers = regexp.MustCompile(`"(instance|took_ms)": [^,\n]*`)

// TestAnswers sends the requests in testdata/answers.txt and compares the answers.
func TestAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	file := kit.Get[[]byte](t)(os.ReadFile("testdata/answers.txt"))
	var got strings.Builder
	for line := range strings.Lines(string(file)) {
		request, ok := strings.CutPrefix(line, "> ")
		if ok || strings.HasPrefix(line, "# ") || line == "\n" {
			got.WriteString(line)
		}
		if !ok {
			continue
		}
		var c call
		rest, body, _ := strings.Cut(strings.TrimSuffix(request, "\n"), " < ")
		rest, accept, _ := strings.Cut(rest, " as ")
		rest, c.who, _ = strings.Cut(rest, " by ")
		c.method, c.path, _ = strings.Cut(rest, " ")
		c.body, c.header = body, map[string]string{"Accept": accept}
		rec := w.ask(c)
		if rec.Code >= 400 {
			problemIn(t, c, rec)
		}
		fmt.Fprintln(&got, rec.Code, rec.Header().Get("Content-Type"))
		var pretty bytes.Buffer
		if json.Indent(&pretty, rec.Body.Bytes(), "", " ") != nil {
			pretty = *rec.Body
		}
		got.WriteString(volatileMembers.ReplaceAllString(strings.TrimSuffix(pretty.String(), "\n"), `"$1": …`) + "\n")
	}
	kit.Golden(t, "answers.txt", got.String())
}

// pagesOf returns all items of a list, read in pages of limit items.
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

// Pages of any size contain all items once and in order.
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
		all := pagesOf[T](w, c, 500)
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

// A person can mark their own messages as read, and no others.
func TestSeeMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	all := func() []wire.Message { return get[wire.Page[wire.Message]](w, at("/me/messages").by("ada read")).Items }
	last := all()[len(all())-1].ID
	for _, x := range []struct {
		who   string
		first int64
		seen  bool
	}{{"bob read", 1, false}, {"ada read", last + 1, false}, {"ada read", 1, true}} {
		rec := w.ask(call{method: "PUT", path: "/api/v1/me/messages/seen", who: x.who, body: fmt.Sprintf(`{"first":%d,"last":%d}`, x.first, x.first+last)})
		if rec.Code != http.StatusNoContent {
			t.Errorf("%+v: %d, %s", x, rec.Code, rec.Body)
		}
		for _, m := range all() {
			if m.SeenAt.IsZero() == x.seen {
				t.Errorf("after %+v message %d is seen at %s", x, m.ID, m.SeenAt)
			}
		}
	}
}

// The parameters of the list select matches.
func TestMatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for query, n := range map[string]int{
		"": 4, "?state=finished": 2, "?state=waiting": 1, "?ladder=teeko": 3, "?bot=adabot": 4, "?bot=@first": 0,
		"?bot=adabot&version=1": 4, "?bot=adabot&version=2": 0, "?bot=adabot&ladder=teeko&state=running": 1, "?ladder=tebes": 0,
	} {
		if got := get[wire.Page[wire.Match]](w, at("/matches%s", query)); len(got.Items) != n {
			t.Errorf("matches%s: %d, want %d", query, len(got.Items), n)
		}
	}
}

// A requested match wakes the runner. Above the limit, requests are refused.
func TestAskedMatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ask := call{method: "POST", path: "/api/v1/matches", who: "ada submit", body: `{"ladder":"teeko","bots":["adabot","@first"]}`}
	w.Config.Limits.UnratedMatches = 3
	for range 3 {
		get[wire.Match](w, ask)
	}
	if w.wakeUps.Load() != 3 {
		t.Errorf("the server is woken %d times for 3 matches", w.wakeUps.Load())
	}
	rec := w.ask(ask)
	if rec.Code != 409 || rec.Header().Get("Retry-After") != "" || !strings.Contains(rec.Body.String(), "3 unrated matches at a time") {
		t.Errorf("%d %v %s", rec.Code, rec.Header(), rec.Body)
	}
}

func TestJoining(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	made := get[wire.MadeInvite](w, call{method: "POST", path: "/api/v1/admin/invites", who: "root all", body: `{"name":"eve"}`})
	if made.Site != "" {
		t.Errorf("without site.url, an invite is for the site %q", made.Site)
	}
	w.Config.Site.URL = "https://bots.example.org"
	if again := get[wire.MadeInvite](w, call{method: "POST", path: "/api/v1/admin/invites", who: "root all", body: `{}`}); again.Link(again.Site) != "https://bots.example.org/join#"+again.Code {
		t.Errorf("%+v", again)
	}
	if made.CreatedBy != "root" || made.Name != "eve" || !strings.HasPrefix(made.Code, "invite_") {
		t.Errorf("%+v", made)
	}
	list := get[wire.Page[wire.Invite]](w, at("/admin/invites").by("root all"))
	if len(list.Items) != 2 || list.Items[0].ID != made.ID {
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
	join(fmt.Sprintf(`{"name":"e.v.e","invite":%q}`, made.Code), 403, "not for")
	var joined wire.Registered
	kit.Must(t, json.Unmarshal(join(fmt.Sprintf(`{"name":"eve","invite":%q}`, made.Code), 201, "timba_"), &joined))
	join(fmt.Sprintf(`{"name":"eve","invite":%q}`, made.Code), 401, "has been used")
	me := get[wire.Me](w, at("/me").by("="+joined.Key))
	if me.Name != "eve" || me.Admin || me.Token.Scope != "all" {
		t.Errorf("%+v", me)
	}
	w.Config.Registration = "open"
	join(`{"name":"frank"}`, 201, "timba_")
	join(`{"name":"frank"}`, 409, "exists")
	join(`{"name":"F!"}`, 400, "the name of a person cannot be")
	rec := w.ask(call{method: "DELETE", path: fmt.Sprintf("/api/v1/admin/invites/%d", made.ID), who: "root all"})
	if rec.Code != 404 {
		t.Errorf("a used invite is taken back: %d", rec.Code)
	}
	rec = w.ask(call{method: "PUT", path: "/api/v1/admin/people/root/block", who: "root all"})
	if rec.Code != 409 {
		t.Errorf("an admin blocks himself: %d", rec.Code)
	}
}

// The document of a game contains the reason of a forfeit.
func TestFaultReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.adaFails = true
	m, err := w.Store.Matches.Add(bg, store.NewMatch{Ladder: "teeko", Versions: []int64{w.houseVersion("@random"), w.live.ID}})
	kit.Must(t, err)
	games, err := w.Store.Matches.Games(bg, w.finish(m).ID)
	kit.Must(t, err)
	want := fault.Reason{Kind: fault.Failed, BeforeReady: true, Detail: "out of luck"}
	for _, s := range get[wire.Game](w, at("/games/%d", games[0].ID)).Seats {
		if s.Bot == "adabot" && (s.Fault != "startup" || s.Reason != want) || s.Bot != "adabot" && s.Reason != (fault.Reason{}) {
			t.Errorf("%+v, want %+v of adabot", s, want)
		}
	}
}

// Replays are the stored bytes: alone, compressed, as lines and in an archive.
func TestReplays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	want := kit.Get[[]byte](t)(w.Store.Matches.Replay(bg, w.gameID))
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
	// The cursor of each line leads to the lines after it.
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

// An answer without bytes is logged as a success.
func TestEmptyAnswerIsLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.ask(call{method: "GET", path: "/api/v1/replays?bot=@first"})
	if log := w.log.String(); !strings.Contains(log, "path=/api/v1/replays status=200 bytes=0 ") {
		t.Errorf("the log is %s", log)
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
