package middleware

import (
	"log/slog"
	"net/http"

	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/problem"
)

// Fail answers with the document of an error, unless an answer has begun.
func (m *Middleware) Fail(w http.ResponseWriter, r *http.Request, err error) {
	p := m.Problem(r, err)
	if Of(r).Begun() {
		panic(http.ErrAbortHandler) // the client sees that the answer is incomplete
	}
	problem.Write(w, r, p, problem.RetryAfter(err, p.Status))
}

// Problem returns what is told of an error, and logs a failure of the server.
func (m *Middleware) Problem(r *http.Request, err error) wire.Problem {
	p := problem.Of(err)
	p.Instance = Of(r).ID
	if failure := problem.Failure(err); failure != nil {
		m.Log.LogAttrs(r.Context(), slog.LevelError, "request failed", slog.String("request", p.Instance), slog.Any("error", failure))
	}
	return p
}
