package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/web/api/wire"
)

// Codes of errors of HTTP, in addition to those of package ladder.
const (
	NotAllowed    ladder.Code = "method-not-allowed"
	notAcceptable ladder.Code = "not-acceptable"
	mediaType     ladder.Code = "media-type"
	internal      ladder.Code = "internal"
)

// kinds is the status and the title of every code. Codes are part of the API: a problem's type
// ends with one.
var kinds = map[ladder.Code]struct {
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
	NotAllowed:          {http.StatusMethodNotAllowed, "this address does not support the method"},
	notAcceptable:       {http.StatusNotAcceptable, "no media type that the request accepts is available"},
	mediaType:           {http.StatusUnsupportedMediaType, "the media type of the body is not supported"},
	internal:            {http.StatusInternalServerError, "the server failed"},
}

// retryError is an error with the time after which to try again.
type retryError struct {
	error
	after time.Duration
}

func (e retryError) Unwrap() error { return e.error }

// problemOf returns the problem that a user sees. An internal error's text is left out: it may
// contain paths and queries.
func problemOf(err error) wire.Problem {
	code, detail, hint := internal, "the failure is in the server's log", "try again; if it fails again, report the instance to the operator of this server"
	var e *ladder.Error
	var tooLarge *http.MaxBytesError
	var told *wire.Problem
	switch {
	case errors.As(err, &told):
		return *told
	case errors.As(err, &e):
		code, detail, hint = e.Code, e.Text, e.Hint
		if code == ladder.Unavailable && e.Err != nil && strings.Contains(e.Text, e.Err.Error()) {
			detail, hint = "the server cannot read or write its data now", "try again later" // the cause names files
		}
	case errors.As(err, &tooLarge):
		code, detail, hint = ladder.TooLarge, "the body is larger than "+bundle.Size(tooLarge.Limit), "send shorter names and texts"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		code, detail, hint = ladder.Unavailable, "the request took too long", "try again"
	}
	kind, ok := kinds[code]
	if !ok {
		kind = kinds[internal]
		code = internal
	}
	return wire.Problem{Type: "urn:timba:problem:" + string(code), Title: kind.title, Status: kind.status, Detail: detail, Hint: hint}
}

// fail answers with an error, unless an answer has begun.
func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	info := infoOf(r)
	p := a.problem(r, err)
	if info.begun() {
		panic(http.ErrAbortHandler) // the client sees that the answer is incomplete
	}
	h := w.Header()
	for _, name := range []string{"ETag", "Content-Disposition", "Location", "Content-Encoding"} {
		h.Del(name)
	}
	if after := retryAfter(err, p.Status); after > 0 {
		h.Set("Retry-After", seconds(after))
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

// problem returns the problem of a failed request, and logs a failure of the server.
func (a *api) problem(r *http.Request, err error) wire.Problem {
	info := infoOf(r)
	p := problemOf(err)
	p.Instance = info.id
	if p.Status == http.StatusInternalServerError || p.Status == http.StatusServiceUnavailable && errors.Unwrap(asLadder(err)) != nil {
		a.Log.LogAttrs(r.Context(), slog.LevelError, "request failed", slog.String("request", info.id), slog.Any("error", cause(err)))
	}
	return p
}

// retryAfter returns the time after which to try again, 0 if that is no use.
func retryAfter(err error, status int) time.Duration {
	var retry retryError
	var known *ladder.Error
	switch {
	case errors.As(err, &known) && known.Retry > 0:
		return known.Retry
	case errors.As(err, &retry):
		return retry.after
	case status == http.StatusTooManyRequests:
		return time.Minute
	case status == http.StatusServiceUnavailable:
		return 5 * time.Second
	}
	return 0
}

// seconds returns a time in whole seconds, rounded up.
func seconds(d time.Duration) string {
	return strconv.Itoa(max(1, int((d+time.Second-1)/time.Second)))
}

// challenge returns the header of RFC 6750: with the error only if a token was sent.
func challenge(r *http.Request) string {
	if r.Header.Get("Authorization") == "" {
		return `Bearer realm="timba"`
	}
	return `Bearer realm="timba", error="invalid_token"`
}

// asLadder returns the error for users in an error, or the error itself.
func asLadder(err error) error {
	var e *ladder.Error
	if errors.As(err, &e) {
		return e
	}
	return err
}

// cause returns the error for the log: the cause of an error for users.
func cause(err error) error {
	var e *ladder.Error
	if errors.As(err, &e) && e.Err != nil {
		if strings.Contains(e.Text, e.Err.Error()) {
			return errors.New(e.Text)
		}
		return errors.Join(errors.New(e.Text), e.Err)
	}
	return err
}
