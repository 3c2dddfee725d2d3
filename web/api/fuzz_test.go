package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/timba-arena/timba/web/wire"
)

// fuzzWorld is the world that all inputs of a process share, with the changes that earlier inputs have made.
var fuzzWorld struct {
	sync.Mutex
	*world
}

// sendFuzzed sends a request of the fuzzer. Its answer must not be an internal failure, and an error must be a
// problem document.
func sendFuzzed(t *testing.T, r *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	fuzzWorld.http.ServeHTTP(rec, r)
	if rec.Code >= 500 {
		t.Fatalf("%s %q: %d %s\n%s", r.Method, r.URL, rec.Code, rec.Body, fuzzWorld.log)
	}
	if rec.Code >= 400 {
		var p wire.Problem
		if err := json.Unmarshal(rec.Body.Bytes(), &p); r.Method != http.MethodHead && (err != nil || p.Status != rec.Code || p.Detail == "") {
			t.Fatalf("%s %q: %d without a problem: %s", r.Method, r.URL, rec.Code, rec.Body)
		}
	}
	return rec
}

// startInput reserves the world for one input.
func startInput(t *testing.T) {
	fuzzWorld.Lock()
	t.Cleanup(fuzzWorld.Unlock)
	if fuzzWorld.world == nil {
		t.Fatal("no world exists")
	}
	fuzzWorld.log.Reset()
}

// FuzzPaths tries paths, queries and methods, as a person who may do everything.
func FuzzPaths(f *testing.F) {
	fuzzWorld.world = newWorld(f, nil)
	for _, c := range accessCases() {
		request := c.make(fuzzWorld.world, "ada all")
		path, query, _ := strings.Cut(request.path, "?")
		f.Add("GET", path, query)
	}
	for _, query := range []string{
		"limit=1&cursor=match-1", "cursor=place-9223372036854775807", "cursor=version--1", "after=replay-9223372036854775807&limit=1",
		"after=replay-0", "state=waiting&bot=adabot&version=1&ladder=teeko", "owner=ada&house=true", "wait=1ns", "bot=%ff", "limit=%31", "=", "&&", "a=b;c",
	} {
		for _, path := range []string{"/api/v1/matches", "/api/v1/bots", "/api/v1/replays", "/api/v1/submissions/1"} {
			f.Add("GET", path, query)
		}
	}
	f.Add("OPTIONS", "/api/v1/matches", "")
	f.Add("HEAD", "/api/v1/games/100000/replay", "")
	f.Add("DELETE", "/api/v1/tokens/1", "")
	f.Add("GET", "/api/v1/../../etc/passwd", "")
	f.Add("GET", "*", "")
	f.Fuzz(func(t *testing.T, method, path, query string) {
		startInput(t)
		if method == http.MethodDelete && strings.Contains(path, "token") {
			method = http.MethodGet // the fuzzer's own key is to stay
		}
		if strings.Contains(query, "wait") {
			query = strings.ReplaceAll(query, "wait=", "wait=0") // nobody waits here
		}
		r := &http.Request{
			Method: method, URL: &url.URL{Path: path, RawQuery: query}, Header: http.Header{"Authorization": {"Bearer " + fuzzWorld.keys["root all"]}},
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Host: "example.org", RemoteAddr: "192.0.2.1:1", Body: http.NoBody, RequestURI: path,
		}
		sendFuzzed(t, r.WithContext(t.Context()))
	})
}

// FuzzBodies tries bodies for every operation that reads one.
func FuzzBodies(f *testing.F) {
	fuzzWorld.world = newWorld(f, nil)
	targets := []string{"/api/v1/matches", "/api/v1/people", "/api/v1/tokens", "/api/v1/admin/invites", "/api/v1/submissions", "/api/v1/submissions?bot=fuzz"}
	for i, body := range []string{
		`{"ladder":"teeko","bots":["adabot","@random"]}`, `{"game":"tute","options":{"players":"3"},"deals":2,"bots":["adabot@1","@first","@greedy"]}`,
		`{"name":"eve","invite":"invite_x"}`, `{"scope":"all","label":"x","expires":"2099-01-01T00:00:00Z"}`, `{"name":"eve","expires":"0001-01-01T00:00:00Z"}`,
		archive(f, "timba.toml", "name = \"fuzz\"\nrun = [\"x\"]\n"), archive(f, "../x", ""), "PK\x03\x04", "\x1f\x8b", `{"scope":"read","expires":"9999-12-31T23:59:59Z"}`,
		`[]`, `null`, `{"bots":null}`, `{"ladder":"teeko","bots":["@","a@","@@1"]}`, `{"name":"\u0000"}`, "\xff\xfe",
	} {
		for target := range targets {
			f.Add(target, []string{"application/json", "application/gzip"}[i%2], body)
			f.Add(target, "application/json", body)
			f.Add(target, "application/zip", body)
		}
	}
	f.Fuzz(func(t *testing.T, target int, kind, body string) {
		startInput(t)
		if target < 0 {
			target = -(target + 1)
		}
		r := httptest.NewRequest(http.MethodPost, targets[target%len(targets)], strings.NewReader(body))
		r.Header["Content-Type"] = []string{kind}
		r.Header.Set("Authorization", "Bearer "+fuzzWorld.keys["root all"])
		sendFuzzed(t, r)
	})
}

// FuzzHeaders tries headers.
func FuzzHeaders(f *testing.F) {
	fuzzWorld.world = newWorld(f, nil)
	names := []string{"Authorization", "Accept", "If-None-Match", "X-Forwarded-For", "Accept-Encoding", "Content-Type"}
	for i, value := range []string{"Bearer timba_x", "text/plain;q=0.5, */*;q=x", `W/"a", *`, "::1, 10.0.0.1", "zstd;q=1, gzip;q=0", ";;;", "", "\x00", strings.Repeat(",", 100)} {
		f.Add(i, value)
		for name := range names {
			f.Add(name, value)
		}
	}
	f.Fuzz(func(t *testing.T, name int, value string) {
		startInput(t)
		if name < 0 {
			name = -(name + 1)
		}
		for _, path := range []string{"/api/v1/me", "/api/v1/matches/1/replays", "/api/v1/games/100000/replay"} {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Header[names[name%len(names)]] = []string{value}
			r.RemoteAddr = "10.0.0.1:1"
			sendFuzzed(t, r)
		}
	})
}
