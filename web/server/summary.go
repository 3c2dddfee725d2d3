package server

import (
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// summaryEvery is the time between two summaries in the log.
const summaryEvery = time.Minute

// summary logs what the metrics count.
type summary struct {
	metrics prometheus.Gatherer
	log     *slog.Logger
	last    totals // at the last report
}

// report logs what was counted since the last report, unless that is nothing.
func (s *summary) report() {
	now, err := total(s.metrics)
	if err != nil {
		s.log.Warn("the metrics cannot be read", "err", err)
		return
	}
	if last := s.last; now != last {
		s.log.Info("summary", "matches", now.matches-last.matches, "games", now.games-last.games, "faults", now.faults-last.faults,
			"requests", now.requests-last.requests, "refused", now.refused-last.refused, "failed", now.failed-last.failed)
	}
	s.last = now
}

// totals are sums of metrics since the start.
type totals struct {
	matches, games, faults    float64
	requests, refused, failed float64 // of HTTP, and those with a status of 4xx and of 5xx
}

// total reads the totals from the metrics.
func total(metrics prometheus.Gatherer) (t totals, err error) {
	families, err := metrics.Gather()
	if err != nil {
		return t, err
	}
	sums := map[string]*float64{
		"timba_matches_finished_total": &t.matches,
		"timba_games_total":            &t.games,
		"timba_faults_total":           &t.faults,
		"timba_http_requests_total":    &t.requests,
	}
	for _, f := range families {
		sum := sums[f.GetName()]
		if sum == nil {
			continue
		}
		for _, m := range f.GetMetric() {
			n := m.GetCounter().GetValue()
			*sum += n
			for _, l := range m.GetLabel() {
				switch {
				case sum != &t.requests || l.GetName() != "code":
				case strings.HasPrefix(l.GetValue(), "4"):
					t.refused += n
				case strings.HasPrefix(l.GetValue(), "5"):
					t.failed += n
				}
			}
		}
	}
	return t, nil
}
