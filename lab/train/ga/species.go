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

// species is the set of operations on the individuals of a search, which are nets or dictionaries of agents.
// It does not change an individual after it has returned it.
type species[I any] interface {
	// firstGeneration returns n individuals.
	firstGeneration(n int, r *rules.Rand) []I
	// player returns a player for individuals of the species.
	player() player[I]
	// applyLessons returns the individual after it has learned the lessons, the returns from its games.
	applyLessons(i I, lessons []rl.Update) I
	// breed returns two children of a and b and adds the operators applied to counts. The probabilities of
	// crossover and mutation are those in o. If work is not nil, it completes the children: it must be
	// called, in any goroutine, before they are used.
	breed(a, b I, o *outcome, counts map[string]int, r *rules.Rand) (x, y I, work func())
	// release is called after a new generation has replaced old, so that the species can free memory.
	release(old []I)
	// metrics returns values for the metrics of a generation, and how often its full tables rejected a new
	// pair of state and action. The elite are indices of members, the best first.
	metrics(members []I, elite []int) (values []run.Metric, turned uint64)
	// drawPlots draws the values of metrics over the generations.
	drawPlots(f *run.Folder) error
	// memoryUse returns estimates, in bytes, of the memory for two generations and of a checkpoint at the
	// end of the search. The factor growth is the total number of generations divided by the number so far.
	memoryUse(members []I, growth float64) (bytes, disk int64)
	save(w io.Writer, i I) error
	load(r io.Reader) (I, error)
	// describe completes the header h of the model of individual i, and the report. The last generation is
	// members.
	describe(i I, members []I, h *model.Header, r *SearchReport)
	// writeModel writes the body of an individual's model, and completes the report.
	writeModel(w io.Writer, i I, r *SearchReport) error
}

// player plays the moves of an individual.
type player[I any] interface {
	Agent
	// setIndividual sets who plays. If learns is true, it explores by random moves, and its returns are
	// recorded.
	setIndividual(i I, learns bool)
	// lessons returns the returns recorded since setIndividual, for the individual to learn.
	lessons() []rl.Update
}
