// Package api is the HTTP API of a competition: JSON under /api/v1. Requests pass package middleware first,
// which identifies the client and limits the rate of its requests; changes go through package service.
//
// Begin with routes.go, which lists all routes; Document generates the OpenAPI document from them. Each
// resource has a file, such as bots.go. docs/api.md is for users of the API.
package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/wire"
)

// Options are the options of New. Middleware is required.
type Options struct {
	Middleware *middleware.Middleware
	// Online reports whether a version that runs on its owner's machine is connected. If Online is nil, none is.
	Online func(version int64) bool
	// Machines returns the machines that play matches. It includes machines that have credentials but are not
	// connected. If Machines is nil, there are none.
	Machines func() ([]ladder.Machine, error)
	// Health returns an error that says why the server cannot work, or nil if it can. It need not check the
	// store, which the API does itself. Health may be nil.
	Health func(context.Context) error
	// Metrics serves /metrics. If Metrics is nil, the path does not exist.
	Metrics http.Handler
}

// API answers the requests to the HTTP API of a competition. Its Handler serves them.
type API struct {
	Options
	Service *service.Service
	Store   *store.Store
}

// New returns an API with the service and the store of o.Middleware.
func New(o Options) *API {
	if o.Online == nil {
		o.Online = func(int64) bool { return false }
	}
	if o.Machines == nil {
		o.Machines = func() ([]ladder.Machine, error) { return nil, nil }
	}
	return &API{o, o.Middleware.Service, o.Middleware.Service.Store}
}

func (a *API) apiHandler(routes []route) http.Handler {
	mux := http.NewServeMux()
	for _, rt := range routes {
		mux.Handle(rt.pattern, a.routeHandler(rt))
	}
	compress, err := gzhttp.NewWrapper(
		gzhttp.MinSize(1024), gzhttp.EnableZstd(true),
		gzhttp.ContentTypes([]string{"application/json", "application/x-ndjson", "text/plain"}),
	)
	if err != nil {
		panic("api: " + err.Error()) // only for invalid options
	}
	compressed := compress(mux)
	return a.Middleware.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		known, methods := middleware.FindRoute(mux, r)
		if known {
			compressed.ServeHTTP(w, r)
			return
		}
		err := a.Middleware.Bearer(w, r)
		if err == nil {
			err = serveUnknown(w, r, methods)
		}
		if err != nil {
			a.Middleware.Fail(w, r, err)
		}
	}))
}

// routeHandler returns the handler of the route rt. The handler checks the token of a request, and whether the
// token's scope suffices, and then calls rt.serve.
func (a *API) routeHandler(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		middleware.RequestOf(r).Route = rt.pattern
		if rt.scope == "" && strings.HasPrefix(rt.pattern, http.MethodGet) {
			allowCrossOrigin(w.Header())
		}
		w.Header().Set("Cache-Control", "no-store")
		if rt.scope == "" {
			w.Header().Set("Cache-Control", "no-cache")
		}
		w = middleware.RequestOf(r).RecordAnswer(w)
		err := a.Middleware.Bearer(w, r)
		if err == nil && rt.scope != "" {
			err = middleware.RequestOf(r).CheckScope(rt.scope, rt.pattern)
		}
		if err == nil {
			err = rt.serve(w, r)
		}
		if err != nil {
			a.Middleware.Fail(w, r, err)
		}
	})
}

func (a *API) getHealth(r *http.Request) (doc wire.Health, err error) {
	if a.Health != nil {
		err = a.Health(r.Context())
	}
	if err == nil {
		_, err = a.Store.Matches.ListWaiting(r.Context(), 1)
	}
	if err != nil {
		if ladder.CodeOf(err) != "" {
			return doc, err
		}
		return doc, &ladder.Error{Code: ladder.Unavailable, Text: phrase.New("the server cannot work now"), Hint: phrase.New("see its log"), Err: err}
	}
	return wire.Health{Status: "ok"}, nil
}

// Handler returns the handler of the whole server: it serves the API, /healthz and /metrics itself, and
// passes all other paths to pages. All requests pass the middleware.
func (a *API) Handler(pages http.Handler) http.Handler {
	own, others := a.apiHandler(a.routes()), a.Middleware.Wrap(pages)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path := r.URL.Path; strings.HasPrefix(path, "/api/") || path == "/healthz" || path == "/metrics" {
			own.ServeHTTP(w, r)
		} else {
			others.ServeHTTP(w, r)
		}
	})
}

// allowCrossOrigin sets headers that allow scripts of other sites to read a public answer. This is safe: because the
// API uses no cookies, the answer has nothing that the authors of the scripts could not fetch themselves.
func allowCrossOrigin(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "ETag, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
}

// serveUnknown answers a request without a route: with 404, with 405 if allow lists other methods of the
// path, or as a browser's preflight request (OPTIONS).
func serveUnknown(w http.ResponseWriter, r *http.Request, allow string) error {
	if allow == "" {
		return ladder.Errorf(ladder.NotFound, "GET /api/v1/openapi.json lists all addresses", "%q does not exist", ladder.Clip(r.URL.Path))
	}
	w.Header().Set("Allow", allow)
	if r.Method == http.MethodOptions {
		if strings.Contains(allow, http.MethodGet) {
			allowCrossOrigin(w.Header())
			w.Header().Set("Access-Control-Allow-Methods", "GET, HEAD")
			w.Header().Set("Access-Control-Max-Age", "86400")
		}
		return respond(w, http.StatusNoContent, nil)
	}
	return middleware.NotAllowed(r, allow)
}
