package middleware

import (
	"net/http"
	"path"

	"github.com/timba-arena/timba/ladder"
)

// FindRoute reports whether mux has a route for a request. If it has none, methods lists the methods that the
// path supports, "" for an unknown path. It finds no route for a path that is not clean, for which ServeMux
// would redirect.
func FindRoute(mux *http.ServeMux, r *http.Request) (known bool, methods string) {
	if path.Clean(r.URL.Path) != r.URL.Path {
		return false, ""
	}
	handler, pattern := mux.Handler(r)
	if pattern != "" {
		return true, ""
	}
	w := headers{}
	handler.ServeHTTP(w, r)
	return false, http.Header(w).Get("Allow")
}

// NotAllowed returns the error for a path that supports only other methods.
func NotAllowed(r *http.Request, methods string) error {
	return ladder.Errorf(MethodNotAllowed, "try "+methods, "%q does not support %s", ladder.Clip(r.URL.Path), ladder.Clip(r.Method))
}

// headers is a ResponseWriter that keeps only the headers.
type headers http.Header

func (h headers) Header() http.Header         { return http.Header(h) }
func (h headers) Write(b []byte) (int, error) { return len(b), nil }
func (h headers) WriteHeader(int)             {}
