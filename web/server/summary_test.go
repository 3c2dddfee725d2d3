package server

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// A summary has what was counted since the last one, over all labels. If nothing was counted, there is no summary.
func TestSummary(t *testing.T) {
	registry := prometheus.NewRegistry()
	matches := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "timba_matches_finished_total"}, []string{"ladder"})
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "timba_http_requests_total"}, []string{"route", "code"})
	registry.MustRegister(matches, requests)
	var out bytes.Buffer
	s := summary{metrics: registry, log: slog.New(slog.NewTextHandler(&out, nil))}
	for _, c := range []struct {
		happens func()
		want    string
	}{
		{func() {}, ""},
		{func() {
			matches.WithLabelValues("teeko").Add(3)
			matches.WithLabelValues("brisca").Add(4)
			requests.WithLabelValues("/", "200").Add(5)
			requests.WithLabelValues("/", "404").Add(2)
			requests.WithLabelValues("/", "503").Add(1)
		}, "msg=summary matches=7 games=0 faults=0 requests=8 refused=2 failed=1"},
		{func() {}, ""},
		{func() { matches.WithLabelValues("teeko").Inc() }, "msg=summary matches=1 games=0 faults=0 requests=0 refused=0 failed=0"},
	} {
		c.happens()
		out.Reset()
		s.report()
		if got := strings.TrimSpace(out.String()); !strings.HasSuffix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
