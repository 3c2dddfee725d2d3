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

// schedule assigns the games of a match to workers in such a way that results do not depend on the number of workers.
// A bot is disqualified from a deal if it had referee.MaxFaults faults in earlier deals of all rotations (assignments
// of the bots to the seats). A rotation that is ahead of the others must therefore wait as long as their unfinished
// games can still disqualify a bot.
type schedule struct {
	match *Match

	mu            sync.Mutex
	cond          *sync.Cond
	firstRotation int              // first of the rotations that are played now
	endRotation   int              // the last of them plus one
	nextDeals     []int            // by rotation, the next deal to assign
	earlierDeals  [][]int          // by rotation, the sorted deals that were played before the match was interrupted
	openGames     []*scheduledGame // games that are assigned to a worker and not finished
	faults        [][]place        // by bot, the games in which it had faults, one entry for each fault

	reports reports
}

// place says which game of a match is meant: its deal and its rotation, the seating of the bots.
type place struct{ deal, rotation int }

// scheduledGame is a game that is assigned to a worker and not finished.
type scheduledGame struct {
	place
	disqualifiedBots []bool    // by bot
	failures         int       // how often the referee failed in the game
	starvations      int       // how often the machine was too busy for the game
	void             bool      // the game does not count and waits to be played again
	notBefore        time.Time // earliest time to play a void game again
}

// maxTries is how many times the referee may fail in the same game. Then the match ends.
const maxTries = 3

// minPause is the pause before a game is played again for the first time because the machine was too busy. Each
// further pause is twice as long, up to maxPause.
const (
	minPause = time.Second
	maxPause = time.Minute
)

// maxAhead is how many later deals a worker may play while a game that did not count waits to be played again. The
// number is limited because a tournament may need the games in order.
const maxAhead = 100

func newSchedule(m *Match, done func(*referee.GameResult) error) *schedule {
	s := &schedule{match: m, endRotation: m.Rotations(), faults: make([][]place, len(m.Bots))}
	s.reports.onGame, s.reports.onTrouble = done, m.Observer.Trouble
	s.cond = sync.NewCond(&s.mu)
	s.nextDeals, s.earlierDeals = make([]int, m.Rotations()), make([][]int, m.Rotations())
	for _, p := range m.EarlierGames {
		s.earlierDeals[p.Rotation] = append(s.earlierDeals[p.Rotation], p.Deal)
		for _, bot := range p.FaultyBots {
			s.faults[bot] = append(s.faults[bot], place{p.Deal, p.Rotation})
		}
	}
	for rotation := range m.Rotations() {
		slices.Sort(s.earlierDeals[rotation])
		s.nextDeals[rotation] = m.FirstDeal
		if m.OnlyRotations != nil && !slices.Contains(m.OnlyRotations, rotation) {
			s.nextDeals[rotation] = m.endDeal()
		}
	}
	return s
}

// setRotations sets which rotations (assignments of the bots to the seats) the schedule assigns to workers: those
// with the numbers first to last-1.
func (s *schedule) setRotations(first, last int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.firstRotation, s.endRotation = first, last
}

// wake wakes all workers that wait for a game. It holds the lock, so that it cannot come between a worker's check and
// its wait.
func (s *schedule) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cond.Broadcast()
}

// nextGame assigns the next game of the given rotations to a worker. First come games in which the referee failed,
// then the earliest game that was not played yet, then games for which the machine was too busy and whose pause is
// over. It waits until one of these games can be played, and returns nil if all are finished.
func (s *schedule) nextGame(ctx context.Context, rotations []int) (*scheduledGame, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		var again *scheduledGame
		for _, g := range s.openGames {
			if g.void && slices.Contains(rotations, g.rotation) && (again == nil || g.notBefore.Before(again.notBefore)) {
				again = g
			}
		}
		if again == nil && !slices.ContainsFunc(rotations, func(r int) bool { return s.nextDeal(r) < s.match.endDeal() }) {
			return nil, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if again != nil && again.notBefore.IsZero() {
			again.void = false
			return again, nil
		}
		rotation := slices.MinFunc(rotations, func(a, b int) int { return s.nextDeal(a) - s.nextDeal(b) })
		deal := s.nextDeal(rotation)
		if deal < s.match.endDeal() && (again == nil || deal < again.deal+maxAhead || again.notBefore.After(time.Now())) {
			if out, ok := s.disqualifiedBots(deal); ok {
				g := &scheduledGame{place: place{deal, rotation}, disqualifiedBots: out}
				s.nextDeals[rotation] = deal + 1
				s.openGames = append(s.openGames, g)
				return g, nil
			}
		}
		if again != nil {
			pause := time.Until(again.notBefore)
			if pause <= 0 {
				again.void = false
				return again, nil
			}
			timer := time.AfterFunc(pause, s.wake)
			defer timer.Stop()
		}
		s.cond.Wait()
	}
}

// nextDeal returns the number of the next deal to assign in a rotation (seating of the bots), or Match.endDeal if
// there is none. It skips the deals that were played before the match was interrupted.
func (s *schedule) nextDeal(rotation int) int {
	deal := s.nextDeals[rotation]
	for _, played := slices.BinarySearch(s.earlierDeals[rotation], deal); played; _, played = slices.BinarySearch(s.earlierDeals[rotation], deal) {
		deal++
	}
	s.nextDeals[rotation] = deal
	return min(deal, s.match.endDeal())
}

// disqualifiedBots returns for each bot of the match whether it is disqualified from a deal. ok is false if that is
// not certain yet, because unfinished games of earlier deals can still disqualify a bot.
func (s *schedule) disqualifiedBots(deal int) (disqualified []bool, ok bool) {
	unfinished := 0
	for rotation := s.firstRotation; rotation < s.endRotation; rotation++ {
		next := s.nextDeals[rotation]
		played := sort.SearchInts(s.earlierDeals[rotation], deal) - sort.SearchInts(s.earlierDeals[rotation], next) // from next on
		unfinished += max(0, deal-next-played)
	}
	for _, g := range s.openGames {
		if g.deal < deal {
			unfinished++
		}
	}
	disqualified = make([]bool, len(s.faults))
	mostSeats := (s.match.Variant.Players + len(disqualified) - 1) / len(disqualified) // of a bot in a game
	for bot, faults := range s.faults {
		n := 0
		for _, at := range faults {
			if at.rotation < s.firstRotation || at.rotation < s.endRotation && at.deal < deal {
				n++
			}
		}
		disqualified[bot] = n >= referee.MaxFaults
		if !disqualified[bot] && n+unfinished*mostSeats >= referee.MaxFaults {
			return nil, false
		}
	}
	return disqualified, true
}

// finishGame removes g from the unfinished games, counts the faults in its result, game, and passes the result to the
// function done of Match.Play. It returns the error of done.
func (s *schedule) finishGame(g *scheduledGame, game *referee.GameResult) error {
	s.mu.Lock()
	s.openGames = slices.DeleteFunc(s.openGames, func(o *scheduledGame) bool { return o == g })
	for _, bot := range game.PlayedGame().FaultyBots {
		s.faults[bot] = append(s.faults[bot], g.place)
	}
	s.cond.Broadcast()
	s.mu.Unlock()
	return s.reports.reportGame(game)
}

// voidGame records that the game g does not count, and schedules it to be played again. why is the reason: a
// *StarvedError or a failure of the referee. When the referee has failed in this game maxTries times, voidGame
// returns an error, which ends the match.
func (s *schedule) voidGame(g *scheduledGame, why error) error {
	s.reports.reportVoid(&VoidError{g.deal, g.rotation, why})
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, busy := errors.AsType[*StarvedError](why); busy {
		g.notBefore = time.Now().Add(min(minPause<<min(g.starvations, 16), maxPause))
		g.starvations++
	} else if g.failures++; g.failures == maxTries {
		return fmt.Errorf("deal %d, rotation %d was void %d times: %w", g.deal, g.rotation, g.failures+g.starvations, why)
	}
	g.void = true
	return nil
}
