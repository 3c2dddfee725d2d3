package ga

import (
	"io"

	"github.com/timba-arena/timba/lab/train/rl"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/model"
)

// The variants of a search, which say what individuals are.
const (
	Nets   = "xn"     // nets that rank all moves
	Agents = model.RL // agents that learn by Monte Carlo, with the tables of package rl
)

func Variants() []string { return []string{Nets, Agents} }

// species implements the operations on individuals: nets, or dictionaries of agents. It does not change
// individuals after it has returned them.
type species[I any] interface {
	// firstGeneration returns n individuals.
	firstGeneration(n int, r *rules.Rand) []I
	// player returns a player for individuals of the species.
	player() player[I]
	// applyLessons returns the individual after it has learned the lessons.
	applyLessons(i I, lessons []rl.Update) I
	// breed returns two children and counts the operators applied. The ratios are those of the outcome. If
	// work is not nil, it must be called, in any goroutine, before the children are used.
	breed(a, b I, o *outcome, counts map[string]int, r *rules.Rand) (x, y I, work func())
	// release is called after a generation has been replaced.
	release(old []I)
	// metrics returns values for the metrics of a generation, and how often its full tables rejected a new
	// pair.
	metrics(members []I, elite []int) (values []run.Metric, turned uint64)
	// drawPlots draws these metrics.
	drawPlots(f *run.Folder) error
	// memoryUse estimates the bytes of two generations and of a checkpoint at the end of the search. Growth
	// is the total number of generations divided by the number so far.
	memoryUse(members []I, growth float64) (bytes, disk int64)
	save(w io.Writer, i I) error
	load(r io.Reader) (I, error)
	// describe completes the header of an individual's model, and the report.
	describe(i I, members []I, h *model.Header, r *SearchReport)
	// writeModel writes the body of an individual's model, and completes the report.
	writeModel(w io.Writer, i I, r *SearchReport) error
}

// player plays the moves of an individual.
type player[I any] interface {
	Agent
	// setIndividual sets the individual. If learns is true, it explores and its returns are recorded.
	setIndividual(i I, learns bool)
	// lessons returns the returns to learn from the games since setIndividual.
	lessons() []rl.Update
}
