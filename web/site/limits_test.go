package site_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/site"
	"github.com/timba-arena/timba/web/webtest"
)

// newLimitedWorld returns a competition with a limit of requests a minute, in which the clock does not advance.
func newLimitedWorld(t *testing.T, requests int) *webtest.StaticWorld {
	return webtest.NewStaticWorld(t, func(o *site.Options) {
		c, frozen := *o.Middleware.Service.Config, time.Now()
		c.Limits.Requests = requests
		o.Middleware = middleware.New(middleware.Options{Service: service.New(service.Options{
			Store: o.Middleware.Service.Store, Config: &c, Now: func() time.Time { return frozen },
		})})
	})
}

// With the default limits, thirty people behind one address can each read ten pages in the same minute, and
// each can search as often as a single person.
func TestClassBehindOneAddress(t *testing.T) {
	w := newLimitedWorld(t, 120)
	pages := []string{"/", "/ladders", "/bots", "/matches", "/live", "/docs", "/ratings", "/people/ada", "/machines", "/protocol"}
	for n := range 30 {
		c := w.Client() // without an account
		if n%2 == 0 {
			p := w.Ladder.AddPerson(fmt.Sprintf("pupil-%d", n), false)
			w.SignIn(c, w.NewToken(p, ladder.ScopeSubmit))
		}
		for _, page := range pages {
			if a := w.Get(c, page); a.Status != http.StatusOK {
				t.Fatalf("person %d gets %d for %s: %s", n, a.Status, page, a.Body)
			}
		}
		if n%2 == 0 {
			for range 5 {
				if a := w.Get(c, "/search?q=ada"); a.Status != http.StatusOK {
					t.Fatalf("person %d searches and gets %d", n, a.Status)
				}
			}
		}
	}
}

// Cheap and costly pages have separate limits, each for a person and for an address. The error says which
// limit it was.
func TestLimitsOfPages(t *testing.T) {
	// limit: limits.requests
	w := newLimitedWorld(t, 8)
	expect := func(c *http.Client, path string, may int, says string) {
		t.Helper()
		for n := range may {
			if a := w.Get(c, path); a.Status != http.StatusOK {
				t.Fatalf("%s: %d for the request %d of %d: %s", path, a.Status, n+1, may, a.Body)
			}
		}
		if a := w.Get(c, path); a.Status != http.StatusTooManyRequests || !strings.Contains(a.Body, says) || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: after %d requests %d %v", path, may, a.Status, a.Header)
		}
	}
	nobody, ada := w.Client(), w.Client()
	w.SignIn(ada, w.AdaToken) // it counts as a request of the address
	expect(nobody, "/search?q=x", 3, "the limit is 4 requests a minute for one address")
	expect(nobody, "/docs", 80, "the limit is 80 pages a minute")
	expect(ada, "/search?q=x", 8, "the limit is 8 requests a minute for one person")
	expect(ada, "/docs", 80, "the limit is 80 pages a minute")
}
