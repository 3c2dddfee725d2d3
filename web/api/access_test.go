package api

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
)

// accessCase is an operation on something that belongs to ada. make returns the request that somebody sends.
// If the operation changes something, make first creates a new thing to change.
type accessCase struct {
	good int // the status for everybody who may do it
	make func(w *world, who string) call
	// mine means that the thing does not exist for anybody but the owner, not even for admins.
	mine bool
}

// archive returns a .tar.gz of files.
func archive(tb testing.TB, files ...string) string {
	tb.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	for i := 0; i < len(files); i += 2 {
		kit.Must(tb, t.WriteHeader(&tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1]))}))
		_, err := t.Write([]byte(files[i+1]))
		kit.Must(tb, err)
	}
	kit.Must(tb, t.Close())
	kit.Must(tb, z.Close())
	return b.String()
}

// newName returns a name that no call has returned before.
var newName = func() func(string) string {
	var n atomic.Int64
	return func(prefix string) string { return prefix + strconv.FormatInt(n.Add(1), 10) }
}()

func accessCases() map[string]accessCase {
	plain := func(path string) accessCase {
		return accessCase{good: 200, make: func(*world, string) call { return call{path: path} }}
	}
	withIDs := func(format string, args func(*world) []any) accessCase {
		return accessCase{good: 200, make: func(w *world, _ string) call { return call{path: fmt.Sprintf(format, args(w)...)} }}
	}
	match := func(w *world) []any { return []any{w.rated.ID} }
	game := func(w *world) []any { return []any{w.gameID} }
	return map[string]accessCase{
		"GET /healthz":                                           plain("/healthz"),
		"GET /metrics":                                           plain("/metrics"),
		"GET /api/v1/openapi.json":                               plain("/api/v1/openapi.json"),
		"GET /api/v1/ladders":                                    plain("/api/v1/ladders"),
		"GET /api/v1/ladders/{ladder}":                           plain("/api/v1/ladders/teeko"),
		"GET /api/v1/ladders/{ladder}/standings":                 plain("/api/v1/ladders/teeko/standings?active=false"),
		"GET /api/v1/ladders/{ladder}/matches":                   plain("/api/v1/ladders/teeko/matches"),
		"GET /api/v1/bots":                                       plain("/api/v1/bots"),
		"GET /api/v1/bots/{bot}":                                 plain("/api/v1/bots/adabot"),
		"GET /api/v1/bots/{bot}/versions":                        plain("/api/v1/bots/adabot/versions"),
		"GET /api/v1/bots/{bot}/versions/{version}":              plain("/api/v1/bots/adabot/versions/2"),
		"GET /api/v1/bots/{bot}/versions/{version}/logs":         plain("/api/v1/bots/adabot/versions/2/logs"),
		"GET /api/v1/bots/{bot}/versions/{version}/logs/{stage}": plain("/api/v1/bots/adabot/versions/2/logs/build"),
		"GET /api/v1/bots/{bot}/matches":                         plain("/api/v1/bots/adabot/matches"),
		"GET /api/v1/bots/{bot}/history":                         plain("/api/v1/bots/adabot/history?ladder=teeko"),
		"GET /api/v1/matches":                                    plain("/api/v1/matches"),
		"GET /api/v1/matches/{match}":                            withIDs("/api/v1/matches/%d", match),
		"GET /api/v1/matches/{match}/games":                      withIDs("/api/v1/matches/%d/games", match),
		"GET /api/v1/matches/{match}/replays":                    withIDs("/api/v1/matches/%d/replays", match),
		"GET /api/v1/games/{game}":                               withIDs("/api/v1/games/%d", game),
		"GET /api/v1/games/{game}/replay":                        withIDs("/api/v1/games/%d/replay", game),
		"GET /api/v1/games/{game}/logs/{seat}":                   withIDs("/api/v1/games/%d/logs/%d", func(w *world) []any { return []any{w.gameID, w.adaSeat} }),
		"GET /api/v1/replays":                                    plain("/api/v1/replays"),
		"GET /api/v1/machines":                                   plain("/api/v1/machines"),
		"GET /api/v1/admin/machines":                             plain("/api/v1/admin/machines"),
		"GET /api/v1/submissions/{submission}":                   withIDs("/api/v1/submissions/%d", func(w *world) []any { return []any{w.failed.ID} }),
		"GET /api/v1/me":                                         plain("/api/v1/me"),
		"GET /api/v1/me/bots":                                    plain("/api/v1/me/bots"),
		"GET /api/v1/me/messages":                                {good: 200, make: func(w *world, who string) call { return call{path: "/api/v1/me/messages"} }},
		"PUT /api/v1/me/messages/seen":                           {good: 204, make: func(*world, string) call { return call{path: "/api/v1/me/messages/seen", body: `{"first":1,"last":2}`} }},
		"GET /api/v1/tokens":                                     plain("/api/v1/tokens"),
		"GET /api/v1/admin/invites":                              plain("/api/v1/admin/invites"),
		"GET /api/v1/admin/people":                               plain("/api/v1/admin/people"),
		"POST /api/v1/matches": {good: 202, make: func(*world, string) call {
			return call{path: "/api/v1/matches", body: `{"ladder":"teeko","bots":["adabot","@random"]}`}
		}},
		"POST /api/v1/matches/{match}/cancel": {good: 200, make: func(w *world, _ string) call {
			return call{path: fmt.Sprintf("/api/v1/matches/%d/cancel", w.addRequestedMatch("ada").ID)}
		}},
		"POST /api/v1/submissions": {good: 202, make: func(w *world, _ string) call {
			return call{path: "/api/v1/submissions?bot=" + newName("new"), kind: "application/gzip", body: archive(w.tb, "bot.py", "pass")}
		}},
		"PUT /api/v1/bots/{bot}/withdrawal":    {good: 200, make: func(w *world, _ string) call { return call{path: "/api/v1/bots/" + w.addLiveBot() + "/withdrawal"} }},
		"DELETE /api/v1/bots/{bot}/withdrawal": {good: 200, make: func(w *world, _ string) call { return call{path: "/api/v1/bots/" + w.addLiveBot() + "/withdrawal"} }},
		"PUT /api/v1/bots/{bot}/live": {good: 200, make: func(w *world, _ string) call {
			return call{path: "/api/v1/bots/" + w.addLiveBot() + "/live", body: `{"version":1}`}
		}},
		"GET /api/v1/bots/{bot}/versions/{version}/upload": {good: 200, make: func(w *world, _ string) call {
			w.storeUpload(w.live.Bundle, archive(w.tb, "bot.py", "secret of ada"))
			return call{path: "/api/v1/bots/adabot/versions/1/upload"}
		}},
		"DELETE /api/v1/submissions/{submission}": {good: 200, make: func(w *world, _ string) call {
			return call{path: fmt.Sprintf("/api/v1/submissions/%d", w.version(newName("waits")).ID)}
		}},
		"POST /api/v1/people": {good: 201, make: func(w *world, _ string) call {
			code, _, err := w.Store.People.AddInvite(bg, 0, "", time.Time{})
			kit.Must(w.tb, err)
			return call{path: "/api/v1/people", body: fmt.Sprintf(`{"name":%q,"invite":%q}`, newName("eve"), code)}
		}},
		"DELETE /api/v1/me/token": {good: 204, make: func(w *world, who string) call {
			name, scope, _ := strings.Cut(who, " ")
			if who == "" {
				return call{path: "/api/v1/me/token"}
			}
			key, _, err := w.Store.Sessions.AddToken(bg, w.person(name), "", ladder.Scope(scope), time.Time{})
			kit.Must(w.tb, err)
			return call{path: "/api/v1/me/token", who: "=" + key}
		}},
		"POST /api/v1/tokens": {good: 201, make: func(*world, string) call {
			return call{path: "/api/v1/tokens", body: `{"scope":"read","label":"x"}`}
		}},
		"DELETE /api/v1/tokens/{token}": {good: 204, mine: true, make: func(w *world, _ string) call {
			_, t, err := w.Store.Sessions.AddToken(bg, w.person("ada"), "", ladder.ScopeRead, time.Time{})
			kit.Must(w.tb, err)
			return call{path: fmt.Sprintf("/api/v1/tokens/%d", t.ID)}
		}},
		"POST /api/v1/admin/invites": {good: 201, make: func(*world, string) call {
			return call{path: "/api/v1/admin/invites", body: `{"name":"zoe"}`}
		}},
		"DELETE /api/v1/admin/invites/{invite}": {good: 204, make: func(w *world, _ string) call {
			_, i, err := w.Store.People.AddInvite(bg, 0, "", time.Time{})
			kit.Must(w.tb, err)
			return call{path: fmt.Sprintf("/api/v1/admin/invites/%d", i.ID)}
		}},
		"PUT /api/v1/admin/people/{person}/block":     {good: 200, make: func(w *world, _ string) call { return call{path: "/api/v1/admin/people/" + w.addPerson() + "/block"} }},
		"POST /api/v1/admin/people/{person}/sign-in":  {good: 200, make: func(w *world, _ string) call { return call{path: "/api/v1/admin/people/" + w.addPerson() + "/sign-in"} }},
		"PUT /api/v1/admin/ladders/{ladder}/pause":    {good: 200, make: func(*world, string) call { return call{path: "/api/v1/admin/ladders/tebes/pause"} }},
		"DELETE /api/v1/admin/ladders/{ladder}/pause": {good: 200, make: func(*world, string) call { return call{path: "/api/v1/admin/ladders/tebes/pause"} }},
		"PUT /api/v1/admin/bots/{bot}/ban": {good: 200, make: func(w *world, _ string) call {
			return call{path: "/api/v1/admin/bots/" + w.addLiveBot() + "/ban", body: `{"reason":"it cheats"}`}
		}},
		"DELETE /api/v1/admin/bots/{bot}/ban":        {good: 200, make: func(w *world, _ string) call { return call{path: "/api/v1/admin/bots/" + w.addLiveBot() + "/ban"} }},
		"DELETE /api/v1/admin/people/{person}/block": {good: 200, make: func(w *world, _ string) call { return call{path: "/api/v1/admin/people/" + w.addPerson() + "/block"} }},
	}
}

// addRequestedMatch returns a waiting match that somebody has requested.
func (w *world) addRequestedMatch(by string) ladder.Match {
	w.tb.Helper()
	m := kit.Get[ladder.Match](w.tb)(w.Store.Matches.Add(bg, store.NewMatch{
		Game: "teeko", Versions: []int64{w.houseVersion("@random"), w.live.ID}, Clock: w.Config.Ladders[0].Clock, Deals: 1, RequestedBy: w.person(by),
	}))
	return m
}

// addLiveBot returns the name of a new bot of ada's with a live version.
func (w *world) addLiveBot() string {
	v := w.version(newName("adasbot"))
	w.MakeLive(v.ID, store.BuildInfo{Hash: hashOf(2), Command: []string{"./bot"}})
	return v.Bot
}

// storeUpload stores data as the upload with a hash.
func (w *world) storeUpload(sum, data string) {
	path := kit.Get[string](w.tb)(w.Store.Dir().Bundle(sum))
	kit.Must(w.tb, os.WriteFile(path, []byte(data), 0o600))
}

func (w *world) addPerson() string {
	name := newName("stranger")
	_, err := w.Store.People.Add(bg, name, false)
	kit.Must(w.tb, err)
	return name
}

// expectedStatus returns the status with which a route should answer somebody.
func (rt route) expectedStatus(c accessCase, who, scope string) int {
	enough := service.Actor{Token: ladder.Token{Scope: ladder.Scope(scope)}}.HasScope(rt.scope)
	switch {
	case who == "" && rt.scope != "":
		return http.StatusUnauthorized
	case who == "" || rt.scope == "":
		return c.good
	case !enough:
		return http.StatusForbidden
	case rt.admin && who != "root":
		return http.StatusForbidden
	case rt.owner && who != "ada" && c.mine:
		return http.StatusNotFound
	case rt.owner && who != "ada" && (who != "root" || scope != "all"):
		return http.StatusForbidden
	}
	return c.good
}

// TestAccess calls every route as nobody, the owner, another person and an admin, with tokens of every scope.
func TestAccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	cases := accessCases()
	for _, rt := range w.api.routes() {
		c, ok := cases[rt.pattern]
		if !ok {
			t.Errorf("%s has no case: add one to accessCases", rt.pattern)
			continue
		}
		delete(cases, rt.pattern)
		method, _, _ := strings.Cut(rt.pattern, " ")
		try := func(who, scope string) {
			name := strings.TrimSpace(who + " " + scope)
			request := c.make(w, name)
			request.method = method
			if request.who == "" {
				request.who = name
			}
			rec := w.ask(request)
			if want := rt.expectedStatus(c, who, scope); rec.Code != want {
				t.Errorf("%s by %q: %d, want %d\n%s", rt.pattern, name, rec.Code, want, rec.Body)
			}
			private := rt.scope != ""
			if cache := rec.Header().Get("Cache-Control"); private && cache != "no-store" {
				t.Errorf("%s by %q: Cache-Control %q", rt.pattern, name, cache)
			}
			if cors := rec.Header().Get("Access-Control-Allow-Origin"); private && cors != "" {
				t.Errorf("%s by %q: other sites' pages may read it", rt.pattern, name)
			}
			if rec.Code == 401 && rec.Header().Get("WWW-Authenticate") == "" {
				t.Errorf("%s by %q: 401 without WWW-Authenticate", rt.pattern, name)
			}
			if rec.Code >= 400 && strings.Contains(rec.Body.String(), "secret") {
				t.Errorf("%s by %q: the error reveals the secret: %s", rt.pattern, name, rec.Body)
			}
		}
		try("", "")
		for _, who := range []string{"bob", "ada", "root"} {
			for _, scope := range scopes {
				try(who, string(scope))
			}
		}
	}
	for pattern := range cases {
		t.Errorf("%s is not a route", pattern)
	}
	for name, key := range w.keys {
		if strings.Contains(w.log.String(), key) {
			t.Errorf("the log has the token of %s", name)
		}
	}
}

// TestTokens checks the errors for invalid tokens.
func TestTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	add := func(expires time.Time) (string, int64) {
		key, token, err := w.Store.Sessions.AddToken(bg, w.person("bob"), "", ladder.ScopeRead, expires)
		kit.Must(t, err)
		return key, token.ID
	}
	expired, _ := add(w.clock().Add(time.Hour))
	w.advance(2 * time.Hour)
	revoked, id := add(time.Time{})
	kit.Must(t, w.Store.Sessions.RevokeToken(bg, w.person("bob"), id))
	good, _ := add(time.Time{})
	wrong := good[:len(good)-1] + string('0'+(good[len(good)-1]+1)%10)
	for name, c := range map[string]struct {
		header string
		status int
		text   string
	}{
		"good":          {"Bearer " + good, 200, `"name":"bob"`},
		"lower case":    {"bearer " + good, 200, `"name":"bob"`},
		"expired":       {"Bearer " + expired, 401, "has expired"},
		"revoked":       {"Bearer " + revoked, 401, "has been revoked"},
		"wrong secret":  {"Bearer " + wrong, 401, "the token is not valid"},
		"unknown":       {"Bearer timba_" + strings.Repeat("x", 43), 401, "the token is not valid"},
		"none":          {"Bearer ", 401, "cannot be read"},
		"other scheme":  {"Basic YWRhOmFkYQ==", 401, "cannot be read"},
		"not a token":   {"Bearer x", 401, "the token is not valid"},
		"two words":     {"Bearer " + good + " x", 401, "the token is not valid"},
		"public routes": {"Bearer x", 401, "the token is not valid"},
	} {
		path := "/api/v1/me"
		if name == "public routes" { // a request with a wrong token fails, even on a public route
			path = "/api/v1/ladders"
		}
		rec := w.ask(call{method: "GET", path: path, header: map[string]string{"Authorization": c.header}})
		if rec.Code != c.status || !strings.Contains(rec.Body.String(), c.text) {
			t.Errorf("%s: %d %s, want %d and %q", name, rec.Code, rec.Body, c.status, c.text)
		}
	}
	w.ask(call{method: "PUT", path: "/api/v1/admin/people/bob/block", who: "root all"})
	if rec := w.ask(call{method: "GET", path: "/api/v1/me", who: "=" + good}); rec.Code != 403 || !strings.Contains(rec.Body.String(), "blocked") {
		t.Errorf("blocked: %d %s", rec.Code, rec.Body)
	}
	for _, key := range []string{expired, revoked, good} {
		if strings.Contains(w.log.String(), key) {
			t.Error("the log has a token")
		}
	}
}
