package ga

import (
	"io"

	"github.com/timba-arena/timba/lab/train/rl"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/model"
)

// The variants of a search: its individuals are nets or agents.
const (
	Nets   = "xn"     // nets that rank all moves
	Agents = model.RL // agents that learn by Monte Carlo, with the tables of package rl
)

func Variants() []string { return []string{Nets, Agents} }

// species is the set of operations on the individuals of a search. Type I is a net, or an agent that learns. An
// individual never changes after a method has returned it.
type species[I any] interface {
	// firstGeneration returns the n individuals of the first generation.
	firstGeneration(n int, r *rules.Rand) []I
	// player returns a new player for one goroutine. player.setIndividual selects the individual that it plays.
	player() player[I]
	// applyLessons returns individual i after it has learned from lessons, the returns (sums of rewards) in its
	// games.
	applyLessons(i I, lessons []rl.Update) I
	// breed returns two children of a and b. It increments the counts of the operators that it applies. The outcome
	// o has the probabilities of crossover and mutation. If work is not nil, the children are incomplete until work
	// has been called, which any goroutine may do.
	breed(a, b I, o *outcome, counts map[string]int, r *rules.Rand) (x, y I, work func())
	// release is called after a new generation has replaced the old one, so that memory can be freed.
	release(old []I)
	// metrics returns the metrics of a generation, and how often full tables rejected a new pair of state and
	// action. elite has the indices of the best members, the fittest first.
	metrics(members []I, elite []int) (values []run.Metric, turned uint64)
	// drawPlots draws the metrics of the species over the generations.
	drawPlots(f *run.Folder) error
	// memoryUse returns estimates, in bytes, of the memory for two generations and of a checkpoint at the end of
	// the search. growth is the total number of generations divided by the number of generations so far.
	memoryUse(members []I, growth float64) (bytes, disk int64)
	save(w io.Writer, i I) error
	load(r io.Reader) (I, error)
	// describe sets the encoding and, for a net, the layers of individual i in the model header h. In the
	// report r it sets Nets or, for agents, Pairs and Rejections. members is the last generation.
	describe(i I, members []I, h *model.Header, r *SearchReport)
	// writeModel writes the body of the model of individual i to w, and completes the report r.
	writeModel(w io.Writer, i I, r *SearchReport) error
}

// player plays the moves of an individual.
type player[I any] interface {
	Agent
	// setIndividual selects the individual that the player plays. If learns is true, some moves are random, and the
	// player records the returns (sums of rewards).
	setIndividual(i I, learns bool)
	// lessons returns the returns that were recorded since the last call of setIndividual.
	lessons() []rl.Update
}
