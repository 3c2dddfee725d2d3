package cluster

import (
	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type dispatcherMetrics struct {
	openAttempts prometheus.Gauge
	results      *prometheus.CounterVec // by outcome
	lostAttempts prometheus.Counter
	bytes        prometheus.Counter
	down         prometheus.Gauge
}

// Outcomes of receiving a part of a result from a machine.
const (
	gotWanted     = "wanted"     // the result is complete and accepted
	gotOld        = "old"        // its attempt is over
	gotForeign    = "foreign"    // the machine was not given its attempt
	gotUnreadable = "unreadable" // it cannot be decoded
	gotAgain      = ""           // no answer now, so that the machine sends it again; not counted
	gotPart       = "part"       // the result is still incomplete; not counted
)

func newDispatcherMetrics(to prometheus.Registerer) *dispatcherMetrics {
	f := promauto.With(to)
	m := &dispatcherMetrics{
		openAttempts: f.NewGauge(prometheus.GaugeOpts{Name: "timba_fleet_attempts", Help: "Attempts that machines have and the server waits for."}),
		results:      f.NewCounterVec(prometheus.CounterOpts{Name: "timba_fleet_results_total", Help: "Results that came in, by what became of them."}, []string{"outcome"}),
		lostAttempts: f.NewCounter(prometheus.CounterOpts{Name: "timba_fleet_attempts_lost_total", Help: "Attempts whose machine was lost."}),
		bytes:        f.NewCounter(prometheus.CounterOpts{Name: "timba_fleet_result_bytes_total", Help: "Bytes of the results that came in, compressed."}),
		down:         f.NewGauge(prometheus.GaugeOpts{Name: "timba_fleet_down", Help: "1 while NATS cannot be reached."}),
	}
	for _, outcome := range []string{gotWanted, gotOld, gotForeign, gotUnreadable} {
		m.results.WithLabelValues(outcome)
	}
	return m
}

// registerWire registers metrics of the bytes that the NATS server in this process exchanges with other machines.
// The bytes of TLS, of the lines of the NATS protocol and of the server's own connection are not counted.
func (h *Dispatcher) registerWire() {
	if h.Registerer == nil || h.embeddedServer == nil {
		return
	}
	for direction, count := range map[string]func(all *natsserver.Varz, own nats.Statistics) float64{
		"in": func(all *natsserver.Varz, own nats.Statistics) float64 {
			return float64(all.InBytes) - float64(own.OutBytes)
		},
		"out": func(all *natsserver.Varz, own nats.Statistics) float64 {
			return float64(all.OutBytes) - float64(own.InBytes)
		},
	} {
		h.Registerer.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "timba_fleet_wire_bytes_total", Help: "Bytes of the messages from (in) and to (out) other machines.",
			ConstLabels: prometheus.Labels{"direction": direction},
		}, func() float64 {
			all, err := h.embeddedServer.Varz(nil)
			if err != nil {
				return 0
			}
			return max(0, count(all, h.link.Stats()))
		}))
	}
}

type workerMetrics struct {
	playing      prometheus.Gauge
	attempts     *prometheus.CounterVec // by outcome
	voidGames    prometheus.Counter
	starvedGames prometheus.Counter
	waiting      prometheus.Gauge
	cache        prometheus.Gauge
	fetchedBots  prometheus.Counter
	matchSeconds prometheus.Histogram
}

func newWorkerMetrics(to prometheus.Registerer) *workerMetrics {
	f := promauto.With(to)
	return &workerMetrics{
		playing:      f.NewGauge(prometheus.GaugeOpts{Name: "timba_worker_playing", Help: "Matches that this worker plays."}),
		attempts:     f.NewCounterVec(prometheus.CounterOpts{Name: "timba_worker_attempts_total", Help: "Attempts that ended, by outcome: played, or the kind of the failure."}, []string{"outcome"}),
		voidGames:    f.NewCounter(prometheus.CounterOpts{Name: "timba_worker_games_void_total", Help: "Games played again."}),
		starvedGames: f.NewCounter(prometheus.CounterOpts{Name: "timba_worker_games_starved_total", Help: "Games played again because others used the core."}),
		waiting:      f.NewGauge(prometheus.GaugeOpts{Name: "timba_worker_results_waiting", Help: "Results that are not handed in yet."}),
		cache:        f.NewGauge(prometheus.GaugeOpts{Name: "timba_worker_cache_bytes", Help: "Bytes of the bots in the cache."}),
		fetchedBots:  f.NewCounter(prometheus.CounterOpts{Name: "timba_worker_bots_fetched_total", Help: "Bots fetched from the server."}),
		matchSeconds: f.NewHistogram(prometheus.HistogramOpts{Name: "timba_worker_match_seconds", Help: "How long played matches took.", Buckets: prometheus.ExponentialBuckets(0.25, 2, 11)}),
	}
}
