package api

import (
	"log/slog"
	"net/http"

	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/problem"
)

// fail answers with an error, unless an answer has begun.
func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := a.problem(r, err)
	if infoOf(r).begun() {
		panic(http.ErrAbortHandler) // the client sees that the answer is incomplete
	}
	problem.Write(w, r, p, problem.RetryAfter(err, p.Status))
}

// problem returns the problem of a failed request, and logs a failure of the server.
func (a *api) problem(r *http.Request, err error) wire.Problem {
	p := problem.Of(err)
	p.Instance = infoOf(r).id
	if failure := problem.Failure(err); failure != nil {
		a.Log.LogAttrs(r.Context(), slog.LevelError, "request failed", slog.String("request", p.Instance), slog.Any("error", failure))
	}
	return p
}
