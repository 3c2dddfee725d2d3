package ga

import (
	"io"

	"github.com/timba-arena/timba/lab/train/rl"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/model"
)

// The variants of a search, by what its individuals are.
const (
	Nets   = "xn"     // nets that rank all moves
	Agents = model.RL // agents that learn by Monte Carlo: the tables of package rl
)

// Variants returns the names of the variants.
func Variants() []string { return []string{Nets, Agents} }

// species is what a search needs to know of its individuals: nets or the tables of agents. It
// changes no individual once it has been made.
type species[I any] interface {
	// firstGeneration returns the first generation of so many individuals.
	firstGeneration(n int, r *rules.Rand) []I
	// player returns what plays individuals, one after the other.
	player() player[I]
	// applyLessons returns what an individual becomes by what it has learned.
	applyLessons(i I, lessons []rl.Update) I
	// breed makes two children of two parents by the ratios of the outcome, and counts the
	// operators. Work is what is left to do, at any time and in any goroutine; it may be nil.
	breed(a, b I, o *outcome, counts map[string]int, r *rules.Rand) (x, y I, work func())
	// release is called when a generation has been replaced.
	release(old []I)
	// metrics returns what metrics have of a generation, and how many pairs of a state and an
	// action were turned away as its tables were full.
	metrics(members []I, elite []int) (values []run.Metric, turned uint64)
	// drawPlots draws the figures.
	drawPlots(f *run.Folder) error
	// memoryUse returns the bytes that two generations will take, and those of a checkpoint. Growth
	// is how many times as many generations the search has as have made the members.
	memoryUse(members []I, growth float64) (bytes, disk int64)
	save(w io.Writer, i I) error
	load(r io.Reader) (I, error)
	// describe completes the header of an individual's model, and the report.
	describe(i I, members []I, h *model.Header, r *SearchReport)
	// writeModel writes the model of an individual, and completes the report.
	writeModel(w io.Writer, i I, r *SearchReport) error
}

// player plays an individual.
type player[I any] interface {
	Agent
	// setIndividual sets the individual. One that learns explores.
	setIndividual(i I, learns bool)
	// lessons returns what the individual has to learn from the games since use.
	lessons() []rl.Update
}
