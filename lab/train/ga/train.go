package ga

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// RandomRival is the name of the rival that plays random legal moves. This rival is not a house bot.
const RandomRival = "random"

const (
	// testPieceGames is the number of test games that a worker plays in one piece of work. It is divisible by all
	// possible numbers of seats.
	testPieceGames = 60
	// finalTest is the number of games that the model plays against random moves at the end.
	finalTest = 3000
	// testGames is the number of games that the fittest individual of each generation plays against random moves.
	testGames = 120
)

func (c *Config) Prepare(ctx context.Context, in run.Input) (run.Trainer, error) {
	m, _ := cards.ParseMode(c.Mode)
	var rival func() (Agent, error)
	switch c.Rival {
	case "":
	case RandomRival:
		rival = func() (Agent, error) { return &RandomAgent{}, nil }
	default:
		rival = func() (Agent, error) { return newRival(c.Rival, m) }
	}
	if c.Variant == Agents {
		return prepare(ctx, c, in.Workers, rival, newAgentSpecies)
	}
	return prepare(ctx, c, in.Workers, rival, newNetSpecies)
}

// prepare creates a search that is ready to play its first generation. If c names an earlier run (c.fromDir), the best
// individuals of that run are the parents of this generation. rival creates the opponent; it is nil if individuals play
// against each other. newSpecies creates the operations on individuals, which are nets or agents that learn.
func prepare[I any](ctx context.Context, c *Config, workers int, rival func() (Agent, error), newSpecies func(*Config, cards.Mode) species[I]) (run.Trainer, error) {
	s, err := newSearch(*c, workers, rival, newSpecies)
	if err != nil || c.fromDir == "" {
		return s, err
	}
	return s, run.ReadCheckpoint(c.fromDir, func(r io.Reader) error { return s.adopt(ctx, r) })
}

// adopt creates the first generation of s from r, a checkpoint of an earlier search. The first s.Parents individuals in
// r become the parents of the generation. If KeepElite is set, they are also members of it.
func (s *search[I]) adopt(ctx context.Context, r io.Reader) error {
	_, members, err := s.readMembers(r)
	if err != nil {
		return err
	}
	var parents []I
	for _, i := range members[:min(len(members), s.Parents)] {
		parents = append(parents, s.species.applyLessons(i, nil))
	}
	var o outcome
	o.crossover, o.mutation = s.ratios(0)
	s.members, s.counts, err = s.nextGeneration(ctx, parents, &o)
	return err
}

// SearchReport is the result of a search, which is stored as result.json.
type SearchReport struct {
	Random     Fitness        `json:"random"`                // results of the model against random moves
	Nets       int            `json:"nets,omitempty"`        // number of different nets in the last generation
	Pairs      int            `json:"pairs,omitempty"`       // pairs of a state and an action in the model's table
	States     int            `json:"states,omitempty"`      // states in the model
	Rejections uint64         `json:"turned_away,omitempty"` // how often a full table rejected a new pair
	Operators  map[string]int `json:"operators"`             // how often each crossover and mutation was applied

	memory    int    // limit for all tables, in MiB; 0 for nets
	fewerKeys string // advice to take another value of --keys; "" if there is none with fewer
}

func (r SearchReport) String() string {
	var b strings.Builder
	if r.memory > 0 {
		fmt.Fprintf(&b, "%s of a state and an action, %s in the model\n", text.Count(r.Pairs, "pair"), text.Count(r.States, "state"))
	} else {
		fmt.Fprintf(&b, "%s in the last generation\n", text.Count(r.Nets, "different net"))
	}
	if r.Rejections > 0 {
		fmt.Fprintf(&b, "tables were full: %d new pairs were turned away; give more than --memory %d%s\n", r.Rejections, r.memory, r.fewerKeys)
	}
	fmt.Fprintf(&b, "against random players: %.1f %% of %s won, %.1f points a game\n", 100*r.Random.WinShare(), text.Count(r.Random.Games, "game"), r.Random.MeanPoints())
	return b.String()
}

func (s *search[I]) Progress() (done, all int) { return s.generation, s.Generations }

// Step plays a generation and creates the next one. If ctx ends first, it fails and changes nothing.
func (s *search[I]) Step(ctx context.Context) (err error) {
	s.lastOutcome, err = s.step(ctx)
	s.lastOutcome.lessons = nil // release the memory
	return err
}

func (s *search[I]) Report(f *run.Folder) error {
	if s.lastOutcome.rejections > 0 && !s.hasLoggedFull {
		s.hasLoggedFull = true
		f.Log("tables are full after %d generations: new pairs are turned away from here on, the others go on learning", s.generation)
	}
	return f.AddMetrics(s.generation, s.lastOutcome.metrics()...)
}

// metrics returns the metrics of a generation. A share of games won counts a shared win as one half.
func (o *outcome) metrics() []run.Metric {
	var all Fitness
	for _, fit := range o.fitness {
		all.add(fit)
	}
	best := o.fitness[o.elite[0]]
	values := append([]run.Metric{
		{Name: "best", Value: best.WinShare()},
		{Name: "all", Value: all.WinShare()},
		{Name: "points", Value: all.MeanPoints()},
		{Name: "best_points", Value: best.MeanPoints()},
		{Name: "random", Value: o.random.WinShare()},
	}, o.speciesMetrics...)
	return append(values, run.Metric{Name: "crossover", Value: o.crossover}, run.Metric{Name: "mutation", Value: o.mutation})
}

func (s *search[I]) drawPlots(f *run.Folder) error {
	against := "each other"
	if s.Rival != "" {
		against = s.Rival
	}
	return errors.Join(
		f.Plot("wins", "Games won by the best of a generation", "generation", "share of the games", "best", "random"),
		f.Plot("points", "Points in games against "+against, "generation", "points of a game", "points", "best_points"),
		s.species.drawPlots(f),
		f.Plot("ratios", "Ratios of the policy "+s.Policy, "generation", "ratio", "crossover", "mutation"),
	)
}

// eliteFile is the format of the names of the files with the best individuals of the last generation, as models. The
// number in a name is the rank of the individual by fitness, from 1 for the fittest.
const eliteFile = "parent-%d.timba"

// Finish chooses the best individual of the last elite and plays it against random moves as a test. It writes
// the model, models of the whole elite and plots of the metrics to f and returns a SearchReport.
func (s *search[I]) Finish(ctx context.Context, f *run.Folder) (run.TrainingResult, error) {
	if err := s.drawPlots(f); err != nil {
		return nil, err
	}
	best, err := s.chooseFinal(ctx)
	if err != nil {
		return nil, err
	}
	r := SearchReport{Operators: s.counts, memory: s.Memory}
	if s.Keys != policy.Kinds {
		r.fewerKeys = ", or --keys " + policy.Kinds
	}
	r.Random, err = s.testAgainstRandom(ctx, s.members[best], finalTest, randFor(s.Seed, forTest, s.Generations))
	if err != nil {
		return nil, err
	}
	f.Log("the model wins %.1f %% of %d games against random moves, with %.1f points a game",
		100*r.Random.WinShare(), r.Random.Games, r.Random.MeanPoints())
	h := model.Header{Kind: model.GA, Mode: s.Mode, Variant: s.Variant, Seed: s.Seed, Defects: s.Config.Defects}
	for i, member := range s.members {
		var unused SearchReport
		if err := s.writeModel(f, fmt.Sprintf(eliteFile, i+1), h, member, &unused); err != nil {
			return nil, err
		}
	}
	return r, s.writeModel(f, run.ModelFile, h, s.members[best], &r)
}

func (s *search[I]) writeModel(f *run.Folder, name string, h model.Header, i I, r *SearchReport) error {
	s.species.describe(i, s.members, &h, r)
	return f.WriteModel(name, h, func(w io.Writer) error { return s.species.writeModel(w, i, r) })
}

// chooseFinal returns the index of the best member of the last elite, after each has played at least
// Config.FinalGames more games. If FinalGames is 0, it returns 0, the fittest of the last generation.
func (s *search[I]) chooseFinal(ctx context.Context) (int, error) {
	fit := make([]Fitness, len(s.members))
	among := indices(len(s.members))
	for played := 0; played < s.FinalGames; played += s.Games {
		round, err := s.playTournament(ctx, among, s.Games, randFor(s.Seed, forFinal, played), nil)
		if err != nil {
			return 0, err
		}
		for i := range fit {
			fit[i].add(round[i])
		}
	}
	return rank(fit)[0], nil
}

func (s *search[I]) testAgainstRandom(ctx context.Context, i I, games int, r *rules.Rand) (sum Fitness, err error) {
	parts := make([]Fitness, (games+testPieceGames-1)/testPieceGames)
	seeds := make([]uint64, len(parts)*testPieceGames)
	for i := range seeds {
		seeds[i] = r.Uint64()
	}
	err = s.forEach(ctx, len(parts), func(w *worker[I], k int) {
		w.players[0].setIndividual(i, false)
		w.agents = append(w.agents[:0], w.players[0])
		for len(w.agents) < s.mode.Players {
			w.agents = append(w.agents, &w.random)
		}
		parts[k] = w.match(w.agents, min(testPieceGames, games-k*testPieceGames), seeds[k*testPieceGames:])[0]
	})
	for _, part := range parts {
		sum.add(part)
	}
	return sum, err
}

// Size returns estimates, in bytes, of the memory and disk space that the whole search needs.
func (s *search[I]) Size() (memory, disk int64) {
	memory, disk = s.species.memoryUse(s.members, float64(s.Generations)/float64(s.generation))
	return memory + memoryOverhead, disk + int64(s.Generations)*metricsBytes + diskOverhead
}

// The sizes, in bytes, of what a run needs besides its individuals.
const (
	memoryOverhead = 20 << 20
	diskOverhead   = 500 << 10 // for plots
	metricsBytes   = 80        // for each generation
)

// state is the first line of a checkpoint of a search. The individuals follow it.
type state struct {
	Generation int            `json:"generation"`
	Members    int            `json:"members"`
	Counts     map[string]int `json:"counts"` // how often each crossover and mutation was applied
}

func (s *search[I]) Save(w io.Writer) error {
	if err := run.WriteState(w, state{s.generation, len(s.members), s.counts}); err != nil {
		return err
	}
	for _, i := range s.members {
		if err := s.species.save(w, i); err != nil {
			return err
		}
	}
	return nil
}

func (s *search[I]) Load(r io.Reader) error {
	at, members, err := s.readMembers(r)
	if err != nil {
		return err
	}
	if at.Members > s.Population || at.Generation < 0 || at.Generation > s.Generations {
		return fmt.Errorf("%d individuals of generation %d do not fit the run", at.Members, at.Generation)
	}
	s.generation, s.members, s.counts = at.Generation, members, at.Counts
	return nil
}

// readMembers reads a checkpoint that Save has written. It returns the state of the search and its individuals, but
// does not change s. It returns an error if the number of individuals is not 1 to MaxPopulation, or if the data are
// damaged.
func (s *search[I]) readMembers(r io.Reader) (at state, members []I, err error) {
	b, err := run.ReadState(r, &at)
	if err != nil {
		return at, nil, err
	}
	if at.Members < 1 || at.Members > MaxPopulation {
		return at, nil, fmt.Errorf("there are %d individuals, not 1 to %d", at.Members, MaxPopulation)
	}
	for range at.Members {
		i, err := s.species.load(b)
		if err != nil {
			return at, nil, err
		}
		members = append(members, i)
	}
	if _, err := b.ReadByte(); err != io.EOF {
		return at, nil, errors.New("there is more behind the last individual")
	}
	return at, members, nil
}
