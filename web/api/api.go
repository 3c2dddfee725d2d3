// Package api is the HTTP API of a competition: JSON under /api/v1, described by
// openapi.yaml. One file a resource; what all requests go through is in
// middleware.go, auth.go and limit.go; docs/api.md is for those who use it.
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
	"github.com/timba-arena/timba/ladder/store"
)

// Options are what the API works with. Store, Dir and Config are needed.
type Options struct {
	Store  *store.Store
	Dir    string // the data folder: uploads go there
	Config *ladder.Config
	// Wake is called when there is something new to do: a submission or a match.
	Wake func()
	// Health says why the server cannot work, nil while it can. The store is asked
	// as well.
	Health func(context.Context) error
	// Metrics serves /metrics; nil: there is none. The API's own figures go to
	// Registerer.
	Metrics    http.Handler
	Registerer prometheus.Registerer
	// Proxies are the addresses of proxies whose X-Forwarded-For is believed.
	Proxies []netip.Prefix
	// Registrations is how many a minute one address may try; 0: 10.
	Registrations int

	Log *slog.Logger
	Now func() time.Time
}

type api struct {
	Options
	metrics   *metrics
	anonymous *buckets[netip.Addr]
	byToken   *buckets[int64]
	joining   *buckets[netip.Addr]
	uploads   *slots[int64] // by person
	streams   *slots[netip.Addr]
	waits     *slots[int64] // by person
}

// How many of what holds a connection or the disk for long may go on at once.
const (
	maxUploads = 4
	maxStreams = 8
	maxWaits   = 256
)

// route is an address of the API and what it demands.
type route struct {
	pattern string // of net/http, the method first
	scope   ladder.Scope
	admin   bool
	serve   func(http.ResponseWriter, *http.Request) error
}

// routes is all there is. Where the owner of a thing alone may see it, the
// handler asks info.mustOwn.
func (a *api) routes() []route {
	all := []route{
		{"GET /healthz", "", false, a.health},
		{"GET /api/v1/openapi.json", "", false, a.document},

		{"GET /api/v1/ladders", "", false, a.ladders},
		{"GET /api/v1/ladders/{ladder}", "", false, a.ladder},
		{"GET /api/v1/ladders/{ladder}/standings", "", false, a.standings},
		{"GET /api/v1/ladders/{ladder}/matches", "", false, a.ladderMatches},

		{"GET /api/v1/bots", "", false, a.bots},
		{"GET /api/v1/bots/{bot}", "", false, a.bot},
		{"GET /api/v1/bots/{bot}/versions", "", false, a.versions},
		{"GET /api/v1/bots/{bot}/versions/{n}", "", false, a.version},
		{"GET /api/v1/bots/{bot}/versions/{n}/logs", ladder.ScopeRead, false, a.stages},
		{"GET /api/v1/bots/{bot}/versions/{n}/logs/{stage}", ladder.ScopeRead, false, a.stageLog},
		{"GET /api/v1/bots/{bot}/matches", "", false, a.botMatches},
		{"GET /api/v1/bots/{bot}/history", "", false, a.history},

		{"GET /api/v1/matches", "", false, a.matches},
		{"POST /api/v1/matches", ladder.ScopeSubmit, false, a.askMatch},
		{"GET /api/v1/matches/{match}", "", false, a.match},
		{"GET /api/v1/matches/{match}/games", "", false, a.games},
		{"GET /api/v1/matches/{match}/replays", "", false, a.matchReplays},
		{"GET /api/v1/games/{game}", "", false, a.game},
		{"GET /api/v1/games/{game}/replay", "", false, a.replay},
		{"GET /api/v1/games/{game}/logs/{seat}", ladder.ScopeRead, false, a.gameLog},
		{"GET /api/v1/replays", "", false, a.replays},

		{"POST /api/v1/submissions", ladder.ScopeSubmit, false, a.submit},
		{"GET /api/v1/submissions/{submission}", ladder.ScopeRead, false, a.submission},

		{"POST /api/v1/people", "", false, a.register},
		{"GET /api/v1/me", ladder.ScopeRead, false, a.me},
		{"GET /api/v1/me/bots", ladder.ScopeRead, false, a.myBots},
		{"GET /api/v1/me/messages", ladder.ScopeRead, false, a.messages},
		{"DELETE /api/v1/me/token", ladder.ScopeRead, false, a.forgetToken},
		{"GET /api/v1/tokens", ladder.ScopeAll, false, a.tokens},
		{"POST /api/v1/tokens", ladder.ScopeAll, false, a.addToken},
		{"DELETE /api/v1/tokens/{token}", ladder.ScopeAll, false, a.revokeToken},

		{"GET /api/v1/admin/invites", ladder.ScopeAll, true, a.invites},
		{"POST /api/v1/admin/invites", ladder.ScopeAll, true, a.addInvite},
		{"DELETE /api/v1/admin/invites/{invite}", ladder.ScopeAll, true, a.revokeInvite},
		{"GET /api/v1/admin/people", ladder.ScopeAll, true, a.people},
		{"PUT /api/v1/admin/people/{person}/block", ladder.ScopeAll, true, a.block},
		{"DELETE /api/v1/admin/people/{person}/block", ladder.ScopeAll, true, a.unblock},
	}
	if a.Metrics != nil {
		all = append(all, route{"GET /metrics", "", false, a.figures})
	}
	return all
}

// New is the handler of the API, of /healthz and of /metrics.
func New(o Options) http.Handler {
	a := newAPI(o)
	return a.handler(a.routes())
}

func newAPI(o Options) *api {
	if o.Wake == nil {
		o.Wake = func() {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &api{
		Options:   o,
		metrics:   newMetrics(o.Registerer),
		anonymous: newBuckets[netip.Addr]("address", "requests a minute for one address", o.Config.Limits.Anonymous, o.Now),
		byToken:   newBuckets[int64]("token", "requests a minute for one token", o.Config.Limits.Requests, o.Now),
		joining:   newBuckets[netip.Addr]("registrations", "registrations a minute for one address", cmp.Or(o.Registrations, 10), o.Now),
		uploads:   newSlots[int64](maxUploads),
		streams:   newSlots[netip.Addr](maxStreams),
		waits:     newSlots[int64](maxWaits),
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
		panic("api: " + err.Error()) // only for options that make no sense
	}
	compressed := compress(mux)
	return a.wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := mux.Handler(r)
		// ServeMux would redirect to the clean path, by a page in HTML.
		if pattern == "" || path.Clean(r.URL.Path) != r.URL.Path {
			if err := a.unknown(w, r, mux, pattern); err != nil {
				a.fail(w, r, err)
			}
			return
		}
		infoOf(r).route = pattern
		compressed.ServeHTTP(w, r)
	}))
}

// enter serves a route to those whom it lets in.
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

// NewServer serves a handler with times that end slow clients. Bodies and answers
// have times of their own; see middleware.go. Requests that only wait are answered
// when it is shut down.
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

// closing is closed when the server shuts down; nil where it never does.
func closing(ctx context.Context) <-chan struct{} {
	c, _ := ctx.Value(closingKey{}).(<-chan struct{})
	return c
}

func (a *api) health(w http.ResponseWriter, r *http.Request) error {
	if err := newQuery(r).done(); err != nil {
		return err
	}
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
		return &ladder.Error{Code: ladder.Unavailable, Text: "the server cannot work", Hint: "its log has the cause", Err: err}
	}
	return respond(w, http.StatusOK, map[string]string{"status": "ok"})
}

// figures serves what Prometheus reads.
func (a *api) figures(w http.ResponseWriter, r *http.Request) error {
	a.Metrics.ServeHTTP(w, r)
	return nil
}
