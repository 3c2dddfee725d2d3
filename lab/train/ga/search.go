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

// search is a genetic search. It is deterministic, whatever the number of workers.
type search[I any] struct {
	Config
	mode    cards.Mode
	species species[I]
	rules   []baraja.TableRules
	rival   func() (Agent, error) // nil for none
	workers []*worker[I]          // one a worker

	generation int // that members are of
	members    []I
	counts     map[string]int
	pool       []evalPosition // of the window
	window     int
	last       outcome // of the last step
	full       bool    // the log says that tables are full
}

// worker is what a goroutine plays with.
type worker[I any] struct {
	table
	players []player[I]
	rivals  []Agent
	random  Random
	agents  []Agent
	// What values positions.
	inputs    net.Inputs
	end       cards.Position
	next      [rules.MaxMoves]rules.Move
	heuristic decisions.Heuristic
}

// Names of the random numbers derived from the seed.
const (
	forBirth     = "ga/birth"
	forDeals     = "ga/deals"
	forChildren  = "ga/children"
	forTest      = "ga/test"
	forFinal     = "ga/final"
	forPositions = "ga/positions"
)

// stream returns the generator for a purpose in a generation or round.
func stream(seed uint64, purpose string, number int) *rules.Rand {
	return rules.NewRand(run.Derive(seed, purpose, number))
}

// newSearch returns a search before its first generation. The config is valid. of makes its species.
// rival makes the agent to play against, for each worker; it is nil when individuals play against each
// other.
func newSearch[I any](c Config, workers int, rival func() (Agent, error), of func(*Config, cards.Mode) species[I]) (*search[I], error) {
	s := &search[I]{Config: c, rival: rival, counts: map[string]int{}}
	s.mode, _ = cards.ParseMode(c.Mode)
	s.rules, _ = s.mode.Combinations(c.Rules)
	s.species = of(&s.Config, s.mode)
	s.members = s.species.first(c.Population, stream(c.Seed, forBirth, 0))
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
	w := &worker[I]{table: table{mode: s.mode, rules: s.rules, rand: new(rules.Rand)}}
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

// pairing is the individuals of a game, by their numbers; with a rival, one of them.
type pairing []int

// pairings draws who plays whom among some individuals. Where their number leaves seats of the
// last game free, others take these, and that game counts for them as well.
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

// result is what the individuals of a pairing have reached, in its order.
type result struct {
	fit     [baraja.TableSeats]Fitness
	lessons [baraja.TableSeats][]rl.Update
}

// tournament plays all pairings of some individuals and returns the fitness by individual. All
// pairings play the same deals. Lessons gets what the individuals have to learn; where it is nil,
// they do not explore.
func (s *search[I]) tournament(ctx context.Context, among []int, games int, r *rules.Rand, lessons [][]rl.Update) ([]Fitness, error) {
	pairs := s.pairings(among, r)
	seeds := make([]uint64, (games+s.mode.Players-1)/s.mode.Players)
	for i := range seeds {
		seeds[i] = r.Uint64()
	}
	found := make([]result, len(pairs))
	err := s.each(ctx, len(pairs), func(w *worker[I], i int) {
		found[i].fit = w.match(w.seat(s.members, pairs[i], lessons != nil), games, seeds)
		for k := range pairs[i] {
			found[i].lessons[k] = w.players[k].lessons()
		}
	})
	fit := make([]Fitness, len(s.members))
	for i, pair := range pairs {
		for k, member := range pair {
			fit[member].add(found[i].fit[k])
			if lessons != nil {
				lessons[member] = append(lessons[member], found[i].lessons[k]...)
			}
		}
	}
	return fit, err
}

// seat returns the agents of a pairing; the rival takes the seats that are left.
func (w *worker[I]) seat(members []I, pair pairing, learns bool) []Agent {
	w.agents = w.agents[:0]
	for k := range w.mode.Players {
		if k >= len(pair) {
			w.agents = append(w.agents, w.rivals[k])
			continue
		}
		w.players[k].use(members[pair[k]], learns)
		w.agents = append(w.agents, w.players[k])
	}
	return w.agents
}

// each calls do for the numbers below n, by the workers.
func (s *search[I]) each(ctx context.Context, n int, do func(w *worker[I], i int)) error {
	run.Each(len(s.workers), n, func(worker, i int) {
		if ctx.Err() == nil {
			do(s.workers[worker], i)
		}
	})
	return ctx.Err()
}

// outcome is what a generation has come to.
type outcome struct {
	fit       []Fitness     // by individual
	elite     []int         // individuals, the fittest first
	lessons   [][]rl.Update // by individual
	figures   []run.Value   // of the species
	turned    uint64        // pairs that full tables turned away
	crossover float64       // the ratios that made the next generation
	mutation  float64
	random    Fitness // of the best against random moves
}

// step plays a generation and makes the next; after the last, its elite are the members. It
// changes nothing when ctx ends first.
func (s *search[I]) step(ctx context.Context) (o outcome, err error) {
	if err = s.choose(ctx, &o); err != nil {
		return o, err
	}
	o.figures, o.turned = s.species.figures(s.members, o.elite)
	if o.random, err = s.test(ctx, s.members[o.elite[0]], testGames, stream(s.Seed, forTest, s.generation)); err != nil {
		return o, err
	}
	o.crossover, o.mutation = s.ratios(s.generation)
	parents := make([]I, len(o.elite))
	if err := s.each(ctx, len(parents), func(_ *worker[I], k int) {
		parents[k] = s.species.trained(s.members[o.elite[k]], o.lessons[o.elite[k]])
	}); err != nil {
		return o, err
	}
	next, counts := parents, s.counts
	if s.generation+1 < s.Generations {
		if next, counts, err = s.breed(ctx, parents, &o); err != nil {
			return o, err
		}
	}
	old := s.members
	s.members, s.counts = next, counts
	s.generation++
	s.species.release(old)
	return o, nil
}

// choose sets the fitness of all members, what they have to learn, and the elite.
func (s *search[I]) choose(ctx context.Context, o *outcome) (err error) {
	o.lessons = make([][]rl.Update, len(s.members))
	if s.Positions > 0 {
		o.fit, err = s.fitness(ctx)
		o.elite = rank(o.fit)[:min(s.Best, len(o.fit))]
		return err
	}
	r := stream(s.Seed, forDeals, s.generation)
	if o.fit, err = s.tournament(ctx, numbers(len(s.members)), s.Games, r, o.lessons); err != nil {
		return err
	}
	if o.elite = rank(o.fit)[:s.Best]; !s.Double {
		return nil
	}
	again := rank(o.fit)[:min(2*s.Best, len(o.fit))]
	second, err := s.tournament(ctx, again, s.Games, r, o.lessons)
	slices.SortStableFunc(again, func(i, j int) int { return compareFitness(second[i], second[j]) })
	o.elite = again[:s.Best]
	return err
}

// numbers returns the numbers below n.
func numbers(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// breed returns the next generation: the parents, if the elite is kept, and children of pairs of
// them; and how often each operator has been made then.
func (s *search[I]) breed(ctx context.Context, parents []I, o *outcome) (next []I, counts map[string]int, err error) {
	r := stream(s.Seed, forChildren, s.generation+1)
	counts = maps.Clone(s.counts)
	if s.Elite {
		next = append(next, parents...)
	}
	var left []func()
	for len(next) < s.Population {
		pair := sample(len(parents), 2, r)
		x, y, work := s.species.children(parents[pair[0]], parents[pair[len(pair)-1]], o, counts, r)
		if next = append(next, x); len(next) < s.Population {
			next = append(next, y)
		}
		if work != nil {
			left = append(left, work)
		}
	}
	err = s.each(ctx, len(left), func(_ *worker[I], i int) { left[i]() })
	return next, counts, err
}
