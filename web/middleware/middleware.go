// Package middleware is what all requests pass, to the API and to pages: who asks, what they may ask for at
// the same time and in a minute, deadlines, panics, the log and the metrics. It also reads the parameters of
// requests and writes the documents of errors (RFC 9457).
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
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/web/admission"
)

// Options are the parts of a Middleware. Service is required.
type Options struct {
	Service    *service.Service
	Registerer prometheus.Registerer // of the metrics
	Proxies    []netip.Prefix        // whose X-Forwarded-For is trusted
	Pace       Pace                  // of uploads and downloads; zero: DefaultPace
	Log        *slog.Logger          // nil: none
}

// Middleware is what requests pass.
type Middleware struct {
	Options
	Joining *admission.Rate[netip.Addr] // tries to join, which stops guesses of codes and mass registration
	Assets  *admission.Rate[netip.Addr] // files of pages
	Uploads *admission.Places
	Streams *admission.Places // downloads
	Waits   *admission.Places // requests that wait for something

	metrics   *metrics
	anonymous *admission.Rate[netip.Addr]
	byPerson  *admission.Rate[int64]
	pages     *admission.Rate[admission.Visitor] // that cost little, of a person or of an address
}

// The largest numbers of long requests at the same time.
var (
	UploadLimits = admission.Limits{Person: 2, Address: 4, Total: 32, Subject: phrase.New("uploads"), Hint: retrySoon, Retry: 5 * time.Second}
	StreamLimits = admission.Limits{Person: 4, Address: 4, Total: 64, Subject: phrase.New("downloads"), Hint: retrySoon, Retry: 5 * time.Second}
	waitLimits   = admission.Limits{Person: 32, Address: 64, Total: 1024, Subject: phrase.New("waiting requests"), Hint: retrySoon, Retry: 5 * time.Second}
)

var retrySoon = phrase.New("try again in some seconds")

const (
	registrationsPerMinute = 60   // tries of one address to join: a class may be behind one
	assetsPerMinute        = 3000 // for one address. A first visit takes some thirty files, later ones none
	pagesForOne            = 10   // pages that cost little, for each other request
)

// New returns a Middleware.
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

// Request is what is known of a request.
type Request struct {
	service.Actor           // who asks; only the address is known before Identify
	ID            string    // in the log
	Secure        bool      // it came by https, perhaps to a trusted proxy
	Route         string    // the pattern, "" for none
	Cheap         bool      // a page that costs little is asked for, which is to be set before Identify
	w             *recorder // what goes out, compressed
	inner         *recorder // what the route writes; nil before there is one
}

type requestKey struct{}

// RequestOf returns what is known of a request that has passed Wrap.
func RequestOf(r *http.Request) *Request { return r.Context().Value(requestKey{}).(*Request) }

// RecordAnswer returns a writer of an answer that may not have gone out, but has begun.
func (in *Request) RecordAnswer(w http.ResponseWriter) http.ResponseWriter {
	in.inner = &recorder{ResponseWriter: w}
	return in.inner
}

// Visitor returns who takes a place with the request, or is counted with it.
func (in *Request) Visitor() admission.Visitor {
	return admission.Visitor{Person: in.Person.ID, Address: in.Address}
}

// HasAnswerBegun reports whether an answer has begun, perhaps only in the compressor's buffer.
func (in *Request) HasAnswerBegun() bool {
	return in.w.status != 0 || in.inner != nil && in.inner.status != 0
}

// recorder records the status and the size of an answer.
type recorder struct {
	http.ResponseWriter
	status int // 0: nothing yet
	bytes  int64
	pace   *pace // at which the client has to take the answer; nil: none
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

// Unwrap is for http.ResponseController, which finds the deadlines and the flusher with it.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack is for WebSockets. The connection has no deadlines any more.
func (w *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.status = http.StatusSwitchingProtocols
		err = conn.SetDeadline(time.Time{})
	}
	return conn, rw, err
}

// The time limits of a request. A handler that needs longer sets its own deadline.
const (
	bodyTime   = 30 * time.Second // to send a small body
	answerTime = 90 * time.Second // for everything; longer than the longest wait
)

// Wrap adds the middleware to a handler, also for requests without a route.
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

// logRequest logs a request, without its query and its headers, which may contain secrets.
func (m *Middleware) logRequest(r *http.Request, in *Request, took time.Duration) {
	m.metrics.countRequest(in.Route, in.w.status, took)
	m.Log.LogAttrs(r.Context(), slog.LevelDebug, "request",
		slog.String("request", in.ID), slog.String("method", ladder.Clip(r.Method)), slog.String("path", ladder.Clip(r.URL.Path)),
		slog.Int("status", in.w.status), slog.Int64("bytes", in.w.bytes), slog.Float64("ms", float64(took.Microseconds())/1000),
		slog.String("address", in.Address.String()), slog.Int64("person", in.Person.ID), slog.Int64("token", in.Token.ID))
}

// securityHeaders sets the strictest policies; a page that needs more sets its own policy.
func securityHeaders(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// NewServer returns a server of a handler, with timeouts against slow clients. Bodies and
// answers have their own timeouts; see Wrap. On shutdown, requests that only wait are
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
