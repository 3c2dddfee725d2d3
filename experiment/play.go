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
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/tebes"
)

// block is how many games are played between two starts of the bots' processes. All matches have
// their first blocks before any has its second, so that an interrupted experiment has figures of
// each.
const block = 10

// clock is longer than any bot of a study thinks: depth, nodes and their own time limit them.
var clock = referee.Clock{Move: 10 * time.Minute, Margin: time.Second, Startup: time.Minute}

// job is a block of games of a match, in one rotation.
type job struct {
	match    int
	rotation int
	number   int // of the block in the match and the rotation
	games    int
	results  []result
}

// jobs returns the blocks of all matches.
func (e *Experiment) jobs(o *Options) (list []*job) {
	for i, m := range e.matches() {
		games, rotations := o.games(e.orDefault(m.Games)), len(m.Bots)
		if m.Fixed {
			rotations = 1
		}
		for r := range rotations {
			left := games / rotations
			if r < games%rotations {
				left++
			}
			for n := 0; left > 0; n++ {
				list = append(list, &job{match: i, rotation: r, number: n, games: min(left, block)})
				left -= block
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *job) int { return a.number - b.number })
	return list
}

// play plays the matches. It returns the games of each, in an order that does not depend on the
// workers; with an error, those that were finished.
func (e *Experiment) play(ctx context.Context, o Options, report *Report) ([][]result, error) {
	v, err := e.variant()
	if err != nil {
		return nil, err
	}
	matches, jobs := e.matches(), e.jobs(&o)
	for _, j := range jobs {
		report.All += j.games
	}
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
				match, err := e.match(ctx, o, v, matches[j.match], j)
				if err != nil {
					return err
				}
				match.Workers = []int{core}
				match.Done = func(g *referee.Game) error {
					if len(g.Faults) > 0 {
						return errFault(matches[j.match], g)
					}
					found, err := e.look(v, g)
					if err != nil {
						return err
					}
					mu.Lock()
					defer mu.Unlock()
					j.results = append(j.results, found)
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
	err = group.Wait()
	rows := make([][]result, len(matches))
	for _, j := range jobs {
		rows[j.match] = append(rows[j.match], j.results...)
	}
	return rows, err
}

// copyMark stands between the name of a bot and the number of its seat.
const copyMark = "#"

// match returns the match of a job: the rotation is one of its bots, so that the referee plays
// only its first.
func (e *Experiment) match(ctx context.Context, o Options, v rules.Variant, m Match, j *job) (*referee.Match, error) {
	bots, label := make([]referee.Bot, len(m.Bots)), []string{e.Game, v.Settings().String()}
	for seat := range m.Bots {
		at := rules.BotAt(seat, j.rotation, len(m.Bots))
		spec := scaleTime(e.Bots[m.Bots[at]], o.TimeScale)
		p, err := o.Resolver.Resolve(ctx, spec)
		if err != nil {
			return nil, err
		}
		bots[seat] = p.Bot
		bots[seat].Name = m.Bots[at] + copyMark + strconv.Itoa(at)
		label = append(label, spec)
	}
	from := make([]int, len(bots))
	for i := 1; i < len(from); i++ {
		from[i] = j.games
	}
	return &referee.Match{
		Variant: v, Bots: bots, Deals: j.games, From: from, Clock: clock,
		Seed: o.Seed.Derive(fmt.Sprintf("experiment/%s/%d", strings.Join(label, "/"), j.number)),
	}, nil
}

// look returns what the measures need of a game.
func (e *Experiment) look(v rules.Variant, g *referee.Game) (result, error) {
	r := result{seat: -1, points: map[string]float64{}, turns: float64(len(g.Moves)), took: g.Took.Seconds(), first: g.Points[0]}
	firsts, seats := 0, map[string]float64{}
	for seat, s := range g.Seats {
		name, _, _ := strings.Cut(s.Name, copyMark)
		r.points[name] += g.Points[seat]
		seats[name]++
		if g.Ranks[seat] == 1 {
			r.won, r.seat = name, seat
			firsts++
		}
	}
	for name, n := range seats {
		r.points[name] /= n
	}
	if firsts > 1 {
		r.won, r.seat, r.drawn = "", -1, true
	}
	r.nodes, r.think = thought(g.Moves)
	if e.Game != (tebes.Game{}).Name() {
		return r, nil
	}
	for step, err := range g.Walk(v, nil) {
		if err != nil {
			return r, err
		}
		if step.Record == nil {
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
