package experiment

import (
	"math"
	"slices"

	"github.com/timba-arena/timba/stats"
)

// measure is a kind of figure.
type measure struct {
	columns []string // nil where the bots of the table are the columns
	share   bool     // a share of the games, else a mean over the games
	kind    kind     // of the experiments that have it
	machine bool     // depends on the machine, so that nobody expects it to agree
	exact   bool     // a published figure has no sample
	signed  bool     // a mean of it can be negative
	unit    string
	// value returns the value of a column, which may be a bot's, in a game: 1 or 0 for a share.
	value func(r *result, column string) float64
}

// measures by the name that files have.
var measures = map[string]measure{
	"wins": {share: true, unit: "%", value: func(r *result, bot string) float64 {
		return indicator(r.Winner == bot || r.WinnerSeat == 0 && bot == seatColumn)
	}},
	"first": {share: true, unit: "%", value: func(r *result, bot string) float64 {
		return indicator(slices.Contains(r.FirstRanked, bot))
	}},
	"score": {share: true, unit: "%", value: func(r *result, bot string) float64 {
		switch {
		case r.IsDraw:
			return 0.5
		case bot == seatColumn:
			return indicator(r.WinnerSeat == 0)
		}
		return indicator(r.Winner == bot)
	}},
	"points": {signed: true, unit: "points", value: func(r *result, bot string) float64 {
		if bot == seatColumn {
			return r.FirstSeatPoints
		}
		return r.Points[bot]
	}},
	"endings":   {share: true, unit: "%", columns: endings, value: endingIndicator},
	"turns":     {unit: "turns", columns: []string{"turns"}, value: func(r *result, _ string) float64 { return r.Turns }},
	"nodes":     {exact: true, unit: "nodes", columns: []string{"nodes a move"}, value: func(r *result, _ string) float64 { return r.Nodes }},
	"move-time": {machine: true, unit: "s", columns: []string{"seconds a move"}, value: func(r *result, _ string) float64 { return r.MoveSeconds }},
	"game-time": {machine: true, unit: "s", columns: []string{"seconds a game"}, value: func(r *result, _ string) float64 { return r.Seconds }},
	"lms":       {kind: kindTrainings, share: true, unit: "%", columns: outcomes, value: endingIndicator},
	"learning":  {kind: kindModels, machine: true, unit: "s", columns: parts, value: func(r *result, part string) float64 { return r.parts[part] }},
}

func endingIndicator(r *result, ending string) float64 { return indicator(r.Ending == ending) }

// endings are those of Tebes; the rest of the games is drawn by the limit.
var endings = []string{"corners", "no moves", "too few pieces"}

// parts are the times of a model: for its data set, from that to the first step of the training, and
// the training.
var parts = []string{"making", "preparing", "training"}

// outcomes are those of a training.
var outcomes = []string{"won", "lost", "drawn"}

// result is what the measures need of a game.
type result struct {
	Winner          string             `json:"won,omitempty"` // the bot that alone, or with its partner, has the first rank
	WinnerSeat      int                `json:"seat"`          // its seat, -1 for none
	FirstRanked     []string           `json:"first"`         // the bots that have the first rank
	IsDraw          bool               `json:"drawn,omitempty"`
	Ending          string             `json:"ending,omitempty"`
	Points          map[string]float64 `json:"points"`  // by bot, the mean of its seats
	FirstSeatPoints float64            `json:"opening"` // points of seat 0
	Turns           float64            `json:"turns"`
	Nodes           float64            `json:"nodes"` // a move, of those that tell
	MoveSeconds     float64            `json:"think"` // seconds a move
	Seconds         float64            `json:"took"`  // seconds

	instance int                // which of its models' seeds
	parts    map[string]float64 // seconds, of parts
	size     int                // of what was learned from
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func measureNames(k kind) (names []string) {
	for name, m := range measures {
		if m.kind == k {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// columns returns the names of a table's columns.
func (t *Table) columns() []string {
	if c := measures[t.Measure].columns; c != nil {
		return c
	}
	return t.Bots
}

// estimate returns the figure of a column over games, with its interval, as if they were independent.
func (m *measure) estimate(games []result, column string) stats.Estimate {
	values := make([]float64, len(games))
	sum := 0.0
	for i := range games {
		values[i] = m.value(&games[i], column)
		sum += values[i]
	}
	if m.share {
		return percent(stats.Proportion(sum/float64(max(1, len(games))), len(games)))
	}
	return m.mean(values)
}

// estimateBySeed returns the figure of a column over games of models that were trained with so many seeds, and
// how many of them have games. The games of one model depend on each other: the sample is the models, each
// with the mean of its games.
func (m *measure) estimateBySeed(games []result, column string, seeds int) (models int, e stats.Estimate) {
	var means []float64
	for i := range seeds {
		own := slices.DeleteFunc(slices.Clone(games), func(r result) bool { return r.instance != i })
		if len(own) > 0 {
			means = append(means, m.estimate(own, column).Value)
		}
	}
	return len(means), m.mean(means)
}

// mean returns the mean of values of the measure, whose interval has only what they can be.
func (m *measure) mean(values []float64) stats.Estimate {
	e := stats.Mean(values)
	if !m.signed && !math.IsInf(e.Low, 0) {
		e.Low = max(0, e.Low)
	}
	if m.share && !math.IsInf(e.High, 0) {
		e.High = min(100, e.High)
	}
	return e
}

func percent(e stats.Estimate) stats.Estimate {
	return stats.Estimate{Value: 100 * e.Value, Low: 100 * e.Low, High: 100 * e.High}
}
