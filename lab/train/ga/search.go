package ga

import (
	"context"
	"maps"
	"slices"

	"github.com/timba-arena/timba/lab/train/decisions"
	"github.com/timba-arena/timba/lab/train/rl"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// search is a run of the genetic algorithm. I is the type of its individuals, which are nets or agents. It
// implements run.Trainer. Its result does not depend on the number of workers; each worker plays in its own
// goroutine.
type search[I any] struct {
	Config
	mode    cards.Mode
	species species[I]
	rules   []baraja.TableRules
	rival   func() (Agent, error) // creates the rival for a worker; nil if individuals play against each other
	workers []*worker[I]

	generation    int // number of the generation of members
	members       []I
	counts        map[string]int // how often each crossover and mutation was applied
	pool          []evalPosition // positions that the present window of generations is evaluated on
	window        int            // generation / poolGenerations
	lastOutcome   outcome        // of the last step
	hasLoggedFull bool           // the log says that tables are full
}

// worker has the memory and the players that one goroutine needs to play games.
type worker[I any] struct {
	cardTable
	players []player[I]
	rivals  []Agent
	random  RandomAgent
	agents  []Agent
	// For fitness by positions.
	inputs    net.Inputs
	end       cards.Position
	next      [rules.MaxMoves]rules.Move
	heuristic decisions.Heuristic
}

// The purposes of random numbers. For each purpose, randFor derives them from the seed in a different way.
const (
	forBirth     = "ga/birth"
	forDeals     = "ga/deals"
	forChildren  = "ga/children"
	forTest      = "ga/test"
	forFinal     = "ga/final"
	forPositions = "ga/positions"
)

// randFor returns the random number generator for one purpose, such as forDeals, in the generation or round with
// the given number.
func randFor(seed uint64, purpose string, number int) *rules.Rand {
	return rules.NewRand(run.DeriveSeed(seed, purpose, number))
}

// newSearch returns a search before its first generation. The configuration c must be valid. newSpecies creates the
// operations for the variant in c. Each call of rival creates an opponent for one worker. If rival is nil, the
// individuals play against each other.
func newSearch[I any](c Config, workers int, rival func() (Agent, error), newSpecies func(*Config, cards.Mode) species[I]) (*search[I], error) {
	s := &search[I]{Config: c, rival: rival, counts: map[string]int{}}
	s.mode, _ = cards.ParseMode(c.Mode)
	s.rules, _ = s.mode.Combinations(c.Rules)
	s.species = newSpecies(&s.Config, s.mode)
	s.members = s.species.firstGeneration(c.Population, randFor(c.Seed, forBirth, 0))
	for range max(1, workers) {
		d, err := s.newWorker()
		if err != nil {
			return nil, err
		}
		s.workers = append(s.workers, d)
	}
	return s, nil
}

func (s *search[I]) newWorker() (*worker[I], error) {
	w := &worker[I]{cardTable: cardTable{mode: s.mode, rules: s.rules, rand: new(rules.Rand)}}
	for range s.mode.Players {
		w.players = append(w.players, s.species.player())
		if s.rival == nil {
			continue
		}
		a, err := s.rival()
		if err != nil {
			return nil, err
		}
		w.rivals = append(w.rivals, a)
	}
	return w, nil
}

// pairing has the indices of the individuals that play a game together: one if a fixed opponent plays too.
type pairing []int

// pairings divides individuals into groups that play a game together, at random. among has their indices. If the
// last game has free seats, individuals of other games fill them, and both of their games count. If the search has
// a rival (a fixed opponent), each individual plays in a game of its own, and the rival takes the other seats.
func (s *search[I]) pairings(among []int, r *rules.Rand) (all []pairing) {
	if s.rival != nil {
		for _, i := range among {
			all = append(all, pairing{i})
		}
		return all
	}
	order := make([]int, len(among))
	for k, i := range sample(len(among), len(among), r) {
		order[k] = among[i]
	}
	n := s.mode.Players
	for from := 0; from < len(order); from += n {
		pair := make(pairing, n)
		for k := range pair {
			pair[k] = order[(from+k)%len(order)]
		}
		all = append(all, pair)
	}
	return all
}

// pairingResult has, for each player of a game, the fitness and the returns (sums of rewards) from which the player
// can learn. The order is that of the pairing.
type pairingResult struct {
	fitness [baraja.TableSeats]Fitness
	lessons [baraja.TableSeats][]rl.Update
}

// playTournament lets the individuals with the indices in among play in random pairings. Each pairing plays the
// given number of games, and all play the same deals. It returns the fitness by index of the individual. If lessons
// is not nil, agents make some random moves, and the returns (sums of rewards) of individual i are appended to
// lessons[i].
func (s *search[I]) playTournament(ctx context.Context, among []int, games int, r *rules.Rand, lessons [][]rl.Update) ([]Fitness, error) {
	pairs := s.pairings(among, r)
	seeds := make([]uint64, (games+s.mode.Players-1)/s.mode.Players)
	for i := range seeds {
		seeds[i] = r.Uint64()
	}
	found := make([]pairingResult, len(pairs))
	err := s.forEach(ctx, len(pairs), func(w *worker[I], i int) {
		found[i].fitness = w.match(w.seatAgents(s.members, pairs[i], lessons != nil), games, seeds)
		for k := range pairs[i] {
			found[i].lessons[k] = w.players[k].lessons()
		}
	})
	fit := make([]Fitness, len(s.members))
	for i, pair := range pairs {
		for k, member := range pair {
			fit[member].add(found[i].fitness[k])
			if lessons != nil {
				lessons[member] = append(lessons[member], found[i].lessons[k]...)
			}
		}
	}
	return fit, err
}

// seatAgents returns the agents that play a game, by seat. First come the individuals whose indices in members are
// in pair. A fixed opponent takes the other seats. If learns is true, the individuals make some random moves and
// record returns (sums of rewards).
func (w *worker[I]) seatAgents(members []I, pair pairing, learns bool) []Agent {
	w.agents = w.agents[:0]
	for k := range w.mode.Players {
		if k >= len(pair) {
			w.agents = append(w.agents, w.rivals[k])
			continue
		}
		w.players[k].setIndividual(members[pair[k]], learns)
		w.agents = append(w.agents, w.players[k])
	}
	return w.agents
}

// forEach calls do for each i in [0, n). All workers share the calls. If ctx ends, it skips the remaining calls and
// returns the error of ctx.
func (s *search[I]) forEach(ctx context.Context, n int, do func(w *worker[I], i int)) error {
	run.ForEach(len(s.workers), n, func(worker, i int) {
		if ctx.Err() == nil {
			do(s.workers[worker], i)
		}
	})
	return ctx.Err()
}

type outcome struct {
	fitness        []Fitness     // by individual
	elite          []int         // indices of the parents, the fittest first
	lessons        [][]rl.Update // by individual
	speciesMetrics []run.Metric
	rejections     uint64  // how often full tables rejected a new pair
	crossover      float64 // ratio that made the next generation
	mutation       float64 // ratio that made the next generation
	random         Fitness // of the fittest against random moves
}

// step plays a generation and creates the next one in s.members. After the last generation, s.members are
// its elite. If ctx ends first, step changes nothing and returns an error.
func (s *search[I]) step(ctx context.Context) (o outcome, err error) {
	if err = s.selectElite(ctx, &o); err != nil {
		return o, err
	}
	o.speciesMetrics, o.rejections = s.species.metrics(s.members, o.elite)
	if o.random, err = s.testAgainstRandom(ctx, s.members[o.elite[0]], testGames, randFor(s.Seed, forTest, s.generation)); err != nil {
		return o, err
	}
	o.crossover, o.mutation = s.ratios(s.generation)
	parents := make([]I, len(o.elite))
	if err := s.forEach(ctx, len(parents), func(_ *worker[I], k int) {
		parents[k] = s.species.applyLessons(s.members[o.elite[k]], o.lessons[o.elite[k]])
	}); err != nil {
		return o, err
	}
	next, counts := parents, s.counts
	if s.generation+1 < s.Generations {
		if next, counts, err = s.nextGeneration(ctx, parents, &o); err != nil {
			return o, err
		}
	}
	old := s.members
	s.members, s.counts = next, counts
	s.generation++
	s.species.release(old)
	return o, nil
}

// selectElite sets o.fitness, o.elite, and o.lessons. For each member, o.lessons has the returns (sums of rewards)
// from which it can learn.
func (s *search[I]) selectElite(ctx context.Context, o *outcome) (err error) {
	o.lessons = make([][]rl.Update, len(s.members))
	if s.Positions > 0 {
		o.fitness, err = s.positionFitness(ctx)
		o.elite = rank(o.fitness)[:min(s.Parents, len(o.fitness))]
		return err
	}
	r := randFor(s.Seed, forDeals, s.generation)
	if o.fitness, err = s.playTournament(ctx, indices(len(s.members)), s.Games, r, o.lessons); err != nil {
		return err
	}
	if o.elite = rank(o.fitness)[:s.Parents]; !s.SecondRound {
		return nil
	}
	again := rank(o.fitness)[:min(2*s.Parents, len(o.fitness))]
	second, err := s.playTournament(ctx, again, s.Games, r, o.lessons)
	slices.SortStableFunc(again, func(i, j int) int { return compareFitness(second[i], second[j]) })
	o.elite = again[:s.Parents]
	return err
}

func indices(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// nextGeneration returns the children of random pairs of parents. If KeepElite is set, the parents come before
// them. The result counts is s.counts plus the numbers of crossovers and mutations that created these children.
func (s *search[I]) nextGeneration(ctx context.Context, parents []I, o *outcome) (next []I, counts map[string]int, err error) {
	r := randFor(s.Seed, forChildren, s.generation+1)
	counts = maps.Clone(s.counts)
	if s.KeepElite {
		next = append(next, parents...)
	}
	var left []func()
	for len(next) < s.Population {
		pair := sample(len(parents), 2, r)
		x, y, work := s.species.breed(parents[pair[0]], parents[pair[len(pair)-1]], o, counts, r)
		if next = append(next, x); len(next) < s.Population {
			next = append(next, y)
		}
		if work != nil {
			left = append(left, work)
		}
	}
	err = s.forEach(ctx, len(left), func(_ *worker[I], i int) { left[i]() })
	return next, counts, err
}
