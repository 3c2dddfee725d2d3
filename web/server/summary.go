package server

import (
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// summaryInterval is the time between two summaries in the log.
const summaryInterval = time.Minute

// summary writes regularly to the log what the server has done, as counted by its metrics.
type summary struct {
	metrics prometheus.Gatherer
	log     *slog.Logger
	last    map[string]float64 // the counts at the last report, by the names in summaryNames
}

// summaryNames are the names in a summary, in order. "refused" and "failed" are requests with a status of 4xx
// and 5xx.
var summaryNames = []string{"matches", "games", "faults", "requests", "refused", "failed"}

// summaryMetrics maps the names of metrics to their names in a summary.
var summaryMetrics = map[string]string{
	"timba_matches_finished_total": "matches",
	"timba_games_total":            "games",
	"timba_faults_total":           "faults",
	"timba_http_requests_total":    "requests",
}

// report logs the counts since its last call, unless all of them are 0.
func (s *summary) report() {
	families, err := s.metrics.Gather()
	if err != nil {
		s.log.Warn("the metrics cannot be read", "err", err)
		return
	}
	now := map[string]float64{}
	for _, f := range families {
		name := summaryMetrics[f.GetName()]
		for _, m := range f.GetMetric() {
			now[name] += m.GetCounter().GetValue()
			for _, l := range m.GetLabel() {
				switch {
				case name != "requests" || l.GetName() != "code":
				case strings.HasPrefix(l.GetValue(), "4"):
					now["refused"] += m.GetCounter().GetValue()
				case strings.HasPrefix(l.GetValue(), "5"):
					now["failed"] += m.GetCounter().GetValue()
				}
			}
		}
	}
	var counted []any
	sum := 0.0
	for _, name := range summaryNames {
		n := now[name] - s.last[name]
		counted = append(counted, name, n)
		sum += n
	}
	if sum > 0 {
		s.log.Info("summary", counted...)
	}
	s.last = now
}
