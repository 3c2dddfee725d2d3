package api

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/admission"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/wire"
)

// codeWord matches a text that begins as the errors of a package do: with a lower-case word and a colon.
var codeWord = regexp.MustCompile(`^[a-z]+: `)

// problemIn returns the problem document of an answer, and checks what all of them have in common.
func problemIn(t *testing.T, c call, rec *httptest.ResponseRecorder) (p wire.Problem) {
	t.Helper()
	if err := json.Unmarshal(rec.Body.Bytes(), &p); err != nil || rec.Header().Get("Content-Type") != wire.ProblemType {
		t.Errorf("%s %s: %d %q is not a problem document: %s", c.method, ladder.Clip(c.path), rec.Code, rec.Header().Get("Content-Type"), rec.Body)
	}
	if codeWord.MatchString(p.Detail) {
		t.Errorf("%s %s: the detail begins with a word of the code: %s", c.method, ladder.Clip(c.path), p.Detail)
	}
	if p.Status != rec.Code || !strings.HasPrefix(p.Type, "urn:timba:problem:") || p.Title == "" || p.Instance != rec.Header().Get("X-Request-Id") {
		t.Errorf("%s %s: %d %+v", c.method, ladder.Clip(c.path), rec.Code, p)
	}
	if rec.Code == 405 && rec.Header().Get("Allow") == "" {
		t.Errorf("%s %s: 405 without Allow", c.method, c.path)
	}
	return p
}

// The most specific range of the header Accept that matches a type decides.
func TestAccepts(t *testing.T) {
	for header, want := range map[string]string{
		"":                                  "application/json",
		"*/*":                               "application/json",
		"text/plain, */*":                   "text/plain",
		"text/plain;q=0.5, */*;q=0.1":       "text/plain",
		"application/json;q=0, */*":         "text/plain",
		"*/*, application/json;q=0.5":       "text/plain",
		"text/*, text/plain;q=0":            "",
		"text/html, application/*;q=0.5":    "application/json",
		"application/json;q=x, */*;q=wrong": "",
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept", header)
		if got, err := preferredType(r, "application/json", "text/plain"); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", header, got, err, want)
		}
	}
}

// A refused body changes nothing. testdata/answers.txt has the other problems.
func TestProblems(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, c := range []struct {
		call
		status int
		code   string
		text   string // part of the detail or the hint
	}{
		{call{method: "GET", path: "/api/v1/replays", header: map[string]string{"Accept": "text/html"}}, 406, "not-acceptable", "application/x-ndjson"},
		{call{method: "POST", path: "/api/v1/matches", who: "ada all", body: "{}", kind: "text/plain"}, 415, "media-type", `cannot be "text/plain"`},
		{call{method: "POST", path: "/api/v1/submissions", who: "ada all", body: "x", kind: "text/html"}, 400, "invalid", `the format of the archive is unknown: it begins with "x"`},
		{call{method: "POST", path: "/api/v1/submissions", who: "ada all", body: "7z\xbc\xaf", kind: "application/zip"}, 400, "invalid", `the format of the archive is "7z"`},
		{call{method: "POST", path: "/api/v1/people", body: `{"name":"` + strings.Repeat("x", maxDocument) + `"}`}, 413, "too-large", "larger than 64 KiB"},
		{call{method: "POST", path: "/api/v1/submissions?bot=big", who: "ada all", body: strings.Repeat("x", 1<<20+1), kind: "application/zip"}, 413, "too-large", "more than the limit of 1 MiB"},
		{call{method: "POST", path: "/api/v1/submissions?bot=odd", who: "ada all", body: "neither", kind: "application/zip"}, 400, "invalid", "the archive is"},
		{call{method: "POST", path: "/api/v1/submissions?bot=A%20B", who: "ada all", body: "x", kind: "application/zip"}, 400, "invalid", `the name of a bot cannot be "A B"`},
		{call{method: "POST", path: "/api/v1/submissions?bot=adabot", who: "bob all", body: archive(t, "bot.py", ""), kind: "application/gzip"}, 409, "conflict", "somebody else's"},
		{call{method: "POST", path: "/api/v1/submissions?bot=adabot", who: "ada all", body: archive(t, "bot.py", ""), kind: "application/gzip"}, 409, "conflict", "still being checked"},
		{call{method: "POST", path: "/api/v1/submissions", who: "ada all", body: archive(t, "bot.py", ""), kind: "application/x-www-form-urlencoded"}, 400, "invalid", "the bot has no name"},
		{call{method: "POST", path: "/api/v1/submissions", who: "ada all", body: archive(t, "timba.toml", "name = mine"), kind: "application/gzip"}, 400, "invalid", "the bot has no name: timba.toml: "},
	} {
		rec := w.ask(c.call)
		if p := problemIn(t, c.call, rec); p.Status != c.status || p.Type != "urn:timba:problem:"+c.code || !strings.Contains(p.Detail+": "+p.Hint, c.text) {
			t.Errorf("%s %s: %+v, want %d %s, %q", c.method, ladder.Clip(c.path), p, c.status, c.code, c.text)
		}
	}
	for _, dir := range []string{w.Store.Dir().Bundles(), w.Store.Dir().Temp()} {
		left := kit.Get[[]os.DirEntry](t)(os.ReadDir(dir))
		if len(left) > 0 {
			t.Errorf("uploads that were refused have left %v in %s", left, dir)
		}
	}
}

// A panic is logged with its stack, answered without it, and the server continues.
func TestPanics(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	routes := append(w.api.routes(),
		route{pattern: "GET /panic", endpoint: plain(func(http.ResponseWriter, *http.Request) error { panic("of secret things") })},
		route{pattern: "GET /late", endpoint: plain(func(w http.ResponseWriter, r *http.Request) error {
			io.WriteString(w, "a line that is still in the compressor's buffer\n")
			return errors.New("in the middle")
		})})
	w.http = w.api.apiHandler(routes)
	rec := w.ask(call{method: "GET", path: "/panic"})
	if rec.Code != 500 || strings.Contains(rec.Body.String(), "secret") || strings.Contains(rec.Body.String(), "goroutine") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	if log := w.log.String(); !strings.Contains(log, "of secret things") || !strings.Contains(log, "problems_test.go") {
		t.Errorf("the log does not show where: %s", log)
	}
	func() {
		defer func() {
			if recover() != http.ErrAbortHandler {
				t.Error("an interrupted answer ends as if it were complete")
			}
		}()
		w.ask(call{method: "GET", path: "/late", header: map[string]string{"Accept-Encoding": "gzip"}})
	}()
	if rec := w.ask(call{method: "GET", path: "/healthz"}); rec.Code != 200 {
		t.Errorf("after a panic: %d", rec.Code)
	}
}

// Headers say what scripts of other sites may read and what browsers may cache.
func TestHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rec := w.ask(call{method: "OPTIONS", path: "/api/v1/matches"})
	if rec.Code != 204 || rec.Header().Get("Access-Control-Allow-Origin") != "*" || rec.Header().Get("Access-Control-Allow-Methods") != "GET, HEAD" {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
	if allowed := rec.Header().Get("Access-Control-Allow-Headers"); allowed != "" {
		t.Errorf("other sites' pages may send %s", allowed)
	}
	rec = w.ask(call{method: "GET", path: "/api/v1/matches"})
	h := rec.Header()
	if h.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || h.Get("Cache-Control") != "no-cache" {
		t.Errorf("%v", h)
	}
	rec = w.ask(call{method: "HEAD", path: "/api/v1/matches"})
	if rec.Code != 200 || rec.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
	w.ask(call{method: "GET", path: "/api/v1/matches?bot=queries-are-private"})
	if strings.Contains(w.log.String(), "queries-are-private") {
		t.Error("the log has a query")
	}
}

// An address and a token may send a limited number of requests a minute, and more later.
func TestLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) {
		o.Middleware.Service.Config.Limits.Requests = 6
		o.Middleware.Proxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	})
	w.limitRegistrations(2)
	status := func(c call) int {
		c.method = "GET"
		if c.path == "" {
			c.path = "/api/v1/ladders"
		}
		rec := w.ask(c)
		if rec.Code == 429 {
			if n, err := strconv.Atoi(rec.Header().Get("Retry-After")); err != nil || n < 1 || n > 60 {
				t.Errorf("Retry-After %q", rec.Header().Get("Retry-After"))
			}
		}
		if rec.Header().Get("RateLimit") == "" || rec.Header().Get("RateLimit-Policy") == "" {
			t.Errorf("%d without RateLimit: %v", rec.Code, rec.Header())
		}
		return rec.Code
	}
	times := func(n int, c call) (codes []int) {
		for range n {
			codes = append(codes, status(c))
		}
		return codes
	}
	expect := func(name string, got []int, want ...int) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	expect("an address", times(4, call{remote: "192.0.2.1:1"}), 200, 200, 200, 429)
	expect("another address", times(1, call{remote: "192.0.2.2:1"}), 200)
	expect("a token from a full address", times(7, call{remote: "192.0.2.1:1", who: "ada read"}), 200, 200, 200, 200, 200, 200, 429)
	expect("another token", times(1, call{remote: "192.0.2.1:1", who: "bob read"}), 200)
	expect("IPv6 by its /64", append(times(3, call{remote: "[2001:db8::1]:1"}), times(1, call{remote: "[2001:db8::ffff:2]:1"})...), 200, 200, 200, 429)
	expect("another /64", times(1, call{remote: "[2001:db8:0:1::1]:1"}), 200)
	forged := call{remote: "192.0.2.9:1", header: map[string]string{"X-Forwarded-For": "198.51.100.1"}}
	expect("a header of anybody's", append(times(3, forged), times(1, call{remote: "192.0.2.9:1"})...), 200, 200, 200, 429)
	proxied := func(chain string) call {
		return call{remote: "10.0.0.1:1", header: map[string]string{"X-Forwarded-For": chain}}
	}
	expect("behind a proxy", times(4, proxied("198.51.100.7")), 200, 200, 200, 429)
	expect("behind a proxy, forged in front", times(1, proxied("203.0.113.1, 198.51.100.7")), 429)
	expect("behind two proxies", times(1, proxied("198.51.100.7, 10.0.0.2")), 429)
	expect("somebody else behind it", times(1, proxied("198.51.100.8")), 200)
	guess := call{remote: "192.0.2.20:1", who: "=timba_" + strings.Repeat("x", 43)}
	expect("guesses", times(4, guess), 401, 401, 401, 429)
	var joins []int
	for range 3 {
		joins = append(joins, w.ask(call{method: "POST", path: "/api/v1/people", body: `{"name":"x","invite":"y"}`, remote: "192.0.2.30:1"}).Code)
	}
	expect("joining", joins, 401, 401, 429)
	w.advance(21 * time.Second)
	expect("after a third of a minute", times(2, call{remote: "192.0.2.1:1"}), 200, 429)
}

// The number of simultaneous long requests is limited, with an error that says so.
func TestSlots(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ask := func(from string, want int, words string) {
		t.Helper()
		rec := w.ask(call{method: "GET", path: "/api/v1/replays", remote: from + ":1"})
		if rec.Code != want || want == 429 && rec.Header().Get("Retry-After") != "5" || !strings.Contains(rec.Body.String(), words) {
			t.Errorf("%s: %d %v %s", from, rec.Code, rec.Header(), rec.Body)
		}
	}
	var leave func()
	for range middleware.StreamLimits.Address {
		var err error
		leave, err = w.api.Middleware.Streams.Enter(admission.Visitor{Address: netip.MustParseAddr("192.0.2.1")})
		kit.Must(t, err)
	}
	ask("192.0.2.1", 429, "the limit for one address is 4 downloads at the same time")
	ask("192.0.2.2", 200, "")
	leave()
	ask("192.0.2.1", 200, "")
}

// Answers are compressed as the client accepts, and have the same content.
func TestEncodings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	path := "/api/v1/openapi.json"
	want := string(Document())
	for _, encoding := range []string{"gzip", "zstd"} {
		rec := w.ask(call{method: "GET", path: path, header: map[string]string{"Accept-Encoding": encoding}})
		if rec.Header().Get("Content-Encoding") != encoding || !strings.Contains(rec.Header().Get("Vary"), "Accept-Encoding") {
			t.Errorf("%s: %v", encoding, rec.Header())
		}
		if got := decompress(t, encoding, rec); got != want {
			t.Errorf("%s: another document", encoding)
		}
	}
}

// A client that sends too slowly is disconnected. One that sends steadily is not.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, nil)
		pace := middleware.Pace{Rate: 16 << 10, Window: 10 * time.Second}
		w.api.Middleware.Pace = pace
		routes := append(w.api.routes(), route{pattern: "POST /slow", endpoint: plain(func(rw http.ResponseWriter, r *http.Request) error {
			n, err := io.Copy(io.Discard, w.api.Middleware.PacedBody(rw, r.Body))
			return respond(rw, 200, map[string]any{"n": n, "ended": err != nil})
		})})
		server := bubble.Serve(t, middleware.NewServer(w.api.apiHandler(routes), slog.New(slog.DiscardHandler)))
		conn, err := server.Dial(bg, "", "")
		kit.Must(t, err)
		defer conn.Close()
		fmt.Fprintf(conn, "POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nonly a bit")
		began := time.Now()
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil) // no more is sent: the server must not wait for it
		kit.Must(t, err)
		if took := time.Since(began); took < pace.Window || took > pace.Window+time.Second {
			t.Errorf("who sends too slowly is ended after %v", took)
		}
		data, _ := io.ReadAll(resp.Body)
		if !strings.Contains(string(data), `"ended":true,"n":10`) {
			t.Errorf("%d %s", resp.StatusCode, data)
		}
		steady, err := server.Client().Post(bubble.URL+"/slow", "text/plain", strings.NewReader(strings.Repeat("x", 1<<20)))
		kit.Must(t, err)
		defer steady.Body.Close()
		data, _ = io.ReadAll(steady.Body)
		if !strings.Contains(string(data), `"ended":false,"n":1048576`) {
			t.Errorf("steady: %s", data)
		}
	})
}
