package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/tebes"
)

// The most games of a block. It is more for matches of models: their files may be large.
const (
	mostGames        = 10
	mostGamesLearned = 100
)

// clock is longer than any bot of a study thinks: depth, nodes and their own time limit them.
var clock = referee.Clock{Move: 10 * time.Minute, Margin: time.Second, Startup: time.Minute}

// block is the games of a match between two starts of the bots' processes, in one order of the bots.
type block struct {
	row     int // a match of a way: the matches of each way follow those of the one before
	variant *rules.Variant
	seats   []player
	number  int // among the blocks of the same match and order
	games   int
	results []result
}

// player is a bot of a match in a way.
type player struct {
	match.Bot
	label string // its spec, the same wherever the models are
}

// key names all that decides the games of a block, but for their number.
func (b *block) key() string {
	words := []string{"experiment", b.variant.Game.Name, b.variant.Settings.String()}
	for _, p := range b.seats {
		words = append(words, p.label)
	}
	return strings.Join(append(words, strconv.Itoa(b.number)), "/")
}

// findPlayers finds the bots of the matches in each way, by their names.
func (e *Experiment) findPlayers(ctx context.Context, o *Options, models []Learned) (map[way]map[string]player, error) {
	found := map[way]map[string]player{}
	add := func(w way, name, spec, label string) error {
		p, err := o.Resolver.Resolve(ctx, spec)
		if err == nil {
			found[w][name] = player{p.Bot, label}
		}
		return err
	}
	for _, w := range e.ways() {
		found[w] = map[string]player{}
		for name, spec := range e.Bots {
			spec = budget(spec, o.TimeScale, o.NodeRate)
			if err := add(w, name, spec, spec); err != nil {
				return nil, err
			}
		}
	}
	for i := range models {
		m := &models[i]
		if err := add(m.Way, m.Name, m.spec(), m.label()); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// blocks returns the games of all matches. All have their first blocks before any has its second, so
// that an interrupted experiment has figures of each.
func (e *Experiment) blocks(o *Options, found map[way]map[string]player) (list []*block) {
	for i, w := range e.ways() {
		for j := range e.Matches {
			m := &e.Matches[j]
			most := mostGames
			if slices.ContainsFunc(m.Bots, func(name string) bool { return e.Models.find(name) != nil }) {
				most = mostGamesLearned
			}
			list = append(list, m.blocks(i*len(e.Matches)+j, o.games(m.Games), most, found[w])...)
		}
	}
	slices.SortStableFunc(list, func(a, b *block) int { return a.number - b.number })
	return list
}

// blocks returns the games of the match, about as many in every order of its bots.
func (m *Match) blocks(row, games, most int, found map[string]player) (list []*block) {
	orders := m.orders()
	for i, order := range orders {
		seats := make([]player, len(order))
		for seat, bot := range order {
			seats[seat] = found[m.Bots[bot]]
			seats[seat].Name = m.Bots[bot] + copyMark + strconv.Itoa(bot)
		}
		left := games / len(orders)
		if i < games%len(orders) {
			left++
		}
		for n := 0; left > 0; n++ {
			list = append(list, &block{row: row, variant: m.variant, seats: seats, number: n, games: min(left, most)})
			left -= most
		}
	}
	return list
}

// play plays the matches. It returns the games of each, in an order that does not depend on the
// workers; with an error, those that were finished.
func (e *Experiment) play(ctx context.Context, o *Options, report *Report) ([][]result, error) {
	found, err := e.findPlayers(ctx, o, report.Models)
	if err != nil {
		return nil, err
	}
	blocks := e.blocks(o, found)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex
	played := 0
	run.Each(len(o.Workers), len(blocks), func(worker, i int) {
		if ctx.Err() != nil {
			return
		}
		b := blocks[i]
		err := b.play(ctx, o, o.Workers[worker], func(r result) {
			mu.Lock()
			defer mu.Unlock()
			b.results = append(b.results, r)
			played++
			o.Progress("", "games", played, report.All)
		})
		if err != nil {
			stop(err)
		}
	})
	rows := make([][]result, len(e.ways())*len(e.Matches))
	for _, b := range blocks {
		rows[b.row] = append(rows[b.row], b.results...)
	}
	return rows, context.Cause(ctx)
}

// play plays the games of a block. Its order is that of the bots, so that the referee plays only
// their first rotation.
func (b *block) play(ctx context.Context, o *Options, core int, done func(result)) error {
	m := match.Match{
		Variant: b.variant, Deals: b.games, Only: []int{0}, Clock: clock, Workers: []int{core}, Seed: o.Seed.Derive(b.key()),
		Done: func(g *referee.Result) error {
			if len(g.Faults) > 0 { // its figures would mean nothing
				f := g.Faults[0]
				return fmt.Errorf("%s had a fault: %w", g.Seats[f.Seat].Name, errors.New(f.Text))
			}
			r, err := look(b.variant, g)
			if err == nil {
				done(r)
			}
			return err
		},
	}
	for _, p := range b.seats {
		m.Bots = append(m.Bots, p.Bot)
	}
	return m.Play(ctx)
}

// copyMark stands between the name of a bot and the number of its seat.
const copyMark = "#"

// look returns what the measures need of a game.
func look(v *rules.Variant, g *referee.Result) (result, error) {
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
	if v.Game != tebes.Game {
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
