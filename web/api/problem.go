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
	"github.com/timba-arena/timba/web/api/wire"
)

// Codes of errors that only HTTP has, beside those of package ladder.
const (
	notAllowed    ladder.Code = "method-not-allowed"
	notAcceptable ladder.Code = "not-acceptable"
	mediaType     ladder.Code = "media-type"
	internal      ladder.Code = "internal"
)

// kinds is the status and the title of every code. Codes are part of the API:
// the last word of a problem's type.
var kinds = map[ladder.Code]struct {
	status int
	title  string
}{
	ladder.Invalid:      {http.StatusBadRequest, "what was asked makes no sense"},
	ladder.NotFound:     {http.StatusNotFound, "there is no such thing"},
	ladder.Conflict:     {http.StatusConflict, "it does not go with what there is"},
	ladder.Unauthorized: {http.StatusUnauthorized, "a valid token is needed"},
	ladder.Forbidden:    {http.StatusForbidden, "this token may not"},
	ladder.TooLarge:     {http.StatusRequestEntityTooLarge, "it is too large"},
	ladder.TooMany:      {http.StatusTooManyRequests, "a limit is reached"},
	ladder.Unavailable:  {http.StatusServiceUnavailable, "the server cannot now"},
	notAllowed:          {http.StatusMethodNotAllowed, "the method does not go with this address"},
	notAcceptable:       {http.StatusNotAcceptable, "there is no such form of it"},
	mediaType:           {http.StatusUnsupportedMediaType, "the body's type is not known here"},
	internal:            {http.StatusInternalServerError, "the server failed"},
}

// retryError is an error with the time after which to try again.
type retryError struct {
	error
	after time.Duration
}

func (e retryError) Unwrap() error { return e.error }

// problemOf is what a user is told of an error. What is not for users is only
// named: its text may hold paths and queries.
func problemOf(err error) wire.Problem {
	code, detail, hint := internal, "the failure is in the server's log", "try again; if it stays so, tell whoever runs this server the instance"
	var e *ladder.Error
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &e):
		code, detail, hint = e.Code, e.Text, e.Hint
		if code == ladder.Unavailable && e.Err != nil && strings.Contains(e.Text, e.Err.Error()) {
			detail, hint = "the server cannot read or write its data now", "try again later" // the cause names files
		}
	case errors.As(err, &tooLarge):
		code, detail, hint = ladder.TooLarge, "the body is larger than "+sizeText(tooLarge.Limit), ""
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
	p := problemOf(err)
	p.Instance = info.id
	ours := p.Status == http.StatusInternalServerError || p.Status == http.StatusServiceUnavailable && errors.Unwrap(asLadder(err)) != nil
	if ours {
		a.Log.LogAttrs(r.Context(), slog.LevelError, "request failed", slog.String("request", info.id), slog.Any("error", cause(err)))
	}
	if info.begun() {
		panic(http.ErrAbortHandler) // the client sees that the answer is not whole
	}
	h := w.Header()
	for _, name := range []string{"ETag", "Content-Disposition", "Location", "Content-Encoding"} {
		h.Del(name)
	}
	var retry retryError
	switch {
	case errors.As(err, &retry):
		h.Set("Retry-After", strconv.Itoa(max(1, int((retry.after+time.Second-1)/time.Second))))
	case p.Status == http.StatusTooManyRequests:
		h.Set("Retry-After", "60")
	case p.Status == http.StatusServiceUnavailable:
		h.Set("Retry-After", "5")
	case p.Status == http.StatusUnauthorized:
		h.Set("WWW-Authenticate", challenge(r))
	}
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", wire.ProblemType)
	w.WriteHeader(p.Status)
	if data, err := json.Marshal(p); err == nil && r.Method != http.MethodHead {
		w.Write(append(data, '\n'))
	}
}

// challenge is RFC 6750: the error is named only where a token was sent.
func challenge(r *http.Request) string {
	if r.Header.Get("Authorization") == "" {
		return `Bearer realm="timba"`
	}
	return `Bearer realm="timba", error="invalid_token"`
}

// asLadder is the error for users in an error, or the error itself.
func asLadder(err error) error {
	var e *ladder.Error
	if errors.As(err, &e) {
		return e
	}
	return err
}

// cause is what the log is told: the cause beneath an error for users.
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

// sizeText is a number of bytes for people.
func sizeText(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return strconv.FormatInt(n>>20, 10) + " MiB"
	case n >= 1<<10 && n%(1<<10) == 0:
		return strconv.FormatInt(n>>10, 10) + " KiB"
	}
	return strconv.FormatInt(n, 10) + " bytes"
}
