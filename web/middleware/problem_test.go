package middleware

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/wire"
)

// TestKinds checks that every code of package ladder has a status.
func TestKinds(t *testing.T) {
	for _, code := range []ladder.ErrorCode{
		ladder.Invalid, ladder.NotFound, ladder.Conflict, ladder.Unauthorized, ladder.Forbidden, ladder.TooLarge, ladder.TooMany, ladder.Unavailable,
	} {
		if p := ProblemOf(ladder.Errorf(code, "hint", "text")); p.Status == 500 || p.Detail != "text" || p.Hint != "hint" {
			t.Errorf("%s: %+v", code, p)
		}
	}
	if p := ProblemOf(errors.New("open /secret: no")); p.Status != 500 || strings.Contains(p.Detail+p.Hint, "secret") {
		t.Errorf("%+v", p)
	}
	broken := fmt.Errorf("disk /secret/timba.db is full")
	if p := ProblemOf(ladder.Errorf(ladder.Unavailable, "", "data: %w", broken)); p.Status != 503 || strings.Contains(p.Detail, "secret") {
		t.Errorf("%+v", p)
	}
}

// A failure of the server is logged with its cause; an error of the client is not.
func TestFailure(t *testing.T) {
	broken := errors.New("disk /secret is full")
	for _, c := range []struct {
		err  error
		want string // in the log; "" for nothing
	}{
		{ladder.Errorf(ladder.NotFound, "", "nothing: %w", broken), ""},
		{ladder.Errorf(ladder.Unavailable, "wait", "the server stops"), ""},
		{ladder.Errorf(ladder.Unavailable, "", "data: %w", broken), "data: disk /secret is full"},
		{&ladder.Error{Code: ladder.Unavailable, Text: phrase.Plain("it cannot work"), Err: broken}, "it cannot work\ndisk /secret is full"},
		{broken, "disk /secret is full"},
		{context.DeadlineExceeded, ""},
		{fmt.Errorf("template: %w", context.Canceled), ""},
	} {
		got := ""
		if err := failureOf(c.err); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v is logged as %q, want %q", c.err, got, c.want)
		}
	}
}

// An error answer has Retry-After if a retry helps, and no headers of another answer.
func TestWrite(t *testing.T) {
	known := ladder.Errorf(ladder.TooMany, "", "slowly")
	known.Retry = 1500 * time.Millisecond
	for _, c := range []struct {
		err    error
		status int
		after  string
	}{
		{known, 429, "2"},
		{ladder.Errorf(ladder.TooMany, "", "slowly"), 429, "60"},
		{ladder.Errorf(ladder.Unavailable, "", "later"), 503, "5"},
		{ladder.Errorf(ladder.Invalid, "", "never"), 400, ""},
		{ladder.Errorf(ladder.Unauthorized, "", "who?"), 401, ""},
	} {
		w := httptest.NewRecorder()
		w.Header().Set("ETag", "old")
		p := ProblemOf(c.err)
		writeProblem(w, httptest.NewRequest(http.MethodGet, "/", nil), p.Problem, RetryAfter(c.err, p.Status))
		h := w.Header()
		if w.Code != c.status || h.Get("Retry-After") != c.after || h.Get("ETag") != "" || h.Get("Content-Type") != wire.ProblemType || !strings.Contains(w.Body.String(), p.Detail) {
			t.Errorf("%v is answered with %d, %v: %s", c.err, w.Code, h, w.Body)
		}
		if challenge := h.Get("WWW-Authenticate"); (challenge != "") != (c.status == 401) {
			t.Errorf("%v is answered with the challenge %q", c.err, challenge)
		}
	}
}
