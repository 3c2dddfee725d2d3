package middleware

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/internal/kit"
)

// A request whose client disconnects before the answer begins does not count as answered.
func TestUnansweredRequests(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := &Middleware{Options: Options{Log: slog.New(slog.DiscardHandler)}, metrics: newMetrics(registry)}
	ask := func(h http.HandlerFunc) {
		defer func() {
			if failure := recover(); failure != nil && failure != http.ErrAbortHandler {
				t.Errorf("panic: %v", failure)
			}
		}()
		m.Wrap(h).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	}
	ask(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	ask(func(http.ResponseWriter, *http.Request) {})
	families, err := registry.Gather()
	kit.Must(t, err)
	var codes []string
	for _, f := range families {
		for _, counted := range f.GetMetric() {
			for _, l := range counted.GetLabel() {
				if l.GetName() == "code" {
					codes = append(codes, l.GetValue())
				}
			}
		}
	}
	if !slices.Equal(codes, []string{"200"}) {
		t.Errorf("requests are counted with the codes %q", codes)
	}
}
