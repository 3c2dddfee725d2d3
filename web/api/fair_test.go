package api

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/wire"
)

// serve serves the world over connections within a bubble. The header X-Forwarded-For gives the address of a
// client.
func (w *world) serve(t *testing.T, routes ...route) *bubble.Listener {
	w.api.Middleware.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	return bubble.Serve(t, middleware.NewServer(w.api.apiHandler(append(w.api.routes(), routes...)), slog.New(slog.DiscardHandler)))
}

// send uploads an archive of a new bot from an address. body is the content of the upload.
func (w *world) send(to *bubble.Listener, who, from string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequest("POST", bubble.URL+"/api/v1/submissions?bot="+newName("sent"), body)
	kit.Must(w.tb, err)
	r.Header.Set("Authorization", "Bearer "+w.keys[who+" submit"])
	r.Header.Set("Content-Type", "application/gzip")
	r.Header.Set("X-Forwarded-For", from)
	return to.Client().Do(r)
}

// Two people hold all the simultaneous uploads that they and their addresses may have, and send almost
// nothing. Uploads of others are accepted all the while.
func TestSlowUploads(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, nil)
		server := w.serve(t)
		data := archive(t, "bot.py", "pass")
		var slow []*io.PipeWriter
		var ended sync.WaitGroup
		for i, who := range []string{"ada", "bob"} {
			for range middleware.UploadLimits.Person {
				body, in := io.Pipe()
				slow = append(slow, in)
				ended.Go(func() {
					if resp, err := w.send(server, who, fmt.Sprintf("192.0.2.%d", i+1), body); err == nil {
						resp.Body.Close()
					}
				})
				_, err := in.Write([]byte(data[:10])) // the server reads: it holds its slot, or soon
				kit.Must(t, err)
			}
		}
		bubble.Settle()
		if held := w.api.Middleware.Uploads.Count(); held != 2*middleware.UploadLimits.Person {
			t.Errorf("%d uploads are held, want %d", held, 2*middleware.UploadLimits.Person)
		}
		good := 0
		const all = 5
		for range all {
			resp := kit.Get[*http.Response](t)(w.send(server, "root", "192.0.2.3", strings.NewReader(data)))
			if resp.StatusCode == http.StatusAccepted {
				good++
			}
			resp.Body.Close()
		}
		if good < all {
			t.Errorf("%d of %d uploads of another person are taken", good, all)
		}
		resp := kit.Get[*http.Response](t)(w.send(server, "ada", "192.0.2.1", strings.NewReader(data)))
		if resp.Body.Close(); resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" {
			t.Errorf("one more of a person with all that they may: %s", resp.Status)
		}
		for _, in := range slow {
			in.CloseWithError(io.ErrUnexpectedEOF)
		}
		ended.Wait()
		bubble.Settle() // the server has removed what it had received
	})
}

// A client that reads an answer too slowly is disconnected and releases its slot.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		const window = 10 * time.Second
		w := newWorld(t, func(o *Options) { o.Middleware.Pace = middleware.Pace{Rate: 1 << 30, Window: window} })
		ended := make(chan struct{})
		server := w.serve(t, route{pattern: "GET /endless", endpoint: plain(func(rw http.ResponseWriter, r *http.Request) error {
			defer close(ended)
			leave, err := w.api.Middleware.StartStream(r)
			if err != nil {
				return err
			}
			defer leave()
			for {
				if _, err := rw.Write(bytes.Repeat([]byte("x"), 64<<10)); err != nil {
					return abortOnError(err)
				}
			}
		})})
		resp := kit.Get[*http.Response](t)(server.Client().Get(bubble.URL + "/endless"))
		defer resp.Body.Close()
		began := time.Now()
		<-ended // the client reads nothing
		if took := time.Since(began); took < window || took > window+time.Second {
			t.Errorf("a reader that takes nothing is served for %v", took)
		}
		bubble.Settle()
		if n := w.api.Middleware.Streams.Count(); n != 0 {
			t.Errorf("%d downloads are held", n)
		}
	})
}

// Limits hold for any number of simultaneous requests, and for a person with many tokens as with one.
func TestParallelRequests(t *testing.T) {
	// limit: limits.requests
	const limit = 40
	w := newWorld(t, func(o *Options) {
		o.Middleware.Service.Config.Limits.Requests = limit
		frozen := o.Middleware.Service.Now()
		o.Middleware.Service.Now = func() time.Time { return frozen } // the rate limits do not recover during the test
	})
	keys := []string{"=" + w.keys["ada read"], "=" + w.keys["ada submit"], "=" + w.keys["ada all"]}
	var codes sync.Map
	var all sync.WaitGroup
	for i := range 150 {
		all.Go(func() {
			rec := w.ask(call{method: "GET", path: "/api/v1/me", who: keys[i%3]})
			codes.Store(i, rec.Code)
		})
	}
	all.Wait()
	if n := counted(&codes)[200]; n != limit {
		t.Errorf("%d requests of one person are let through, want %d", n, limit)
	}
	if rec := w.ask(call{method: "GET", path: "/api/v1/me", who: "bob read"}); rec.Code != 200 || !strings.Contains(rec.Header().Get("RateLimit-Policy"), `"person";q=40`) {
		t.Errorf("another person: %d %v", rec.Code, rec.Header())
	}
}

func counted(codes *sync.Map) map[int]int {
	count := map[int]int{}
	codes.Range(func(_, code any) bool { count[code.(int)]++; return true })
	return count
}

// Of 150 simultaneous requests for a token, no more succeed than a person may have tokens. The others get a
// suggestion, and are not asked to wait.
func TestParallelTokens(t *testing.T) {
	// limit: limits.requests
	t.Parallel()
	w := newWorld(t, nil)
	before := kit.Get[[]ladder.Token](t)(w.Store.Sessions.Tokens(bg, w.person("ada")))
	var codes sync.Map
	var all sync.WaitGroup
	for i := range 150 {
		all.Go(func() {
			rec := w.ask(call{method: "POST", path: "/api/v1/tokens", who: "ada all", body: `{"scope":"read"}`})
			codes.Store(i, rec.Code)
			if rec.Code == http.StatusConflict && (rec.Header().Get("Retry-After") != "" || !strings.Contains(rec.Body.String(), "timba tokens revoke")) {
				t.Errorf("%v %s", rec.Header(), rec.Body)
			}
		})
	}
	all.Wait()
	want := store.MaxTokens - len(before)
	if n := counted(&codes); n[201] != want || n[409] != 150-want {
		t.Errorf("the answers are %v, want %d new tokens and %d conflicts", n, want, 150-want)
	}
}

// Requests for paths that do not exist count as others do.
func TestUnknownAddressesAreLimited(t *testing.T) {
	// limit: limits.requests
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.Middleware.Service.Config.Limits.Requests = 6 })
	for i, c := range []struct {
		method, path string
		want         int
	}{{"GET", "/nothing", 404}, {"POST", "/api/v1/ladders", 405}, {"GET", "/api//v1/ladders", 404}, {"GET", "/nothing", 429}, {"POST", "/api/v1/ladders", 429}} {
		r := httptest.NewRequest(c.method, c.path, nil)
		rec := httptest.NewRecorder()
		w.http.ServeHTTP(rec, r)
		if rec.Code != c.want || c.want == 429 && rec.Header().Get("Retry-After") == "" {
			t.Errorf("request %d, %s %s: %d, want %d", i, c.method, c.path, rec.Code, c.want)
		}
	}
}

// An error that waiting cannot help is not a rate limit. One that it can help says how long to wait.
func TestPermanentLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	send := func(bot string) *httptest.ResponseRecorder {
		return w.ask(call{method: "POST", path: "/api/v1/submissions?bot=" + bot, who: "bob submit", kind: "application/gzip", body: archive(t, "bot.py", newName("# "))})
	}
	w.Config.Limits.Bots, w.Config.Limits.Versions = 1, 2
	if rec := send("one"); rec.Code != 202 {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	if rec := send("two"); rec.Code != 409 || rec.Header().Get("Retry-After") != "" || !strings.Contains(rec.Body.String(), "1 bots are the limit") {
		t.Errorf("one bot too many: %d %v %s", rec.Code, rec.Header(), rec.Body)
	}
	w.Config.Limits.Bots = 100
	send("two")
	rec := send("three")
	wait, err := strconv.Atoi(rec.Header().Get("Retry-After"))
	if rec.Code != 429 || err != nil || wait < 23*60*60 || wait > 24*60*60 {
		t.Errorf("one version too many: %d %v %s", rec.Code, rec.Header(), rec.Body)
	}
}

// A waiting submission has a place in the queue, in which owners take turns, and can be canceled.
func TestQueue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil) // adabot@3 waits
	send := func(who string) wire.Submission {
		t.Helper()
		return get[wire.Submission](w, call{method: "POST", path: "/api/v1/submissions?bot=" + newName("queued"), who: who + " submit", kind: "application/gzip", body: archive(t, "bot.py", "pass")})
	}
	place := func(who string, s wire.Submission) int {
		t.Helper()
		return get[wire.Submission](w, at("/submissions/%d", s.ID).by(who+" read")).Place
	}
	first, second := send("ada"), send("ada")
	other := send("bob")
	if first.Place != 2 || second.Place != 3 || other.Place != 2 {
		t.Errorf("the places are %d, %d and %d, want 2, 3 and 2", first.Place, second.Place, other.Place)
	}
	if n, m := place("ada", first), place("ada", second); n != 3 || m != 4 {
		t.Errorf("behind the other's the places are %d and %d, want 3 and 4", n, m)
	}
	cancelled := get[wire.Submission](w, call{method: "DELETE", path: fmt.Sprintf("/api/v1/submissions/%d", first.ID), who: "ada submit"})
	if !cancelled.Done || cancelled.Place != 0 || cancelled.Version.State != "cancelled" || cancelled.Version.Reason != "cancelled by its owner" {
		t.Errorf("%+v", cancelled)
	}
	kit.Must(t, w.Store.Versions.SetState(bg, w.queued.ID, ladder.Queued))
	kit.Must(t, w.Store.Versions.StartStage(bg, w.queued.ID, "unpack"))
	if n, m := place("bob", other), place("ada", second); n != 1 || m != 2 {
		t.Errorf("when the first is begun the places are %d and %d, want 1 and 2", n, m)
	}
	if rec := w.ask(call{method: "DELETE", path: fmt.Sprintf("/api/v1/submissions/%d", w.queued.ID), who: "ada submit"}); rec.Code != 409 {
		t.Errorf("what has begun is cancelled: %d %s", rec.Code, rec.Body)
	}
}

// TestWithdrawal withdraws a bot, restores it, makes an earlier version live and downloads the unchanged upload.
func TestWithdrawal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	name := w.addLiveBot()
	v := w.version(name)
	w.MakeLive(v.ID, store.BuildInfo{Hash: hashOf(2), Command: []string{"./bot"}})
	change := func(method, path, body string) wire.Bot {
		t.Helper()
		return get[wire.Bot](w, call{method: method, path: "/api/v1/bots/" + name + path, who: "ada submit", body: body})
	}
	if b := change("PUT", "/withdrawal", ""); b.WithdrawnAt.IsZero() || b.Live != 0 || b.Latest.State != "retired" {
		t.Errorf("withdrawn: %+v", b)
	}
	woken := w.wakeUps.Load()
	if b := change("DELETE", "/withdrawal", ""); !b.WithdrawnAt.IsZero() || b.Live != 2 {
		t.Errorf("restored: %+v", b)
	}
	if b := change("PUT", "/live", `{"version":1}`); b.Live != 1 || w.wakeUps.Load() != woken+2 {
		t.Errorf("an earlier version: %+v, woken %d times", b, w.wakeUps.Load()-woken)
	}
	want := archive(t, "bot.py", "pass")
	w.storeUpload(v.Bundle, want)
	rec := w.ask(call{method: "GET", path: fmt.Sprintf("/api/v1/bots/%s/versions/2/upload", name), who: "ada read"})
	if rec.Body.String() != want || !strings.Contains(rec.Header().Get("Content-Disposition"), name+`-2.tar.gz"`) {
		t.Errorf("%d %v, %d bytes", rec.Code, rec.Header(), rec.Body.Len())
	}
	if rec := w.ask(call{method: "GET", path: "/api/v1/bots/@random/versions/1/upload", who: "root all"}); rec.Code != 404 {
		t.Errorf("a house bot's: %d", rec.Code)
	}
}
