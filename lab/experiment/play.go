package experiment

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/tebes"
)

// block is how many games are played between two starts of the bots' processes. All matches have
// their first blocks before any has its second, so that an interrupted experiment has figures of
// each.
const block = 10

// clock is longer than any bot of a study thinks: depth, nodes and their own time limit them.
var clock = referee.Clock{Move: 10 * time.Minute, Margin: time.Second, Startup: time.Minute}

// blockLearned is the same for matches of models: their files may be large.
const blockLearned = 100

// job is a block of games of a match, in one order of its bots.
type job struct {
	match   int // of Experiment.played
	order   int
	number  int // of the block in the match and the order
	games   int
	results []result
}

// played returns the matches in every way, one way after the other.
func (e *Experiment) played() []Match {
	return slices.Repeat(e.matches(), len(e.ways()))
}

// way returns the way in which a match of played is played.
func (e *Experiment) way(match int) way {
	return e.ways()[match/len(e.matches())]
}

// orders returns the orders in which the bots of a match sit: for each seat the number of its bot.
func (m *Match) orders() (list [][]int) {
	n := len(m.Bots)
	rotations := n
	switch {
	case m.Permuted:
		return permutations(n)
	case m.Fixed:
		rotations = 1
	}
	for r := range rotations {
		order := make([]int, n)
		for seat := range order {
			order[seat] = rules.BotAt(seat, r, n)
		}
		list = append(list, order)
	}
	return list
}

// permutations returns all orders of the numbers below n.
func permutations(n int) (list [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, shorter := range permutations(n - 1) {
		for at := range n {
			list = append(list, slices.Insert(slices.Clone(shorter), at, n-1))
		}
	}
	return list
}

// jobs returns the blocks of all matches.
func (e *Experiment) jobs(o *Options) (list []*job) {
	for i, m := range e.played() {
		games, orders, most := o.games(e.orDefault(m.Games)), len(m.orders()), block
		if slices.ContainsFunc(m.Bots, func(name string) bool { return e.model(name) != nil }) {
			most = blockLearned
		}
		for r := range orders {
			left := games / orders
			if r < games%orders {
				left++
			}
			for n := 0; left > 0; n++ {
				list = append(list, &job{match: i, order: r, number: n, games: min(left, most)})
				left -= most
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *job) int { return a.number - b.number })
	return list
}

// play plays the matches. It returns the games of each, in an order that does not depend on the
// workers; with an error, those that were finished.
func (e *Experiment) play(ctx context.Context, o Options, report *Report) ([][]result, error) {
	matches, jobs, found := e.played(), e.jobs(&o), roster{o: &o, models: report.Models}
	next := make(chan *job, len(jobs))
	for _, j := range jobs {
		next <- j
	}
	close(next)
	var mu sync.Mutex
	played := 0
	group, ctx := errgroup.WithContext(ctx)
	for _, core := range o.Workers {
		group.Go(func() error {
			for j := range next {
				if err := ctx.Err(); err != nil {
					return err
				}
				match, err := e.match(ctx, &found, &matches[j.match], j)
				if err != nil {
					return err
				}
				match.Workers = []int{core}
				match.Done = func(g *referee.Result) error {
					if len(g.Faults) > 0 {
						return errFault(matches[j.match], g)
					}
					seen, err := e.look(match.Variant, g)
					if err != nil {
						return err
					}
					mu.Lock()
					defer mu.Unlock()
					j.results = append(j.results, seen)
					if played++; o.Done != nil {
						o.Done(played, report.All)
					}
					return nil
				}
				if err := match.Play(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := group.Wait()
	rows := make([][]result, len(matches))
	for _, j := range jobs {
		rows[j.match] = append(rows[j.match], j.results...)
	}
	return rows, err
}

// copyMark stands between the name of a bot and the number of its seat.
const copyMark = "#"

// roster finds the bots of the matches.
type roster struct {
	o      *Options
	models []Learned
	mu     sync.Mutex
	known  map[string]match.Bot // by spec
}

// spec returns the spec of a bot in a way, and a label of it that is the same wherever models are.
func (b *roster) spec(e *Experiment, name string, w way) (spec, label string) {
	for i := range b.models {
		if m := &b.models[i]; m.Name == name && m.Way == string(w) {
			return m.spec(), m.label()
		}
	}
	spec = budget(e.Bots[name], b.o.TimeScale, b.o.NodeRate)
	return spec, spec
}

// find returns the bot of a spec. It is resolved once, because that may read a large model.
func (b *roster) find(ctx context.Context, spec string) (match.Bot, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bot, ok := b.known[spec]; ok {
		return bot, nil
	}
	p, err := b.o.Resolver.Resolve(ctx, spec)
	if err != nil {
		return match.Bot{}, err
	}
	if b.known == nil {
		b.known = map[string]match.Bot{}
	}
	b.known[spec] = p.Bot
	return p.Bot, nil
}

// match returns the match of a job: the order of the job is that of its bots, so that the referee
// plays only their first rotation.
func (e *Experiment) match(ctx context.Context, found *roster, m *Match, j *job) (*match.Match, error) {
	v, err := e.variant(m)
	if err != nil {
		return nil, err
	}
	bots, label := make([]match.Bot, len(m.Bots)), []string{e.Game, v.Settings.String()}
	for seat, at := range m.orders()[j.order] {
		spec, known := found.spec(e, m.Bots[at], e.way(j.match))
		if bots[seat], err = found.find(ctx, spec); err != nil {
			return nil, err
		}
		bots[seat].Name = m.Bots[at] + copyMark + strconv.Itoa(at)
		label = append(label, known)
	}
	return &match.Match{
		Variant: v, Bots: bots, Deals: j.games, Only: []int{0}, Clock: clock,
		Seed: found.o.Seed.Derive(fmt.Sprintf("experiment/%s/%d", strings.Join(label, "/"), j.number)),
	}, nil
}

// look returns what the measures need of a game.
func (e *Experiment) look(v *rules.Variant, g *referee.Result) (result, error) {
	r := result{seat: -1, points: map[string]float64{}, turns: float64(len(g.Moves)), took: g.Took.Seconds(), opening: g.Points[0]}
	firsts, seats := map[int]bool{}, map[string]float64{}
	for seat, s := range g.Seats {
		name, _, _ := strings.Cut(s.Name, copyMark)
		r.points[name] += g.Points[seat]
		seats[name]++
		if g.Ranks[seat] == 1 {
			r.won, r.seat = name, seat
			firsts[v.Side(seat)] = true
			if !slices.Contains(r.first, name) {
				r.first = append(r.first, name)
			}
		}
	}
	for name, n := range seats {
		r.points[name] /= n
	}
	if len(firsts) > 1 {
		r.won, r.seat, r.drawn = "", -1, true
	}
	r.nodes, r.think = thought(g.Moves)
	if e.Game != tebes.Game.Name {
		return r, nil
	}
	for step, err := range g.Walk(v, nil) {
		if err != nil {
			return r, err
		}
		if step.Next == nil {
			r.ending = step.State.(*tebes.State).Ending()
		}
	}
	return r, nil
}

// thought returns the mean nodes of the moves whose info tells them, and the mean seconds of all.
func thought(moves []referee.ReplayMove) (nodes, seconds float64) {
	told := 0.0
	for _, m := range moves {
		seconds += m.MS / 1000
		for _, line := range m.Info {
			if text, ok := protocol.Pairs(line).Lookup("nodes"); ok {
				if n, err := strconv.ParseFloat(string(text), 64); err == nil {
					nodes += n
					told++
				}
			}
		}
	}
	return nodes / max(1, told), seconds / max(1, float64(len(moves)))
}
