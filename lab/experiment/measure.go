package experiment

import (
	"math"
	"slices"

	"github.com/timba-arena/timba/referee/rating"
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
	// of returns the value of a column, which may be a bot's, in a game: 1 or 0 for a share.
	of func(r *result, column string) float64
}

// measures by the name that files have.
var measures = map[string]measure{
	"wins": {share: true, unit: "%", of: func(r *result, bot string) float64 {
		return one(r.won == bot || r.seat == 0 && bot == seated)
	}},
	"first": {share: true, unit: "%", of: func(r *result, bot string) float64 {
		return one(slices.Contains(r.first, bot))
	}},
	"score": {share: true, unit: "%", of: func(r *result, bot string) float64 {
		switch {
		case r.drawn:
			return 0.5
		case bot == seated:
			return one(r.seat == 0)
		}
		return one(r.won == bot)
	}},
	"points": {signed: true, unit: "points", of: func(r *result, bot string) float64 {
		if bot == seated {
			return r.opening
		}
		return r.points[bot]
	}},
	"endings":   {share: true, unit: "%", columns: endings, of: ended},
	"turns":     {unit: "turns", columns: []string{"turns"}, of: func(r *result, _ string) float64 { return r.turns }},
	"nodes":     {exact: true, unit: "nodes", columns: []string{"nodes a move"}, of: func(r *result, _ string) float64 { return r.nodes }},
	"move-time": {machine: true, unit: "s", columns: []string{"seconds a move"}, of: func(r *result, _ string) float64 { return r.think }},
	"game-time": {machine: true, unit: "s", columns: []string{"seconds a game"}, of: func(r *result, _ string) float64 { return r.took }},
	"lms":       {kind: ofTrainings, share: true, unit: "%", columns: outcomes, of: ended},
	"learning":  {kind: ofModels, machine: true, unit: "s", columns: parts, of: func(r *result, part string) float64 { return r.parts[part] }},
}

func ended(r *result, ending string) float64 { return one(r.ending == ending) }

// endings are those of Tebes; the rest of the games is drawn by the limit.
var endings = []string{"corners", "no moves", "too few pieces"}

// parts are the times of a model: for its data set, from that to the first step of the training, and
// the training.
var parts = []string{"making", "preparing", "training"}

// outcomes are those of a training.
var outcomes = []string{"won", "lost", "drawn"}

// result is what the measures need of a game.
type result struct {
	won     string   // the name of the bot that alone, or with its partner, has the first rank, "" for none
	seat    int      // its seat, -1 for none
	first   []string // the bots that have the first rank
	drawn   bool
	ending  string
	points  map[string]float64 // by bot, the mean of its seats
	opening float64            // points of seat 0
	turns   float64
	nodes   float64            // a move, of those that tell
	think   float64            // seconds a move
	took    float64            // seconds
	parts   map[string]float64 // seconds, of parts
	size    int                // of what was learned from
}

func one(is bool) float64 {
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
	return t.Of
}

// estimate returns the figure of a column over games, with its interval.
func (m *measure) estimate(games []result, column string) rating.Estimate {
	values := make([]float64, len(games))
	sum := 0.0
	for i := range games {
		values[i] = m.of(&games[i], column)
		sum += values[i]
	}
	if m.share {
		return percent(rating.Proportion(sum/float64(max(1, len(games))), len(games)))
	}
	e := rating.Mean(values)
	if !m.signed && !math.IsInf(e.Low, 0) {
		e.Low = max(0, e.Low)
	}
	return e
}

func percent(e rating.Estimate) rating.Estimate {
	return rating.Estimate{Value: 100 * e.Value, Low: 100 * e.Low, High: 100 * e.High}
}
