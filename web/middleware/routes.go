package middleware

import (
	"net/http"
	"path"

	"github.com/timba-arena/timba/ladder"
)

// FindRoute reports whether mux has a route for r. If not, methods is the list of the methods that the path
// supports, or "" if the path is unknown. A path that is not clean, such as one with "//", has no route,
// although ServeMux would redirect it.
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

// NotAllowed returns the error for a request whose method the path does not support. methods are the methods that it
// supports, such as "GET, HEAD".
func NotAllowed(r *http.Request, methods string) error {
	return ladder.Errorf(MethodNotAllowed, "try "+methods, "%q does not support %s", ladder.Clip(r.URL.Path), ladder.Clip(r.Method))
}

// headers is a ResponseWriter that stores the headers of an answer and discards the rest.
type headers http.Header

func (h headers) Header() http.Header         { return http.Header(h) }
func (h headers) Write(b []byte) (int, error) { return len(b), nil }
func (h headers) WriteHeader(int)             {}
