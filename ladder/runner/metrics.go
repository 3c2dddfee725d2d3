package runner

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	finishedMatches *prometheus.CounterVec // by ladder
	brokenAttempts  *prometheus.CounterVec // by cause
	games           *prometheus.CounterVec // by ladder
	voidGames       prometheus.Counter
	starvedGames    prometheus.Counter
	machines        *prometheus.GaugeVec // by state
	unplayable      prometheus.Gauge
	faults          *prometheus.CounterVec // by code
	matchSeconds    *prometheus.HistogramVec
	playing         prometheus.Gauge
	waiting         prometheus.Gauge
	workers         prometheus.Gauge
	pauseGauge      prometheus.Gauge
	suspensions     prometheus.Counter
	stages          *prometheus.CounterVec // by stage and outcome
	submissions     prometheus.Gauge
	fitSeconds      *prometheus.HistogramVec
}

// unrated is the label of matches that are on no ladder.
const unrated = "unrated"

func ladderLabel(name string) string {
	if name == "" {
		return unrated
	}
	return name
}

func newMetrics(to prometheus.Registerer) *metrics {
	f := promauto.With(to)
	counter := func(name, help string) prometheus.Counter {
		return f.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return f.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	gauge := func(name, help string) prometheus.Gauge {
		return f.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	seconds := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		return f.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{"ladder"})
	}
	return &metrics{
		finishedMatches: counters("timba_matches_finished_total", "Matches finished.", "ladder"),
		brokenAttempts:  counters("timba_matches_broken_total", "Interrupted attempts at a match.", "why"),
		games:           counters("timba_games_total", "Games of finished matches.", "ladder"),
		voidGames:       counter("timba_games_void_total", "Games played again after a failure of the referee, or because others used the core."),
		starvedGames:    counter("timba_games_starved_total", "Games played again because others used the core."),
		machines:        f.NewGaugeVec(prometheus.GaugeOpts{Name: "timba_machines", Help: "Machines that are there, by whether they get matches."}, []string{"state"}),
		unplayable:      gauge("timba_versions_unplayable", "Live versions that no machine can play."),
		faults:          counters("timba_faults_total", "Faults of bots in finished matches.", "code"),
		matchSeconds:    seconds("timba_match_seconds", "How long finished matches took.", prometheus.ExponentialBuckets(0.25, 2, 11)),
		playing:         gauge("timba_matches_playing", "Matches that are running."),
		waiting:         gauge("timba_matches_waiting", "Waiting matches: interrupted, or requested by a person."),
		workers:         gauge("timba_workers", "Cores of all machines that get matches."),
		pauseGauge:      gauge("timba_paused", "1 while play is paused after a failure of the server."),
		suspensions:     counter("timba_versions_suspended_total", "Versions suspended for repeated faults."),
		stages:          counters("timba_submission_stages_total", "Stages of submissions that ended.", "stage", "outcome"),
		submissions:     gauge("timba_submissions_waiting", "Submissions that have not finished their stages."),
		fitSeconds:      seconds("timba_fit_seconds", "How long the maximum-likelihood fit of a ladder took.", prometheus.ExponentialBuckets(0.001, 4, 8)),
	}
}
