package experiment

import (
	"math"
	"slices"
	"strings"

	"github.com/timba-arena/timba/stats"
)

// measure is a way to compute a number of a table, such as the share of games won, from the results of games.
type measure struct {
	columns []string // names of the columns; if nil, the columns are the bots of the table
	share   bool     // the figure is a share of the games in percent; otherwise it is a mean over the games
	kind    kind     // kind of the experiments that have this measure
	machine bool     // the figure depends on the machine, so that it is not compared
	exact   bool     // a published figure has no sampling error
	signed  bool     // the mean can be negative
	unit    string
	// value returns the value of one game for a column, which may be the name of a bot. If share is true, it
	// is 1 or 0, or 0.5 for a draw.
	value func(r *result, column string) float64
}

// measures has all measures (ways to compute the numbers of a table), by the names in files of experiments.
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
	"exact": {share: true, unit: "%", value: func(r *result, bot string) float64 {
		return indicator(!slices.Contains(r.Slips, bot))
	}},
	"endings":   {share: true, unit: "%", columns: endings, value: endingIndicator},
	"turns":     {unit: "turns", columns: []string{"turns"}, value: func(r *result, _ string) float64 { return r.Turns }},
	"choices":   {unit: "moves", columns: []string{"legal moves"}, value: func(r *result, _ string) float64 { return r.Choices }},
	"gaps":      {unit: "%", columns: []string{"bids"}, value: func(r *result, _ string) float64 { return 100 * r.Gaps }},
	"nodes":     {exact: true, unit: "nodes", columns: []string{"nodes a move"}, value: func(r *result, _ string) float64 { return r.Nodes }},
	"move-time": {machine: true, unit: "s", columns: []string{"seconds a move"}, value: func(r *result, _ string) float64 { return r.MoveSeconds }},
	"game-time": {machine: true, unit: "s", columns: []string{"seconds a game"}, value: func(r *result, _ string) float64 { return r.Seconds }},
	"lms": {kind: kindTrainings, share: true, unit: "%", columns: outcomes, value: func(r *result, outcome string) float64 {
		return indicator(strings.HasPrefix(r.Ending, outcome))
	}},
	"shapes":   {kind: kindTrainings, share: true, unit: "%", columns: []string{wonBySquare, wonByLine}, value: endingIndicator},
	"learning": {kind: kindModels, machine: true, unit: "s", columns: parts, value: func(r *result, part string) float64 { return r.parts[part] }},
	"test":     {kind: kindModels, exact: true, unit: "%", columns: testMetrics, value: func(r *result, name string) float64 { return 100 * r.parts[name] }},
}

func endingIndicator(r *result, ending string) float64 { return indicator(r.Ending == ending) }

// endings are the ways in which a game of Tebes can end, each a name of a column. A game that ends at the
// limit of moves has none of them and is a draw.
var endings = []string{"corners", "no moves", "too few pieces"}

// parts are the columns for the three times of a model: generating its data set, preparing, and training.
var parts = []string{"making", "preparing", "training"}

// testMetrics are the names of the columns for the quality of a trained net on test data. They stand for the fields
// Exact, Precision and Recall of sl.Metrics.
var testMetrics = []string{"exact", "precision", "recall"}

// outcomes are the names of the columns for the results of a training's games, as the bot that learns sees them. The
// Ending of a won game is not "won" but wonBySquare or wonByLine, which begin with this word.
var outcomes = []string{"won", "lost", "drawn"}

const (
	wonBySquare = "won by a square"
	wonByLine   = "won by a line"
)

// result has the values of one game that measures need. The JSON keys are those of a results file.
type result struct {
	Winner          string             `json:"won,omitempty"` // the bot that alone, or with its partner, has rank 1
	WinnerSeat      int                `json:"seat"`          // -1 if there is no winner
	FirstRanked     []string           `json:"first"`         // the bots that have rank 1
	IsDraw          bool               `json:"drawn,omitempty"`
	Ending          string             `json:"ending,omitempty"`
	Slips           []string           `json:"slips,omitempty"` // Brisca for two: for each move after the last draw that cost points, the bot
	Points          map[string]float64 `json:"points"`          // by bot, the mean of its seats
	FirstSeatPoints float64            `json:"opening"`         // of seat 0
	Turns           float64            `json:"turns"`
	Choices         float64            `json:"choices,omitempty"` // Tebes: mean number of legal moves for each ply
	Gaps            float64            `json:"gaps,omitempty"`    // share of the bids of @podrida-rules for which it has no rule
	Nodes           float64            `json:"nodes"`             // mean for each move, of bots that report them
	MoveSeconds     float64            `json:"think"`             // mean for each move
	Seconds         float64            `json:"took"`

	instance int                // index of the seed with which the models were trained
	parts    map[string]float64 // seconds by name in parts, and shares by name in testMetrics
	size     int                // amount that the model learned from
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

// columns returns the names of the table's columns: the columns that its measure defines, otherwise the bots.
func (t *Table) columns() []string {
	if c := measures[t.Measure].columns; c != nil {
		return c
	}
	return t.Bots
}

// estimate computes the number in one column of the table from the given games, which must be independent. It
// returns the number with its 95 % interval.
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

// estimateBySeed computes the number in one column of the table from games of models that were trained with several
// seeds. It returns the number with its 95 % interval, and how many of the models have games. The games of one
// model are not independent, so their mean counts as one value.
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

// mean returns the mean of values with its 95 % interval, limited to the values that the measure can have.
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
