package middleware

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/web/wire"
)

// Error codes of HTTP, in addition to those of package ladder.
const (
	MethodNotAllowed ladder.ErrorCode = "method-not-allowed"
	NotAcceptable    ladder.ErrorCode = "not-acceptable"
	MediaType        ladder.ErrorCode = "media-type"
	internal         ladder.ErrorCode = "internal"
)

// kinds has the HTTP status and the title of the problem for each error code. Codes are a part of the API,
// because the type of a problem ends with its code.
var kinds = map[ladder.ErrorCode]struct {
	status int
	title  string
}{
	ladder.Invalid:      {http.StatusBadRequest, "the request is not valid"},
	ladder.NotFound:     {http.StatusNotFound, "this does not exist"},
	ladder.Conflict:     {http.StatusConflict, "the request conflicts with what exists"},
	ladder.Unauthorized: {http.StatusUnauthorized, "a valid token is required"},
	ladder.Forbidden:    {http.StatusForbidden, "this token does not permit the request"},
	ladder.TooLarge:     {http.StatusRequestEntityTooLarge, "the request is too large"},
	ladder.TooMany:      {http.StatusTooManyRequests, "a limit is reached"},
	ladder.Unavailable:  {http.StatusServiceUnavailable, "the server cannot do this now"},
	MethodNotAllowed:    {http.StatusMethodNotAllowed, "this address does not support the method"},
	NotAcceptable:       {http.StatusNotAcceptable, "no media type that the request accepts is available"},
	MediaType:           {http.StatusUnsupportedMediaType, "the media type of the body is not supported"},
	internal:            {http.StatusInternalServerError, "the server failed"},
}

// Problem is an error as the client of a request sees it: the document of RFC 9457, and its texts in a form that
// the site can translate.
type Problem struct {
	wire.Problem
	Text, Remedy phrase.Text // Remedy is what to try; it may be empty
}

// ProblemOf returns what the client sees of err. If err is an unexpected failure of the server, the result does
// not quote it, because it may contain paths and queries.
func ProblemOf(err error) Problem {
	code, text := internal, phrase.New("the failure is in the server's log")
	remedy := phrase.New("try again; if it fails again, report the instance to the operator of this server")
	var e *ladder.Error
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &e):
		code, text, remedy = e.Code, e.Text, e.Hint
		if code == ladder.Unavailable && e.Err != nil && strings.Contains(e.Text.String(), e.Err.Error()) {
			text, remedy = phrase.New("the server cannot read or write its data now"), phrase.New("try again later") // the cause names files
		}
	case errors.As(err, &tooLarge):
		code = ladder.TooLarge
		text, remedy = phrase.New("the body is larger than %s", bundle.FormatSize(tooLarge.Limit)), phrase.New("send shorter names and texts")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		code, text, remedy = ladder.Unavailable, phrase.New("the request took too long"), phrase.New("try again")
	}
	kind, ok := kinds[code]
	if !ok {
		kind = kinds[internal]
		code = internal
	}
	return Problem{
		wire.Problem{Type: "urn:timba:problem:" + string(code), Title: kind.title, Status: kind.status, Detail: text.String(), Hint: wire.HintText(remedy)},
		text, remedy,
	}
}

// RetryAfter returns how long a client should wait after the error err before it tries again, or 0 if trying
// again would not help. status is the HTTP status of the answer.
func RetryAfter(err error, status int) time.Duration {
	var known *ladder.Error
	switch {
	case errors.As(err, &known) && known.Retry > 0:
		return known.Retry
	case status == http.StatusTooManyRequests:
		return time.Minute
	case status == http.StatusServiceUnavailable:
		return 5 * time.Second
	}
	return 0
}

// Seconds formats d for the header Retry-After: in whole seconds, rounded up, at least 1.
func Seconds(d time.Duration) string {
	return strconv.Itoa(max(1, int((d+time.Second-1)/time.Second)))
}

// failureOf returns the error to log for err, with its text and cause. It returns nil if err is not a failure of the
// server, but for example the error of a disconnected client.
func failureOf(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	cause := errors.Unwrap(err)
	var e *ladder.Error
	known := errors.As(err, &e)
	if known {
		cause = e.Err
	}
	switch status := ProblemOf(err).Status; {
	case status != http.StatusInternalServerError && (status != http.StatusServiceUnavailable || cause == nil):
		return nil
	case !known || cause == nil:
		return err
	case strings.Contains(e.Text.String(), cause.Error()):
		return errors.New(e.Text.String())
	}
	return errors.Join(errors.New(e.Text.String()), cause)
}

// writeProblem answers with p, a document of RFC 9457. after is the time for the header Retry-After, which is left
// out if it is 0. writeProblem removes headers that a route has set for another answer.
func writeProblem(w http.ResponseWriter, r *http.Request, p wire.Problem, after time.Duration) {
	h := w.Header()
	for _, name := range []string{"ETag", "Content-Disposition", "Location", "Content-Encoding"} {
		h.Del(name)
	}
	if after > 0 {
		h.Set("Retry-After", Seconds(after))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", challenge(r))
	}
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", wire.ProblemType)
	w.WriteHeader(p.Status)
	if data, err := json.Marshal(p); err == nil && r.Method != http.MethodHead {
		w.Write(append(data, '\n'))
	}
}

// challenge returns the value of the header WWW-Authenticate (RFC 6750) of an answer with the status 401. It
// names an error only if r has a token.
func challenge(r *http.Request) string {
	if r.Header.Get("Authorization") == "" {
		return `Bearer realm="timba"`
	}
	return `Bearer realm="timba", error="invalid_token"`
}

// Fail answers with an error document (RFC 9457) for err. If an answer has already begun, it aborts the
// connection with a panic.
func (m *Middleware) Fail(w http.ResponseWriter, r *http.Request, err error) {
	p := m.Problem(r, err)
	if RequestOf(r).HasAnswerBegun() {
		panic(http.ErrAbortHandler) // the client sees that the answer is incomplete
	}
	writeProblem(w, r, p.Problem, RetryAfter(err, p.Status))
}

// Problem returns what the client sees of err, with the ID of request r. If err is a failure of the server,
// Problem logs it.
func (m *Middleware) Problem(r *http.Request, err error) Problem {
	p := ProblemOf(err)
	p.Instance = RequestOf(r).ID
	if failure := failureOf(err); failure != nil {
		m.Log.LogAttrs(r.Context(), slog.LevelError, "request failed", slog.String("request", p.Instance), slog.Any("err", failure))
	}
	return p
}
