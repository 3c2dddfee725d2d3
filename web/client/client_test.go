package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/wire"
)

var bg = context.Background()

// serve returns a client of a server that answers the n-th request with answer. Tests with the real server
// are in web/api and in the scripts of cmd/timba/commands.
func serve(t *testing.T, answer func(n int64, w http.ResponseWriter, r *http.Request)) *Client {
	t.Helper()
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(n.Add(1), w, r) }))
	t.Cleanup(s.Close)
	c := kit.Get[*Client](t)(New(s.URL, "timba_secret"))
	c.OnWait = func(why error, wait time.Duration) { t.Logf("waits %v: %v", wait, why) }
	return c
}

func problem(w http.ResponseWriter, status int, detail, hint string) {
	w.Header().Set("Content-Type", wire.ProblemType)
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(wire.Problem{Type: "urn:timba:problem:x", Title: "title", Status: status, Detail: detail, Hint: hint})
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"https://timba.example.org":         "https://timba.example.org",
		"https://timba.example.org/":        "https://timba.example.org",
		"timba.example.org":                 "https://timba.example.org",
		"localhost:8080":                    "http://localhost:8080",
		"127.0.0.1:8080":                    "http://127.0.0.1:8080",
		"[::1]:8080":                        "http://[::1]:8080",
		"http://h:1/api/v1/":                "http://h:1",
		"ftp://h":                           "",
		"":                                  "",
		"https://":                          "",
		"https://user:password@h":           "",
		"https://h?token=timba_x":           "",
		"http://[::1":                       "",
		"https://timba.example.org#chapter": "",
	} {
		c, err := New(address, "")
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), "is not an address of a server") {
				t.Errorf("%q: %v, %v", address, c, err)
			}
			continue
		}
		if err != nil || c.URL != want {
			t.Errorf("%q: %v, %v, want %s", address, c, err, want)
		}
	}
}

// TestRetries checks which requests are repeated.
func TestRetries(t *testing.T) {
	c := serve(t, func(n int64, w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer timba_secret" {
			t.Error("the token is missing")
		}
		switch n {
		case 1:
			w.Header().Set("Retry-After", "0")
			problem(w, 503, "busy", "")
		case 2:
			w.Header().Set("Retry-After", "0")
			problem(w, 429, "too many", "")
		case 3:
			panic(http.ErrAbortHandler) // the connection breaks
		default:
			fmt.Fprint(w, `{"name":"ada","token":{"scope":"read"}}`)
		}
	})
	if me, err := c.Me(bg); err != nil || me.Name != "ada" {
		t.Errorf("%+v, %v", me, err)
	}

	var tries atomic.Int64 // of the last client
	c = serve(t, func(n int64, w http.ResponseWriter, r *http.Request) {
		tries.Store(n)
		problem(w, 409, "the name is taken", "choose another")
	})
	_, err := c.Register(bg, "ada", "")
	if tries.Load() != 1 || Status(err) != 409 || err.Error() != "the name is taken: choose another" {
		t.Errorf("%d tries, %v", tries.Load(), err)
	}

	c = serve(t, func(n int64, w http.ResponseWriter, r *http.Request) {
		tries.Store(n)
		if n == 1 {
			fmt.Fprint(w, `{"items":[]}`)
			return
		}
		panic(http.ErrAbortHandler)
	})
	if _, err := c.Ladders(bg); err != nil {
		t.Fatal(err)
	}
	if _, err = c.AskMatch(bg, wire.AskedMatch{}); err == nil || tries.Load() != 2 {
		t.Errorf("a match was asked for %d times: %v", tries.Load()-1, err)
	}

	c = serve(t, func(n int64, w http.ResponseWriter, r *http.Request) {
		tries.Store(n)
		w.Header().Set("Retry-After", "86400")
		problem(w, 429, "20 versions within a day are the limit", "try again tomorrow")
	})
	if _, err = c.Me(bg); Status(err) != 429 || tries.Load() != 1 {
		t.Errorf("%d tries, %v", tries.Load(), err)
	}

	c = serve(t, func(n int64, w http.ResponseWriter, r *http.Request) { // waiting does not help
		tries.Store(n)
		problem(w, 409, "5 bots are the limit", "submit a new version of one of them")
	})
	if _, err = c.Submit(bg, "mine", "", Body(nil)); Status(err) != 409 || tries.Load() != 1 {
		t.Errorf("%d tries, %v", tries.Load(), err)
	}
}

// TestPaths checks that an address with a path is refused, because the pages of a site have absolute paths.
func TestPaths(t *testing.T) {
	for address, path := range map[string]string{"https://h/bots": "/bots", "h/bots/": "/bots", "https://h/bots/api/v1": "/bots/api/v1"} {
		if _, err := New(address, ""); err == nil || !strings.HasSuffix(err.Error(), fmt.Sprintf("%q has the path %q, but timba is always at the root of a host: try https://h", address, path)) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestProxies checks the errors for answers of proxies before a server, and of other programs.
func TestProxies(t *testing.T) {
	for _, c := range []struct {
		status             int
		location, contains string
	}{
		{401, "", `"401 Unauthorized", an answer of a proxy: it asks for a password of its own: ask the operator`},
		{403, "", "it does not let this request pass: ask the operator"},
		{404, "", "which is not an answer of timba: is this the address of a timba server?"},
		{413, "", "a body of this size is above its limit: ask the operator of the server to raise the limit, in nginx client_max_body_size, above limits.upload"},
		{502, "", "the timba server behind it does not answer: try again later, or ask the operator of the server whether timba serve runs, at the address that the proxy has for it (in nginx proxy_pass)"},
		{503, "", "the timba server behind it does not answer: try again later"},
		{504, "", "the timba server behind it took too long: try again later, or ask the operator of the server whether timba serve hangs, and whether the proxy waits for 90 s and more (in nginx proxy_read_timeout)"},
		{301, "https://new.example/api/v1/me", `"301 Moved Permanently", a redirection to "https://new.example/api/v1/me": give the address https://new.example instead`},
		{308, "https://new.example:8443/api/v1/me", "give the address https://new.example:8443 instead"},
		{302, "https://user:word@login.example/?from=timba", `a redirection to "https://user:xxxxx@login.example/?from=timba": is this the address of a timba server?`},
		{302, "", "which is not an answer of timba"},
	} {
		tries := 0
		c1 := serve(t, func(_ int64, w http.ResponseWriter, r *http.Request) {
			tries++
			if c.location != "" {
				w.Header().Set("Location", c.location)
			}
			w.Header().Set("Retry-After", "86400") // a proxy that is switched off for longer than the client waits
			http.Error(w, "<html>nginx</html>", c.status)
		})
		if _, err := c1.Me(bg); Status(err) != c.status || !strings.Contains(err.Error(), c.contains) || tries != 1 {
			t.Errorf("%d: %v, after %d tries", c.status, err, tries)
		}
	}
	c := serve(t, func(_ int64, w http.ResponseWriter, r *http.Request) {
		http.Error(w, "The plain HTTP request was sent to HTTPS port", http.StatusBadRequest)
	})
	if _, err := c.Me(bg); err == nil || !strings.Contains(err.Error(), "it speaks only https: begin the address with https://") {
		t.Error(err)
	}
}

// TestProxyRetries checks that a request is repeated while a proxy says that the server does not answer, if the server
// has answered before and the request may be sent twice.
func TestProxyRetries(t *testing.T) {
	var tries atomic.Int64
	c := serve(t, func(n int64, w http.ResponseWriter, r *http.Request) {
		tries.Store(n)
		if n == 2 || n == 4 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		fmt.Fprint(w, `{"items":[]}`)
	})
	for range 2 {
		if _, err := c.Ladders(bg); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.AskMatch(bg, wire.AskedMatch{}); Status(err) != http.StatusBadGateway || tries.Load() != 4 {
		t.Errorf("a match was asked for after %d requests: %v", tries.Load(), err)
	}
}

// TestStrangers checks the errors for servers that are not timba, and for the absence of a server.
func TestStrangers(t *testing.T) {
	for answer, want := range map[string]string{
		"<html>":        `answered with the type "text/html", which is not an answer of timba: open the address in a browser`,
		`{"ok": true}`:  "the answer cannot be read: it is \"{\\\"ok\\\": true}\": is this the address of a timba server?",
		`{"name": "ad`:  "the answer cannot be read: unexpected end of JSON input",
		"-> /api/v1/me": "it never ends: ask the operator of the server why its proxy redirects to the same address",
	} {
		c := serve(t, func(_ int64, w http.ResponseWriter, r *http.Request) {
			if to, ok := strings.CutPrefix(answer, "-> "); ok {
				w.Header().Set("Location", to)
				w.WriteHeader(http.StatusFound)
			}
			io.WriteString(w, answer)
		})
		if _, err := c.Me(bg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", answer, err)
		}
	}
	signed := httptest.NewTLSServer(http.NotFoundHandler())
	defer signed.Close()
	signed.Config.ErrorLog = log.New(io.Discard, "", 0)
	if _, err := kit.Get[*Client](t)(New(signed.URL, "")).Me(bg); err == nil || !strings.HasSuffix(err.Error(), "name the file with the certificate of the signer in SSL_CERT_FILE") {
		t.Error(err)
	}
	nobody := kit.Get[*Client](t)(New("http://127.0.0.1:1", ""))
	if _, err := nobody.Me(bg); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Error(err)
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := kit.Get[*Client](t)(New(strings.Replace(plain.URL, "http:", "https:", 1), ""))
	if _, err := secure.Me(bg); err == nil || !strings.Contains(err.Error(), "it has no https: begin the address with http://") {
		t.Error(err)
	}
}

func TestCutOffProblem(t *testing.T) {
	c := serve(t, func(_ int64, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", wire.ProblemType)
		w.Header().Set("Content-Length", "100")
		w.WriteHeader(400)
		io.WriteString(w, `{"type":`)
	})
	if _, err := c.Me(bg); err == nil || !strings.Contains(err.Error(), `answered "400 Bad Request", but the answer was cut off: unexpected EOF: try again`) {
		t.Error(err)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(bg)
	c := serve(t, func(_ int64, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "100")
		problem(w, 503, "busy", "")
	})
	c.OnWait = func(error, time.Duration) { cancel() }
	if _, err := c.Me(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestPages(t *testing.T) {
	c := serve(t, func(_ int64, w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("cursor") {
		case "":
			fmt.Fprint(w, `{"items":[{"name":"a"},{"name":"b"}],"next":"bot-2"}`)
		case "bot-2":
			fmt.Fprint(w, `{"items":[{"name":"c"}],"next":"bot-3"}`)
		default:
			fmt.Fprint(w, `{"items":[],"next":"bot-3"}`)
		}
	})
	for n, want := range map[int]int{0: 3, 1: 1, 2: 2, 9: 3} {
		if got, err := Collect(c.Bots(bg, ""), n); err != nil || len(got) != want {
			t.Errorf("%d: %v, %v", n, got, err)
		}
	}
}

// TestReplaysAfter checks that a stream which is interrupted within a line is resumed after the last complete
// line, and that no line is delivered twice.
func TestReplaysAfter(t *testing.T) {
	const all = 7
	c := serve(t, func(n int64, w http.ResponseWriter, r *http.Request) {
		from := 0
		fmt.Sscanf(r.URL.Query().Get("after"), "replay-%d", &from)
		for i := from + 1; i <= min(from+3, all); i++ {
			line := fmt.Sprintf(`{"cursor":"replay-%d","game":%d,"match":1,"replay":{"a":"<>&"}}`+"\n", i, i)
			if n%2 == 1 && i == from+2 {
				io.WriteString(w, line[:20])
				http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
			io.WriteString(w, line)
		}
	})
	var got []int64
	for line, err := range c.ReplaysAfter(bg, "replay-1", "", "") {
		kit.Must(t, err)
		if string(line.Replay) != `{"a":"<>&"}` {
			t.Errorf("replay %s", line.Replay)
		}
		got = append(got, line.Game)
	}
	if fmt.Sprint(got) != "[2 3 4 5 6 7]" {
		t.Errorf("games %v", got)
	}
}

// TestFollow checks that Follow yields each state once, until the submission is done.
func TestFollow(t *testing.T) {
	c := serve(t, func(n int64, w http.ResponseWriter, r *http.Request) {
		tag := fmt.Sprintf(`"%d"`, n)
		switch n {
		case 2:
			if r.Header.Get("If-None-Match") != `"1"` || r.URL.Query().Get("wait") == "" {
				t.Errorf("%v %v", r.Header, r.URL)
			}
			w.WriteHeader(http.StatusNotModified)
			return
		case 4:
			w.Header().Set("ETag", tag)
			fmt.Fprint(w, `{"id":1,"done":true,"stages":[],"version":{"state":"live"}}`)
			return
		}
		w.Header().Set("ETag", tag)
		fmt.Fprint(w, `{"id":1,"done":false,"stages":[],"version":{"state":"building"}}`)
	})
	var states []string
	for s, err := range c.Follow(bg, 1) {
		kit.Must(t, err)
		states = append(states, s.Version.State)
	}
	if fmt.Sprint(states) != "[building building live]" {
		t.Errorf("%v", states)
	}
}

// A Retry-After that exceeds the range of time.Duration is too long as well.
func TestEndlessWait(t *testing.T) {
	var asked atomic.Int64
	c := serve(t, func(n int64, w http.ResponseWriter, _ *http.Request) {
		asked.Store(n)
		w.Header().Set("Retry-After", "10000000000")
		problem(w, http.StatusServiceUnavailable, "away", "")
	})
	if _, err := c.Me(bg); Status(err) != http.StatusServiceUnavailable || asked.Load() != 1 {
		t.Errorf("it asked %d times: %v", asked.Load(), err)
	}
}
