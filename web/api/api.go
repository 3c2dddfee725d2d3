// Package api is the HTTP API of a competition: JSON under /api/v1, described by
// openapi.yaml. Each resource has a file; what all requests pass is in
// middleware.go and auth.go. docs/api.md is for users of the API.
package api

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/web/admission"
)

// Options are the parts of the API. Store and Config are required.
type Options struct {
	Store  *store.Store
	Config *config.Config
	// Service is what may be asked of the competition; nil: one of Store and Config alone.
	Service *service.Service
	// Online reports whether a remote version is connected; nil: none is.
	Online func(version int64) bool
	// Machines returns the machines that play matches, and those with credentials that are not
	// connected; nil: there are none.
	Machines func() ([]ladder.Machine, error)
	// Health returns why the server cannot work, nil while it can. The API checks the
	// store itself.
	Health func(context.Context) error
	// Metrics serves /metrics, unless it is nil. The API's own metrics are registered with
	// Registerer.
	Metrics    http.Handler
	Registerer prometheus.Registerer
	// Proxies are the addresses of proxies whose X-Forwarded-For is trusted.
	Proxies []netip.Prefix

	Pace Pace // of uploads and downloads; zero: DefaultPace
	Log  *slog.Logger
	Now  func() time.Time
}

// API is the API of a competition. It serves its own paths; Pages adds others to them.
type API struct {
	*api
	handler http.Handler
}

// ServeHTTP serves the API, /healthz and /metrics.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }

type api struct {
	Options
	metrics   *metrics
	anonymous *admission.Rate[netip.Addr]
	byPerson  *admission.Rate[int64]
	joining   *admission.Rate[netip.Addr]
	assets    *admission.Rate[netip.Addr]
	uploads   *admission.Places
	streams   *admission.Places
	waits     *admission.Places
}

// The largest numbers of long requests at the same time.
var (
	uploadLimits = admission.Limits{Person: 2, Address: 4, Total: 32, What: "uploads", Hint: soon, Retry: 5 * time.Second}
	streamLimits = admission.Limits{Person: 4, Address: 4, Total: 64, What: "downloads", Hint: soon, Retry: 5 * time.Second}
	waitLimits   = admission.Limits{Person: 32, Address: 64, Total: 1024, What: "waiting requests", Hint: soon, Retry: 5 * time.Second}
)

const soon = "try again in some seconds"

// registrationsPerMinute is how often one address may try to join.
const registrationsPerMinute = 10

// route is a route of the API with the rights that it requires.
type route struct {
	pattern string // of net/http, the method first
	scope   ladder.Scope
	admin   bool
	serve   func(http.ResponseWriter, *http.Request) error
}

// plain returns a handler that takes no parameters in the query.
func plain(serve func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := NewQuery(r).Done(); err != nil {
			return err
		}
		return serve(w, r)
	}
}

// routes returns all routes. Handlers of routes for owners only check info.mustOwn.
func (a *api) routes() []route {
	all := []route{
		{"GET /healthz", "", false, plain(a.health)},
		{"GET /api/v1/openapi.json", "", false, plain(a.document)},

		{"GET /api/v1/ladders", "", false, plain(a.ladders)},
		{"GET /api/v1/ladders/{ladder}", "", false, plain(a.ladder)},
		{"GET /api/v1/ladders/{ladder}/standings", "", false, a.standings},
		{"GET /api/v1/ladders/{ladder}/matches", "", false, a.ladderMatches},

		{"GET /api/v1/bots", "", false, a.bots},
		{"GET /api/v1/bots/{bot}", "", false, plain(a.bot)},
		{"GET /api/v1/bots/{bot}/versions", "", false, a.versions},
		{"GET /api/v1/bots/{bot}/versions/{version}", "", false, plain(a.version)},
		{"GET /api/v1/bots/{bot}/versions/{version}/upload", ladder.ScopeRead, false, plain(a.upload)},
		{"GET /api/v1/bots/{bot}/versions/{version}/logs", ladder.ScopeRead, false, plain(a.stages)},
		{"GET /api/v1/bots/{bot}/versions/{version}/logs/{stage}", ladder.ScopeRead, false, plain(a.stageLog)},
		{"GET /api/v1/bots/{bot}/matches", "", false, a.botMatches},
		{"GET /api/v1/bots/{bot}/history", "", false, a.history},
		{"PUT /api/v1/bots/{bot}/withdrawal", ladder.ScopeSubmit, false, a.withdraw},
		{"DELETE /api/v1/bots/{bot}/withdrawal", ladder.ScopeSubmit, false, a.restore},
		{"PUT /api/v1/bots/{bot}/live", ladder.ScopeSubmit, false, a.use},

		{"GET /api/v1/matches", "", false, a.matches},
		{"POST /api/v1/matches", ladder.ScopeSubmit, false, plain(a.askMatch)},
		{"GET /api/v1/matches/{match}", "", false, plain(a.match)},
		{"POST /api/v1/matches/{match}/cancel", ladder.ScopeSubmit, false, plain(a.cancelMatch)},
		{"GET /api/v1/matches/{match}/games", "", false, a.games},
		{"GET /api/v1/matches/{match}/replays", "", false, plain(a.matchReplays)},
		{"GET /api/v1/games/{game}", "", false, plain(a.game)},
		{"GET /api/v1/games/{game}/replay", "", false, plain(a.replay)},
		{"GET /api/v1/games/{game}/logs/{seat}", ladder.ScopeRead, false, plain(a.gameLog)},
		{"GET /api/v1/replays", "", false, a.replays},
		{"GET /api/v1/machines", "", false, a.machines},

		{"POST /api/v1/submissions", ladder.ScopeSubmit, false, a.submit},
		{"GET /api/v1/submissions/{submission}", ladder.ScopeRead, false, a.submission},
		{"DELETE /api/v1/submissions/{submission}", ladder.ScopeSubmit, false, plain(a.cancel)},

		{"POST /api/v1/people", "", false, plain(a.register)},
		{"GET /api/v1/me", ladder.ScopeRead, false, plain(a.me)},
		{"GET /api/v1/me/bots", ladder.ScopeRead, false, a.myBots},
		{"GET /api/v1/me/messages", ladder.ScopeRead, false, a.messages},
		{"DELETE /api/v1/me/token", ladder.ScopeRead, false, plain(a.forgetToken)},
		{"GET /api/v1/tokens", ladder.ScopeAll, false, plain(a.tokens)},
		{"POST /api/v1/tokens", ladder.ScopeAll, false, plain(a.addToken)},
		{"DELETE /api/v1/tokens/{token}", ladder.ScopeAll, false, plain(a.revokeToken)},

		{"GET /api/v1/admin/invites", ladder.ScopeAll, true, a.invites},
		{"POST /api/v1/admin/invites", ladder.ScopeAll, true, plain(a.addInvite)},
		{"DELETE /api/v1/admin/invites/{invite}", ladder.ScopeAll, true, plain(a.revokeInvite)},
		{"GET /api/v1/admin/people", ladder.ScopeAll, true, a.people},
		{"GET /api/v1/admin/machines", ladder.ScopeAll, true, a.adminMachines},
		{"PUT /api/v1/admin/people/{person}/block", ladder.ScopeAll, true, a.block},
		{"DELETE /api/v1/admin/people/{person}/block", ladder.ScopeAll, true, a.unblock},
	}
	if a.Metrics != nil {
		all = append(all, route{"GET /metrics", "", false, a.figures})
	}
	return all
}

// New returns the handler of the API, of /healthz and of /metrics.
func New(o Options) *API {
	a := newAPI(o)
	return &API{a, a.handler(a.routes())}
}

func newAPI(o Options) *api {
	if o.Service == nil {
		o.Service = service.New(service.Options{Store: o.Store, Config: o.Config, Now: o.Now})
	}
	if o.Online == nil {
		o.Online = func(int64) bool { return false }
	}
	if o.Machines == nil {
		o.Machines = func() ([]ladder.Machine, error) { return nil, nil }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Pace = cmp.Or(o.Pace, DefaultPace)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &api{
		Options:   o,
		metrics:   newMetrics(o.Registerer),
		anonymous: admission.NewRate[netip.Addr]("address", "requests a minute for one address", o.Config.Limits.Requests/2, o.Now),
		byPerson:  admission.NewRate[int64]("person", "requests a minute for one person", o.Config.Limits.Requests, o.Now),
		joining:   admission.NewRate[netip.Addr]("registrations", "registrations a minute for one address", registrationsPerMinute, o.Now),
		assets:    admission.NewRate[netip.Addr]("assets", "files of pages a minute for one address", assetsPerMinute, o.Now),
		uploads:   admission.NewPlaces(uploadLimits),
		streams:   admission.NewPlaces(streamLimits),
		waits:     admission.NewPlaces(waitLimits),
	}
}

func (a *api) handler(routes []route) http.Handler {
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
	return a.wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := mux.Handler(r)
		// ServeMux would redirect to the clean path, with an HTML page.
		if pattern == "" || path.Clean(r.URL.Path) != r.URL.Path {
			err := a.identify(w, r)
			if err == nil {
				err = a.unknown(w, r, mux, pattern)
			}
			if err != nil {
				a.fail(w, r, err)
			}
			return
		}
		infoOf(r).route = pattern
		compressed.ServeHTTP(w, r)
	}))
}

// enter returns the handler of a route, with its authorization.
func (a *api) enter(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rt.scope == "" && strings.HasPrefix(rt.pattern, http.MethodGet) {
			share(w.Header())
		}
		w.Header().Set("Cache-Control", "no-store")
		if rt.scope == "" {
			w.Header().Set("Cache-Control", "no-cache")
		}
		in := infoOf(r)
		in.inner = &recorder{ResponseWriter: w}
		err := a.admit(in.inner, r, rt)
		if err == nil {
			err = rt.serve(in.inner, r)
		}
		if err != nil {
			a.fail(in.inner, r, err)
		}
	})
}

// NewServer returns a server of a handler, with timeouts against slow clients. Bodies and
// answers have their own timeouts; see middleware.go. On shutdown, requests that only wait are
// answered at once.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	closing, shut := context.WithCancel(context.Background())
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context {
			return context.WithValue(context.Background(), closingKey{}, closing.Done())
		},
	}
	s.RegisterOnShutdown(shut)
	return s
}

type closingKey struct{}

// closing returns a channel that is closed when the server shuts down; nil without a server.
func closing(ctx context.Context) <-chan struct{} {
	c, _ := ctx.Value(closingKey{}).(<-chan struct{})
	return c
}

func (a *api) health(w http.ResponseWriter, r *http.Request) error {
	var err error
	if a.Health != nil {
		err = a.Health(r.Context())
	}
	if err == nil {
		_, err = a.Store.Waiting(r.Context(), 1)
	}
	if err != nil {
		if ladder.CodeOf(err) != "" {
			return err
		}
		return &ladder.Error{Code: ladder.Unavailable, Text: "the server cannot work now", Hint: "see its log", Err: err}
	}
	return respond(w, http.StatusOK, map[string]string{"status": "ok"})
}

// figures serves the metrics for Prometheus.
func (a *api) figures(w http.ResponseWriter, r *http.Request) error {
	a.Metrics.ServeHTTP(w, r)
	return nil
}
