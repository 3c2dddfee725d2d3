// Package middleware handles what all requests to the API and to pages have in common: it identifies the
// client, limits the rate of requests and the number of long ones, sets deadlines, recovers from panics, and
// writes the log and the metrics. It also reads the parameters of requests and writes error documents (RFC
// 9457).
package middleware

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/web/admission"
)

// Options are what a Middleware needs from the rest of the server. Service is required.
type Options struct {
	Service    *service.Service
	Registerer prometheus.Registerer // registers the metrics; may be nil
	Proxies    []netip.Prefix        // proxies whose X-Forwarded-For is trusted
	Pace       Pace                  // slowest permitted uploads and downloads; the zero value means DefaultPace
	Log        *slog.Logger          // if nil, nothing is logged
}

// Middleware holds the limits, the log and the metrics that all requests share.
type Middleware struct {
	Options
	Joining *admission.Rate[netip.Addr] // limits registrations, so that nobody can guess the codes of invites or register many people
	Assets  *admission.Rate[netip.Addr] // limits requests for style sheets, scripts and other files of pages
	Uploads *admission.Places           // limits simultaneous uploads
	Streams *admission.Places           // limits simultaneous downloads
	Waits   *admission.Places           // limits requests that wait for a change

	metrics   *metrics
	anonymous *admission.Rate[netip.Addr]
	byPerson  *admission.Rate[int64]
	pages     *admission.Rate[admission.Visitor] // cheap pages

	proxyReport sync.Once // limits the log of reportProxy
}

// UploadLimits, StreamLimits and waitLimits limit how many long requests one person, all anonymous clients at
// one address, and all clients together may have at the same time.
var (
	UploadLimits = admission.Limits{Person: 2, Address: 4, Total: 32, Subject: phrase.New("uploads"), Hint: retrySoon, Retry: 5 * time.Second}
	StreamLimits = admission.Limits{Person: 4, Address: 4, Total: 64, Subject: phrase.New("downloads"), Hint: retrySoon, Retry: 5 * time.Second}
	waitLimits   = admission.Limits{Person: 32, Address: 64, Total: 1024, Subject: phrase.New("waiting requests"), Hint: retrySoon, Retry: 5 * time.Second}
)

var retrySoon = phrase.New("try again in some seconds")

const (
	registrationsPerMinute = 60   // attempts of one address to join; a class may be behind one address
	assetsPerMinute        = 3000 // for one address; a first visit loads about thirty files, a later one none
	pagesForOne            = 10   // as many requests for cheap pages are allowed for each other request
)

// New returns a Middleware with the options o.
func New(o Options) *Middleware {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Pace = cmp.Or(o.Pace, DefaultPace)
	requests, now := o.Service.Config.Limits.Requests, o.Service.Now
	return &Middleware{
		Options:   o,
		Joining:   admission.NewRate[netip.Addr]("registrations", phrase.New("registrations a minute for one address"), registrationsPerMinute, now),
		Assets:    admission.NewRate[netip.Addr]("assets", phrase.New("files of pages a minute for one address"), assetsPerMinute, now),
		Uploads:   admission.NewPlaces(UploadLimits),
		Streams:   admission.NewPlaces(StreamLimits),
		Waits:     admission.NewPlaces(waitLimits),
		metrics:   newMetrics(o.Registerer),
		anonymous: admission.NewRate[netip.Addr]("address", phrase.New("requests a minute for one address"), requests/2, now),
		byPerson:  admission.NewRate[int64]("person", phrase.New("requests a minute for one person"), requests, now),
		pages:     admission.NewRate[admission.Visitor]("pages", phrase.New("pages a minute"), pagesForOne*requests, now),
	}
}

// Request is what the middleware knows about an HTTP request.
type Request struct {
	service.Actor           // who sends the request; before Identify, only the address is known
	ID            string    // identifies the request in the log
	Secure        bool      // the client uses https, perhaps to a trusted proxy
	Route         string    // the pattern of the route; "" if no route matches
	Cheap         bool      // the request is for a page that costs little; set it before Identify
	w             *recorder // writes the answer, after compression
	inner         *recorder // is written by the route, before compression; nil before the route starts
}

type requestKey struct{}

// RequestOf returns the Request of r, which must have passed Middleware.Wrap; otherwise RequestOf panics.
func RequestOf(r *http.Request) *Request { return r.Context().Value(requestKey{}).(*Request) }

// RecordAnswer returns a writer that writes to w and notes when the answer begins. HasAnswerBegun then returns true,
// even while w, which compresses, still holds the answer in a buffer.
func (in *Request) RecordAnswer(w http.ResponseWriter) http.ResponseWriter {
	in.inner = &recorder{ResponseWriter: w}
	return in.inner
}

// Visitor returns the person who sends the request, and the client's address. Limits apply to the person or, if
// nobody is signed in, to the address.
func (in *Request) Visitor() admission.Visitor {
	return admission.Visitor{Person: in.Person.ID, Address: in.Address}
}

// HasAnswerBegun reports whether the route has begun to write the answer, even if it is still in a buffer.
func (in *Request) HasAnswerBegun() bool {
	return in.w.status != 0 || in.inner != nil && in.inner.status != 0
}

// recorder records the status and the size of an answer.
type recorder struct {
	http.ResponseWriter
	status int // 0 before the answer begins
	bytes  int64
	pace   *pace // fails writes if the client receives too slowly; nil means no limit
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	write := w.ResponseWriter.Write
	if w.pace != nil {
		write = func(p []byte) (int, error) { return w.pace.write(w.ResponseWriter, p) }
	}
	n, err := write(p)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController find the deadlines and the flusher.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack takes over the connection for a WebSocket, and removes its deadlines.
func (w *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.status = http.StatusSwitchingProtocols
		err = conn.SetDeadline(time.Time{})
	}
	return conn, rw, err
}

// Time limits of a request. A handler that needs longer sets its own deadline.
const (
	bodyTime   = 30 * time.Second // to receive a small body
	answerTime = 90 * time.Second // for the whole request; longer than the longest wait
)

// Wrap returns a handler that passes all requests, also those without a route, through the middleware and then to
// next. It attaches a Request, sets headers and deadlines, recovers from panics, and writes the log and the metrics.
// It neither identifies the client nor counts the request; see Identify.
func (m *Middleware) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		in := &Request{ID: rand.Text(), Actor: service.Actor{Address: m.addressOf(r)}, Secure: m.isSecure(r), w: &recorder{ResponseWriter: w}}
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, in))
		securityHeaders(w.Header())
		if r.TLS != nil { // a proxy with TLS decides for itself
			w.Header().Set("Strict-Transport-Security", "max-age=2592000")
		}
		w.Header().Set("X-Request-Id", in.ID)
		rc := http.NewResponseController(w)
		rc.SetWriteDeadline(began.Add(answerTime)) // not every writer has deadlines
		if r.Body != http.NoBody {
			rc.SetReadDeadline(began.Add(bodyTime))
		}
		m.metrics.flight.Inc()
		defer func() {
			failure := recover()
			if failure != nil && failure != http.ErrAbortHandler {
				m.Log.LogAttrs(r.Context(), slog.LevelError, "panic", slog.String("request", in.ID),
					slog.String("panic", fmt.Sprint(failure)), slog.String("stack", string(debug.Stack())))
				failure = nil
				if in.HasAnswerBegun() {
					failure = http.ErrAbortHandler
				} else {
					m.Fail(in.w, r, fmt.Errorf("panic"))
				}
			}
			m.metrics.flight.Dec()
			m.logRequest(r, in, time.Since(began))
			if failure != nil {
				panic(failure)
			}
		}()
		next.ServeHTTP(in.w, r)
		in.w.status = cmp.Or(in.w.status, http.StatusOK) // as the server answers where nothing was written
	})
}

// logRequest writes a finished request to the metrics and the log. It omits the query and the headers, which
// may contain secrets.
func (m *Middleware) logRequest(r *http.Request, in *Request, took time.Duration) {
	m.metrics.countRequest(in.Route, in.w.status, took)
	m.Log.LogAttrs(r.Context(), slog.LevelDebug, "request",
		slog.String("request", in.ID), slog.String("method", ladder.Clip(r.Method)), slog.String("path", ladder.Clip(r.URL.Path)),
		slog.Int("status", in.w.status), slog.Int64("bytes", in.w.bytes), slog.Float64("ms", float64(took.Microseconds())/1000),
		slog.String("address", in.Address.String()), slog.Int64("person", in.Person.ID), slog.Int64("token", in.Token.ID))
}

func securityHeaders(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// NewServer returns a server for h that disconnects clients which send their headers too slowly. The
// deadlines of bodies and answers are set by Wrap. When the server shuts down, requests that wait for a
// change are answered at once. log gets the errors of connections.
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

// closing returns a channel that is closed when the server that received a request shuts down. ctx is the context of
// the request. If the server was not made by NewServer, closing returns nil.
func closing(ctx context.Context) <-chan struct{} {
	c, _ := ctx.Value(closingKey{}).(<-chan struct{})
	return c
}
