package match

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/timba-arena/timba/referee"
)

// schedule assigns the games of a match, in an order that makes the results independent of
// the number of workers: a bot is disqualified from a deal if it had MaxFaults faults in
// the earlier deals of all rotations, so a rotation that is ahead waits while that can
// still change.
type schedule struct {
	match *Match

	mu      sync.Mutex
	changed *sync.Cond
	first   int          // of the rotations that are played together
	last    int          // behind them
	coming  []int        // by rotation, the next deal to assign
	earlier [][]int      // by rotation, the deals that were played before a resume, in order
	open    []*scheduled // assigned and not finished
	faulted [][]place    // by bot, where it had each fault

	reports reports
}

// place identifies a game of a match.
type place struct{ deal, rotation int }

// scheduled is a game that is assigned.
type scheduled struct {
	place
	out     []bool    // the disqualified bots
	failed  int       // how often the referee has failed
	starved int       // how often the machine was too busy
	void    bool      // it waits to be played again
	at      time.Time // not before
}

// maxTries is how often a game is started in total if the referee fails in it.
const maxTries = 3

// A game that was void because the machine was too busy is played again after a pause, which
// doubles each time.
const (
	minPause = time.Second
	maxPause = time.Minute
)

// maxAhead is the largest number of other deals that are played before a void game is played again. A sequential
// test needs the games in order.
const maxAhead = 100

func newSchedule(m *Match, done func(*referee.Result) error) *schedule {
	s := &schedule{match: m, last: m.Rotations(), faulted: make([][]place, len(m.Bots))}
	s.reports.done, s.reports.trouble = done, m.Observer.Trouble
	s.changed = sync.NewCond(&s.mu)
	s.coming, s.earlier = make([]int, m.Rotations()), make([][]int, m.Rotations())
	for _, p := range m.Earlier {
		s.earlier[p.Rotation] = append(s.earlier[p.Rotation], p.Deal)
		for _, bot := range p.Faulted {
			s.faulted[bot] = append(s.faulted[bot], place{p.Deal, p.Rotation})
		}
	}
	for rotation := range m.Rotations() {
		slices.Sort(s.earlier[rotation])
		s.coming[rotation] = m.First
		if m.Only != nil && !slices.Contains(m.Only, rotation) {
			s.coming[rotation] = m.end()
		}
	}
	return s
}

// begin goes on to the rotations from first up to last.
func (s *schedule) begin(first, last int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first, s.last = first, last
}

func (s *schedule) wake() { // under the lock, so that no waiter misses it
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Broadcast()
}

// next returns the next game of some rotations: one in which the referee failed, else the earliest
// that was not played yet, else one for which the machine was too busy and whose pause is over. It
// is nil if all are finished.
func (s *schedule) next(ctx context.Context, rotations []int) (*scheduled, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		var again *scheduled
		for _, g := range s.open {
			if g.void && slices.Contains(rotations, g.rotation) && (again == nil || g.at.Before(again.at)) {
				again = g
			}
		}
		if again == nil && !slices.ContainsFunc(rotations, func(r int) bool { return s.deal(r) < s.match.end() }) {
			return nil, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if again != nil && again.at.IsZero() {
			again.void = false
			return again, nil
		}
		rotation := slices.MinFunc(rotations, func(a, b int) int { return s.deal(a) - s.deal(b) })
		deal := s.deal(rotation)
		if deal < s.match.end() && (again == nil || deal < again.deal+maxAhead || again.at.After(time.Now())) {
			if out, ok := s.out(deal); ok {
				g := &scheduled{place: place{deal, rotation}, out: out}
				s.coming[rotation] = deal + 1
				s.open = append(s.open, g)
				return g, nil
			}
		}
		if again != nil {
			pause := time.Until(again.at)
			if pause <= 0 {
				again.void = false
				return again, nil
			}
			timer := time.AfterFunc(pause, s.wake)
			defer timer.Stop()
		}
		s.changed.Wait()
	}
}

// deal returns the next deal of a rotation to assign, behind the last one if there is none.
func (s *schedule) deal(rotation int) int {
	deal := s.coming[rotation]
	for _, played := slices.BinarySearch(s.earlier[rotation], deal); played; _, played = slices.BinarySearch(s.earlier[rotation], deal) {
		deal++
	}
	s.coming[rotation] = deal
	return min(deal, s.match.end())
}

// out returns which bots are disqualified from a deal; ok is false while unfinished games
// can change that.
func (s *schedule) out(deal int) (out []bool, ok bool) {
	unfinished := 0
	for rotation := s.first; rotation < s.last; rotation++ {
		next := s.coming[rotation]
		played := sort.SearchInts(s.earlier[rotation], deal) - sort.SearchInts(s.earlier[rotation], next) // from next on
		unfinished += max(0, deal-next-played)
	}
	for _, g := range s.open {
		if g.deal < deal {
			unfinished++
		}
	}
	out = make([]bool, len(s.faulted))
	mostSeats := (s.match.Variant.Players + len(out) - 1) / len(out) // of a bot in a game
	for bot, faults := range s.faulted {
		n := 0
		for _, at := range faults {
			if at.rotation < s.first || at.rotation < s.last && at.deal < deal {
				n++
			}
		}
		out[bot] = n >= referee.MaxFaults
		if !out[bot] && n+unfinished*mostSeats >= referee.MaxFaults {
			return nil, false
		}
	}
	return out, true
}

// done takes a finished game.
func (s *schedule) done(g *scheduled, game *referee.Result) error {
	s.mu.Lock()
	s.open = slices.DeleteFunc(s.open, func(o *scheduled) bool { return o == g })
	for _, bot := range game.Played().Faulted {
		s.faulted[bot] = append(s.faulted[bot], g.place)
	}
	s.changed.Broadcast()
	s.mu.Unlock()
	return s.reports.finish(game)
}

// void takes a game that has to be played again. The error ends the match: the referee has failed
// in this game too often.
func (s *schedule) void(g *scheduled, why error) error {
	s.reports.void(&Void{g.deal, g.rotation, why})
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, busy := errors.AsType[*Starved](why); busy {
		g.at = time.Now().Add(min(minPause<<min(g.starved, 16), maxPause))
		g.starved++
	} else if g.failed++; g.failed == maxTries {
		return fmt.Errorf("deal %d, rotation %d was void %d times: %w", g.deal, g.rotation, g.failed+g.starved, why)
	}
	g.void = true
	return nil
}
