package api

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/problem"
)

// assetsPerMinute is the number of files of pages that one address may fetch in a minute. A
// first visit takes some thirty of them, later ones none.
const assetsPerMinute = 3000

// Visit is what is known of a request to a page.
type Visit struct {
	ID     string // of the request, in the log
	Secure bool   // came by https, perhaps to a trusted proxy
	service.Actor
}

// Pages returns one handler of the API and of pages, which has all other paths. Requests to
// pages pass the same middleware: identifiers, deadlines, the log and the metrics. The pages
// call Visit or Asset to count a request against its limit.
func (a *API) Pages(pages http.Handler) http.Handler {
	wrapped := a.wrap(pages)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if Path(r.URL.Path) {
			a.handler.ServeHTTP(w, r)
			return
		}
		wrapped.ServeHTTP(w, r)
	})
}

// Path reports whether a path is one of the API, which answers with problem documents.
func Path(path string) bool {
	return strings.HasPrefix(path, "/api/") || path == "/healthz" || path == "/metrics"
}

// Visit finds out who visits a page, by a key that find knows, "" for none, and counts the request
// against the limit of the person or the address. It is called once for each request.
func (a *API) Visit(w http.ResponseWriter, r *http.Request, key string, find func(context.Context, string) (service.Actor, error)) (Visit, error) {
	var err error
	if key != "" {
		err = a.know(r, key, find)
	}
	in := infoOf(r)
	err = a.count(w, r, err)
	return Visit{ID: in.id, Secure: a.secure(r), Actor: in.Actor}, err
}

// Bearer returns the token in the Authorization header of a request; "" for none.
func Bearer(r *http.Request) (token string, err error) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return "", nil
	}
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" || len(r.Header.Values("Authorization")) > 1 {
		return "", ladder.Errorf(ladder.Unauthorized, "send Authorization: Bearer TOKEN", "the Authorization header cannot be read")
	}
	return token, nil
}

// Joining counts a try to join against the limit of its address, which stops guesses of codes and mass registration.
func (a *api) Joining(w http.ResponseWriter, r *http.Request) error {
	return a.joining.Take(w, infoOf(r).Address)
}

// Fail answers a request for something beside the API with the document of an error.
func (a *API) Fail(w http.ResponseWriter, r *http.Request, err error) { a.fail(w, r, err) }

// Asset counts a request for a file of the pages.
func (a *API) Asset(w http.ResponseWriter, r *http.Request) error {
	return a.assets.Take(w, infoOf(r).Address)
}

// Route names the route of a request to a page, for the metrics.
func (a *API) Route(r *http.Request, pattern string) { infoOf(r).route = pattern }

// Problem returns what a page tells of an error, and the time after which to try again, 0 if
// that is no use. It logs a failure of the server.
func (a *API) Problem(r *http.Request, err error) (wire.Problem, time.Duration) {
	p := a.problem(r, err)
	return p, problem.RetryAfter(err, p.Status)
}

// secure reports whether the client used https. A trusted proxy says so in X-Forwarded-Proto.
func (a *api) secure(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	port, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && a.trusted(port.Addr().Unmap()) && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}
