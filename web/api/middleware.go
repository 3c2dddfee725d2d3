package api

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/web/admission"
	"github.com/timba-arena/timba/web/problem"
)

// info is what the server knows about a request. Middleware adds it to every request.
type info struct {
	service.Actor
	id    string
	route string    // the pattern, "" for none
	w     *recorder // what goes out, compressed
	inner *recorder // what the route writes; nil before there is one
}

type infoKey struct{}

func infoOf(r *http.Request) *info { return r.Context().Value(infoKey{}).(*info) }

// by returns who takes a place with the request.
func (in *info) by() admission.By { return admission.By{Person: in.Person.ID, Address: in.Address} }

// begun reports whether an answer has begun, perhaps only in the compressor's buffer.
func (in *info) begun() bool {
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

// wrap adds the middleware of all requests, also of those without a route.
func (a *api) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		in := &info{id: rand.Text(), Actor: service.Actor{Address: a.addressOf(r)}, w: &recorder{ResponseWriter: w}}
		r = r.WithContext(context.WithValue(r.Context(), infoKey{}, in))
		securityHeaders(w.Header())
		w.Header().Set("X-Request-Id", in.id)
		rc := http.NewResponseController(w)
		rc.SetWriteDeadline(began.Add(answerTime)) // not every writer has deadlines
		if r.Body != http.NoBody {
			rc.SetReadDeadline(began.Add(bodyTime))
		}
		a.metrics.flying(1)
		defer func() {
			failure := recover()
			if failure != nil && failure != http.ErrAbortHandler {
				a.Log.LogAttrs(r.Context(), slog.LevelError, "panic", slog.String("request", in.id),
					slog.String("panic", fmt.Sprint(failure)), slog.String("stack", string(debug.Stack())))
				failure = nil
				if in.begun() {
					failure = http.ErrAbortHandler
				} else {
					a.fail(in.w, r, fmt.Errorf("panic"))
				}
			}
			a.metrics.flying(-1)
			a.access(r, in, time.Since(began))
			if failure != nil {
				panic(failure)
			}
		}()
		next.ServeHTTP(in.w, r)
	})
}

// access logs a request, without its query and its headers, which may contain secrets.
func (a *api) access(r *http.Request, in *info, took time.Duration) {
	a.metrics.seen(in.route, r.Method, in.w.status, took)
	a.Log.LogAttrs(r.Context(), slog.LevelDebug, "request",
		slog.String("request", in.id), slog.String("method", ladder.Clip(r.Method)), slog.String("path", ladder.Clip(r.URL.Path)),
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

// share allows pages of other sites to read public answers. The API uses no cookies, so a page
// gets no more than its author could.
func share(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "ETag, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
}

// unknown answers requests without a route: 404, 405, or a browser's preflight request.
// ServeMux supplies the methods of an address; it is called only without a route, which it
// would serve.
func (a *api) unknown(w http.ResponseWriter, r *http.Request, mux http.Handler, pattern string) error {
	probe := &allowProbe{header: http.Header{}}
	if pattern == "" {
		mux.ServeHTTP(probe, r)
	}
	allow := probe.header.Get("Allow")
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
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return ladder.Errorf(problem.NotAllowed, "try "+allow, "%q does not support %s", ladder.Clip(r.URL.Path), ladder.Clip(r.Method))
}

// allowProbe is a ResponseWriter that keeps only the headers.
type allowProbe struct{ header http.Header }

func (p *allowProbe) Header() http.Header         { return p.header }
func (p *allowProbe) Write(b []byte) (int, error) { return len(b), nil }
func (p *allowProbe) WriteHeader(int)             {}
