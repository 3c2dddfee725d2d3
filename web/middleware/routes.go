package middleware

import (
	"net/http"
	"path"

	"github.com/timba-arena/timba/ladder"
)

// FindRoute reports whether a request has a route, and for one without, which methods its address has; "" for none.
// To an address that is not clean ServeMux would redirect, also where that does not exist.
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

// NotAllowed returns the error of a request to an address that has other methods.
func NotAllowed(r *http.Request, methods string) error {
	return ladder.Errorf(MethodNotAllowed, "try "+methods, "%q does not support %s", ladder.Clip(r.URL.Path), ladder.Clip(r.Method))
}

// headers is a ResponseWriter that keeps only the headers.
type headers http.Header

func (h headers) Header() http.Header         { return http.Header(h) }
func (h headers) Write(b []byte) (int, error) { return len(b), nil }
func (h headers) WriteHeader(int)             {}
