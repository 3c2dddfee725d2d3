// Package api is the HTTP API of a competition: JSON under /api/v1, described by
// openapi.yaml. Each resource has a file; what all requests pass is
// package middleware. docs/api.md is for users of the API.
package api

import (
	"context"
	_ "embed"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/web/middleware"
)

// Options are the parts of the API. Middleware is required.
type Options struct {
	Middleware *middleware.Middleware
	// Online reports whether a remote version is connected; nil: none is.
	Online func(version int64) bool
	// Machines returns the machines that play matches, and those with credentials that are not
	// connected; nil: there are none.
	Machines func() ([]ladder.Machine, error)
	// Health returns why the server cannot work, nil while it can. The API checks the
	// store itself.
	Health func(context.Context) error
	// Metrics serves /metrics, unless it is nil.
	Metrics http.Handler
}

// API is the API of a competition; see Pages.
type API struct {
	Options
	Service *service.Service
	Store   *store.Store
}

// handler answers a request, or returns an error instead.
type handler func(http.ResponseWriter, *http.Request) error

// route is a route of the API with the scope that it requires, "" for none. What is only for owners or admins package
// service checks.
type route struct {
	pattern string // of net/http, the method first
	scope   ladder.Scope
	serve   handler
}

// plain returns a handler that takes no parameters in the query.
func plain(serve handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := middleware.NewQuery(r).Done(); err != nil {
			return err
		}
		return serve(w, r)
	}
}

// routes returns all routes.
func (a *API) routes() []route {
	all := []route{
		{"GET /healthz", "", plain(a.getHealth)},
		{"GET /api/v1/openapi.json", "", plain(a.getDocument)},

		{"GET /api/v1/ladders", "", plain(answer(a.getLadders))},
		{"GET /api/v1/ladders/{ladder}", "", plain(answer(a.getLadder))},
		{"GET /api/v1/ladders/{ladder}/standings", "", answer(a.getStandings)},
		{"GET /api/v1/ladders/{ladder}/matches", "", answer(a.getLadderMatches)},

		{"GET /api/v1/bots", "", answer(a.getBots)},
		{"GET /api/v1/bots/{bot}", "", plain(answer(a.getBot))},
		{"GET /api/v1/bots/{bot}/versions", "", answer(a.getVersions)},
		{"GET /api/v1/bots/{bot}/versions/{version}", "", plain(answer(a.getVersion))},
		{"GET /api/v1/bots/{bot}/versions/{version}/upload", ladder.ScopeRead, plain(a.Middleware.SendUpload)},
		{"GET /api/v1/bots/{bot}/versions/{version}/logs", ladder.ScopeRead, plain(answer(a.getStages))},
		{"GET /api/v1/bots/{bot}/versions/{version}/logs/{stage}", ladder.ScopeRead, plain(a.getStageLog)},
		{"GET /api/v1/bots/{bot}/matches", "", answer(a.getBotMatches)},
		{"GET /api/v1/bots/{bot}/history", "", answer(a.getHistory)},
		{"PUT /api/v1/bots/{bot}/withdrawal", ladder.ScopeSubmit, plain(answer(a.changeBot(a.Service.Withdraw)))},
		{"DELETE /api/v1/bots/{bot}/withdrawal", ladder.ScopeSubmit, plain(answer(a.changeBot(a.Service.Restore)))},
		{"PUT /api/v1/bots/{bot}/live", ladder.ScopeSubmit, plain(take(http.StatusOK, a.putLive))},

		{"GET /api/v1/matches", "", answer(a.getMatches)},
		{"POST /api/v1/matches", ladder.ScopeSubmit, plain(a.postMatch)},
		{"GET /api/v1/matches/{match}", "", plain(answer(a.getMatch))},
		{"POST /api/v1/matches/{match}/cancel", ladder.ScopeSubmit, plain(answer(a.postMatchCancel))},
		{"GET /api/v1/matches/{match}/games", "", answer(a.getGames)},
		{"GET /api/v1/matches/{match}/replays", "", plain(a.getMatchReplays)},
		{"GET /api/v1/games/{game}", "", plain(answer(a.getGame))},
		{"GET /api/v1/games/{game}/replay", "", plain(a.getReplay)},
		{"GET /api/v1/games/{game}/logs/{seat}", ladder.ScopeRead, plain(a.getGameLog)},
		{"GET /api/v1/replays", "", a.getReplays},
		{"GET /api/v1/machines", "", a.getMachines(false)},

		{"POST /api/v1/submissions", ladder.ScopeSubmit, a.postSubmission},
		{"GET /api/v1/submissions/{submission}", ladder.ScopeRead, a.getSubmission},
		{"DELETE /api/v1/submissions/{submission}", ladder.ScopeSubmit, plain(answer(a.deleteSubmission))},

		{"POST /api/v1/people", "", plain(a.postPerson)},
		{"GET /api/v1/me", ladder.ScopeRead, plain(answer(a.getMe))},
		{"GET /api/v1/me/bots", ladder.ScopeRead, answer(a.getMyBots)},
		{"GET /api/v1/me/messages", ladder.ScopeRead, answer(a.getMessages)},
		{"PUT /api/v1/me/messages/seen", ladder.ScopeRead, plain(a.putSeen)},
		{"DELETE /api/v1/me/token", ladder.ScopeRead, plain(a.deleteMyToken)},
		{"GET /api/v1/tokens", ladder.ScopeAll, plain(answer(a.getTokens))},
		{"POST /api/v1/tokens", ladder.ScopeAll, plain(take(http.StatusCreated, a.postToken))},
		{"DELETE /api/v1/tokens/{token}", ladder.ScopeAll, plain(revoke("token", a.Service.RevokeToken))},

		{"GET /api/v1/admin/invites", ladder.ScopeAll, list("invite", a.Service.Invites, InviteDoc)},
		{"POST /api/v1/admin/invites", ladder.ScopeAll, plain(take(http.StatusCreated, a.postInvite))},
		{"DELETE /api/v1/admin/invites/{invite}", ladder.ScopeAll, plain(revoke("invite", a.Service.RevokeInvite))},
		{"GET /api/v1/admin/people", ladder.ScopeAll, list("person", a.Service.People, PersonDoc)},
		{"GET /api/v1/admin/machines", ladder.ScopeAll, a.getMachines(true)},
		{"PUT /api/v1/admin/people/{person}/block", ladder.ScopeAll, plain(a.setBlocked(true))},
		{"DELETE /api/v1/admin/people/{person}/block", ladder.ScopeAll, plain(a.setBlocked(false))},
	}
	if a.Metrics != nil {
		all = append(all, route{"GET /metrics", "", func(w http.ResponseWriter, r *http.Request) error {
			a.Metrics.ServeHTTP(w, r)
			return nil
		}})
	}
	return all
}

// New returns the API of a competition.
func New(o Options) *API {
	if o.Online == nil {
		o.Online = func(int64) bool { return false }
	}
	if o.Machines == nil {
		o.Machines = func() ([]ladder.Machine, error) { return nil, nil }
	}
	return &API{o, o.Middleware.Service, o.Middleware.Service.Store}
}

func (a *API) handler(routes []route) http.Handler {
	mux := http.NewServeMux()
	for _, rt := range routes {
		mux.Handle(rt.pattern, a.enter(rt))
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
		known, methods := middleware.Known(mux, r)
		if known {
			compressed.ServeHTTP(w, r)
			return
		}
		err := a.Middleware.Bearer(w, r)
		if err == nil {
			err = unknown(w, r, methods)
		}
		if err != nil {
			a.Middleware.Fail(w, r, err)
		}
	}))
}

// enter returns the handler of a route, with its authorization.
func (a *API) enter(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		middleware.Of(r).Route = rt.pattern
		if rt.scope == "" && strings.HasPrefix(rt.pattern, http.MethodGet) {
			share(w.Header())
		}
		w.Header().Set("Cache-Control", "no-store")
		if rt.scope == "" {
			w.Header().Set("Cache-Control", "no-cache")
		}
		w = middleware.Of(r).Record(w)
		err := a.Middleware.Bearer(w, r)
		if err == nil && rt.scope != "" {
			err = middleware.Of(r).Must(rt.scope, rt.pattern)
		}
		if err == nil {
			err = rt.serve(w, r)
		}
		if err != nil {
			a.Middleware.Fail(w, r, err)
		}
	})
}

func (a *API) getHealth(w http.ResponseWriter, r *http.Request) error {
	var err error
	if a.Health != nil {
		err = a.Health(r.Context())
	}
	if err == nil {
		_, err = a.Store.Matches.Waiting(r.Context(), 1)
	}
	if err != nil {
		if ladder.CodeOf(err) != "" {
			return err
		}
		return &ladder.Error{Code: ladder.Unavailable, Text: phrase.New("the server cannot work now"), Hint: phrase.New("see its log"), Err: err}
	}
	return respond(w, http.StatusOK, map[string]string{"status": "ok"})
}

// Pages returns one handler of the API, of /healthz and /metrics, and of pages, which have all other paths and pass
// the same middleware.
func (a *API) Pages(pages http.Handler) http.Handler {
	own, others := a.handler(a.routes()), a.Middleware.Wrap(pages)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path := r.URL.Path; strings.HasPrefix(path, "/api/") || path == "/healthz" || path == "/metrics" {
			own.ServeHTTP(w, r)
		} else {
			others.ServeHTTP(w, r)
		}
	})
}

// share allows pages of other sites to read public answers. The API uses no cookies, so a page
// gets no more than its author could.
func share(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "ETag, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
}

// unknown answers requests without a route: 404, 405, or a browser's preflight request.
func unknown(w http.ResponseWriter, r *http.Request, allow string) error {
	if allow == "" {
		return ladder.Errorf(ladder.NotFound, "GET /api/v1/openapi.json lists all addresses", "%q does not exist", ladder.Clip(r.URL.Path))
	}
	w.Header().Set("Allow", allow)
	if r.Method == http.MethodOptions {
		if strings.Contains(allow, http.MethodGet) {
			share(w.Header())
			w.Header().Set("Access-Control-Allow-Methods", "GET, HEAD")
			w.Header().Set("Access-Control-Max-Age", "86400")
		}
		return done(w, nil)
	}
	return middleware.NotAllowed(r, allow)
}

// Document is the OpenAPI 3.1 document of the API, as JSON. It is made of openapi.yaml, and is the
// contract: the tests check every route and every response against it.
//
//go:embed openapi.json
var Document []byte

func (a *API) getDocument(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(Document)
	return err
}
