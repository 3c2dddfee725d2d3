package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/wire"
)

// awaitWaitingRequest waits until a request waits in the server.
func (w *world) awaitWaitingRequest() {
	w.tb.Helper()
	bubble.Settle()
	if w.api.Middleware.Waits.Count() == 0 {
		w.tb.Error("no request waits")
	}
}

// A waiting request is answered when something has changed.
func TestWaiting(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, nil)
		path := fmt.Sprintf("/api/v1/submissions/%d", w.queued.ID)
		first := w.ask(call{method: "GET", path: path, who: "ada read"})
		tag := map[string]string{"If-None-Match": first.Header().Get("ETag")}

		rec := w.ask(call{method: "GET", path: path + "?wait=1ms", who: "ada read", header: tag})
		if rec.Code != http.StatusNotModified {
			t.Errorf("nothing is new: %d", rec.Code)
		}
		rec = w.ask(call{method: "GET", path: path + "?wait=1ms", who: "ada read"})
		if rec.Code != 200 || !strings.Contains(rec.Body.String(), `"done":false`) {
			t.Errorf("the time is over: %d %s", rec.Code, rec.Body)
		}

		answers := make(chan *httptest.ResponseRecorder)
		begin := func(header map[string]string) {
			go func() {
				answers <- w.ask(call{method: "GET", path: path + "?wait=60s", who: "ada read", header: header})
			}()
			w.awaitWaitingRequest()
		}
		begin(tag)
		kit.Must(t, w.Store.Versions.StartStage(bg, w.queued.ID, "unpack"))
		if rec := <-answers; rec.Code != 200 || !strings.Contains(rec.Body.String(), `"name":"unpack"`) {
			t.Errorf("something is new: %d %s", rec.Code, rec.Body)
		}
		begin(nil)
		kit.Must(t, w.Store.Versions.Fail(bg, w.queued.ID, phrase.Plain("no")))
		if rec := <-answers; rec.Code != 200 || !strings.Contains(rec.Body.String(), `"done":true`) {
			t.Errorf("it is done: %d %s", rec.Code, rec.Body)
		}
		if got := get[wire.Submission](w, call{path: path + "?wait=60s", who: "ada read"}); !got.Done || got.Version.Reason != "no" {
			t.Errorf("%+v", got)
		}
	})
}

// A server that stops does not wait for waiting requests.
func TestShutdown(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, nil)
		server := middleware.NewServer(w.http, slog.New(slog.DiscardHandler))
		listener := bubble.Serve(t, server)
		answered := make(chan int, 1)
		go func() {
			r, err := http.NewRequest("GET", fmt.Sprintf("%s/api/v1/submissions/%d?wait=60s", bubble.URL, w.queued.ID), nil)
			if err == nil {
				r.Header.Set("Authorization", "Bearer "+w.keys["ada read"])
				var resp *http.Response
				if resp, err = listener.Client().Do(r); err == nil {
					resp.Body.Close()
					answered <- resp.StatusCode
				}
			}
			if err != nil {
				t.Error(err)
				answered <- 0
			}
		}()
		w.awaitWaitingRequest()
		began := time.Now()
		kit.Must(t, server.Shutdown(bg))
		if took := time.Since(began); took > time.Second {
			t.Errorf("it waits %v", took)
		}
		if got := <-answered; got != 200 {
			t.Errorf("status %d", got)
		}
	})
}

// racingHub is an event hub in which something happens just before and just after somebody subscribes.
type racingHub struct {
	*events.Bus
	before, after func()
}

func (i racingHub) Subscribe(n int, wanted func(events.Event) bool) (<-chan events.Event, func()) {
	if i.before != nil {
		i.before()
	}
	changes, stop := i.Bus.Subscribe(n, wanted)
	if i.after != nil {
		i.after()
	}
	return changes, stop
}

// A request notices a change between its first look at a submission and its wait.
func TestNoWakeUpIsLost(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		for _, when := range []string{"before", "after"} {
			w := newWorld(t, nil)
			fail := func() {
				kit.Must(t, w.Store.Versions.Fail(bg, w.queued.ID, phrase.Plain("no")))
			}
			hub := racingHub{Bus: w.Store.Events(), before: fail}
			if when == "after" {
				hub.before, hub.after = nil, fail
			}
			w.api.Service.Events = hub
			began := time.Now()
			rec := w.ask(call{method: "GET", path: fmt.Sprintf("/api/v1/submissions/%d?wait=20s", w.queued.ID), who: "ada read"})
			if rec.Code != 200 || !strings.Contains(rec.Body.String(), `"done":true`) || time.Since(began) > 0 {
				t.Errorf("a change just %s the subscription: after %s: %d %s", when, time.Since(began), rec.Code, rec.Body)
			}
		}
	})
}

// The wait ends when the client disconnects or the runner stops.
func TestWaitEnds(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		for _, end := range []string{"client", "runner"} {
			w := newWorld(t, nil)
			ctx, cancel := context.WithCancel(bg)
			defer cancel()
			r := httptest.NewRequestWithContext(ctx, "GET", fmt.Sprintf("/api/v1/submissions/%d?wait=60s", w.queued.ID), nil)
			r.Header.Set("Authorization", "Bearer "+w.keys["ada read"])
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				w.http.ServeHTTP(httptest.NewRecorder(), r)
			}()
			w.awaitWaitingRequest()
			if end == "client" {
				cancel()
			} else {
				w.Store.Events().Close()
			}
			began := time.Now()
			<-ended
			if took := time.Since(began); took > 0 {
				t.Errorf("the %s is gone, and the request waits for %v", end, took)
			}
			if w.api.Middleware.Waits.Count() != 0 {
				t.Errorf("the %s is gone, and %d wait", end, w.api.Middleware.Waits.Count())
			}
		}
	})
}
