package api

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
)

// info is what the server knows of a request. There is one for every request
// that comes through middleware.
type info struct {
	id      string
	address netip.Addr
	route   string // the pattern, "" for none
	person  ladder.Person
	token   ladder.Token // ID 0: nobody has said who they are
	w       *recorder    // what goes out, compressed
	inner   *recorder    // what the route writes; nil before there is one
}

type infoKey struct{}

func infoOf(r *http.Request) *info { return r.Context().Value(infoKey{}).(*info) }

// begun tells whether an answer has begun, be it only in the compressor's buffer.
func (in *info) begun() bool {
	return in.w.status != 0 || in.inner != nil && in.inner.status != 0
}

// recorder sees what is answered.
type recorder struct {
	http.ResponseWriter
	status int // 0: nothing yet
	bytes  int64
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
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController find the deadlines and the flusher.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// The times that a request has. A handler that needs longer says so.
const (
	bodyTime   = 30 * time.Second // to send a small body
	answerTime = 90 * time.Second // for everything; longer than the longest wait
)

// wrap is what every request goes through, known address or not.
func (a *api) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		in := &info{id: rand.Text(), address: a.addressOf(r), w: &recorder{ResponseWriter: w}}
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

// access logs a request. Its query and its headers are left out: they may hold
// secrets.
func (a *api) access(r *http.Request, in *info, took time.Duration) {
	a.metrics.seen(in.route, r.Method, in.w.status, took)
	level := slog.LevelInfo
	if in.route == "GET /healthz" || in.route == "GET /metrics" {
		level = slog.LevelDebug
	}
	a.Log.LogAttrs(r.Context(), level, "request",
		slog.String("request", in.id), slog.String("method", clip(r.Method)), slog.String("path", clip(r.URL.Path)),
		slog.Int("status", in.w.status), slog.Int64("bytes", in.w.bytes), slog.Float64("ms", float64(took.Microseconds())/1000),
		slog.String("address", in.address.String()), slog.Int64("person", in.person.ID), slog.Int64("token", in.token.ID))
}

// securityHeaders are the strictest; a page that needs more sets its own policy.
func securityHeaders(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// share lets pages of other sites read what anybody may read. No cookies are
// used here, so a page gets no more than its author could.
func share(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "ETag, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
}

// unknown answers where no route is: 404, 405, or what a browser asks before it
// asks. ServeMux knows which methods an address has; it is asked only where it has
// no route, since it would serve that.
func (a *api) unknown(w http.ResponseWriter, r *http.Request, mux http.Handler, pattern string) error {
	probe := &allowProbe{header: http.Header{}}
	if pattern == "" {
		mux.ServeHTTP(probe, r)
	}
	allow := probe.header.Get("Allow")
	if allow == "" {
		return ladder.Errorf(ladder.NotFound, "GET /api/v1/openapi.json tells what there is", "there is nothing at %q", clip(r.URL.Path))
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
	return ladder.Errorf(notAllowed, "try "+allow, "%s does not go with %q", clip(r.Method), clip(r.URL.Path))
}

// allowProbe keeps the headers of an answer and nothing else.
type allowProbe struct{ header http.Header }

func (p *allowProbe) Header() http.Header         { return p.header }
func (p *allowProbe) Write(b []byte) (int, error) { return len(b), nil }
func (p *allowProbe) WriteHeader(int)             {}
