package middleware

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the Prometheus metrics of requests. They are labelled with the pattern of the route, because
// labels with paths would be unlimited in number.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	flight   prometheus.Gauge
}

func newMetrics(to prometheus.Registerer) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "timba_http_requests_total", Help: "Requests answered, by route and status.",
		}, []string{"route", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "timba_http_request_seconds", Help: "The time that requests took, waiting included.",
			Buckets: []float64{.001, .005, .02, .1, .5, 2, 10, 60},
		}, []string{"route"}),
		flight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "timba_http_requests_running", Help: "Requests being answered.",
		}),
	}
	if to != nil {
		to.MustRegister(m.requests, m.seconds, m.flight)
	}
	return m
}

// countRequest counts a request. route is the pattern of its route, or "" if it has none, and took is how
// long it took. status is 0 if the client disconnected before the answer began.
func (m *metrics) countRequest(route string, status int, took time.Duration) {
	if route == "" {
		route = "none"
	}
	if status != 0 {
		m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	}
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}
