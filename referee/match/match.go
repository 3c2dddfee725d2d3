// Package match plays matches between bots: it starts their processes, sends them lines and reads their answers,
// measures their time, and passes their moves to package referee, which records each game.
//
// Begin with Match. It plays the games in the order of a schedule (schedule.go); in each game, a seat (seat.go)
// handles the turns of one bot. A BotConn exchanges lines with one bot, through pipes or a connection.
package match

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/rules"
)

// Match is a series of deals between the same bots. A deal is what one seed determines, such as the order of the
// cards. Each deal is played once in every rotation, an assignment of the bots to the seats, so that no bot gains by
// lucky cards. No process plays a deal twice: bots have separate processes in each rotation. They also get new ones
// for a deal whose hidden cards they have already seen in an earlier deal with the same opening.
type Match struct {
	Variant   *rules.Variant
	Bots      []Contestant // in the order of the seats in rotation 0
	Deals     int
	FirstDeal int // number of the first deal that is played
	Seed      rules.Seed
	Clock     referee.Clock // of the bots that have no clock of their own
	// Openings are moves with which deals begin before the bots play: deal i begins with Openings[i % len(Openings)].
	// nil means none.
	Openings []referee.DealOpening
	// Adjudication has the rules by which the bots' own scores end games; the zero value has none.
	Adjudication referee.Adjudication
	// EarlierGames are the games that were played before the match was interrupted. They are not played again, but the
	// faults of bots in them count.
	EarlierGames []referee.PlayedGame
	// OnlyRotations are the numbers of the rotations (seatings of the bots) that are played; nil means all.
	OnlyRotations []int
	// Patience is how long the referee waits for the answer of a bot that is already late; time that other programs
	// take does not count. The answer does not count either: only its arrival time is written to the bot's log. 0
	// means not to wait.
	Patience time.Duration

	Resources Resources
	Observer  Observer

	// start starts a bot. nil means startBot; only tests set another function.
	start startFunc
}

// Resources says which part of the machine a match may use. The zero value is one worker thread on any core.
type Resources struct {
	// Workers has an element for each worker, a thread that plays games: the number of the core to which the
	// thread and its bots are bound, or cores.Any. There are never more workers than rotations.
	Workers []int
	// ParallelRotations is the number of rotations (assignments of the bots to the seats) that are played at the same
	// time; 0 means all. The next rotations start when these have played all deals. A bot can be disqualified for its
	// faults in all rotations so far.
	ParallelRotations int
	// Low gives the workers and the bots the lowest priority, so that they do not slow down other matches.
	Low bool
}

// Rotations returns the number of rotations: how many times each deal is played, each time with the bots in other
// seats.
func (m *Match) Rotations() int { return len(m.Bots) }

func (m *Match) endDeal() int { return m.FirstDeal + m.Deals }

func (m *Match) botClock(bot int) referee.Clock {
	if own := m.Bots[bot].Clock; own != nil {
		return *own
	}
	return m.Clock
}

// Check returns an error if the match cannot be played.
func (m *Match) Check() error {
	if len(m.Bots) == 0 {
		return fmt.Errorf("match: there are no bots: name at least one")
	}
	if n := m.Variant.Players; len(m.Bots) > n {
		return fmt.Errorf("match: %d bots are too many for %d seats", len(m.Bots), n)
	}
	if m.Deals < 1 {
		return fmt.Errorf("match: deals cannot be %d: try 1 or more", m.Deals)
	}
	if m.FirstDeal < 0 {
		return fmt.Errorf("match: the first deal cannot be %d: try 0 or more", m.FirstDeal)
	}
	for _, p := range m.EarlierGames {
		if p.Deal < m.FirstDeal || p.Deal >= m.endDeal() || p.Rotation < 0 || p.Rotation >= m.Rotations() {
			return fmt.Errorf("match: the earlier game of deal %d, rotation %d, is none of its %d deals and %d rotations", p.Deal, p.Rotation, m.Deals, m.Rotations())
		}
		for _, bot := range p.FaultyBots {
			if bot < 0 || bot >= len(m.Bots) {
				return fmt.Errorf("match: bot %d with a fault in an earlier game is none of its %d", bot, len(m.Bots))
			}
		}
	}
	for _, r := range m.OnlyRotations {
		if r < 0 || r >= m.Rotations() {
			return fmt.Errorf("match: rotation %d is none of its %d", r, m.Rotations())
		}
	}
	for i, b := range m.Bots {
		if slices.ContainsFunc(m.Bots[:i], func(o Contestant) bool { return o.Name == b.Name }) {
			return fmt.Errorf("match: two bots have the name %q: give each its own", b.Name)
		}
		if b.Clock == nil {
			continue
		}
		if err := b.Clock.Check(); err != nil {
			return fmt.Errorf("match: bot %q: %w", b.Name, err)
		}
	}
	if err := m.Adjudication.Check(); err != nil {
		return err
	}
	return m.Clock.Check()
}

// PlayGame plays a single game: the first deal in the first rotation. It ignores the fields Deals and OnlyRotations.
func (m *Match) PlayGame(ctx context.Context) (game *referee.GameResult, err error) {
	one := *m
	one.Deals, one.OnlyRotations = 1, []int{0}
	err = one.Play(ctx, func(g *referee.GameResult) error {
		game = g
		return nil
	})
	return game, err
}

// Play plays all games, and returns when the processes of all bots have ended. It calls done, which may be nil, with
// each finished game; it never makes two of these calls at the same time. Games may finish out of order: a game that
// does not count is played again later.
//
// Play returns the error of Check, the error of ctx, the first error of done, which ends the match, or the failure of
// the referee in a game that has failed in every try.
func (m *Match) Play(ctx context.Context, done func(*referee.GameResult) error) error {
	if err := m.Check(); err != nil {
		return err
	}
	s := newSchedule(m, done)
	concurrent := m.Rotations()
	if n := m.Resources.ParallelRotations; n > 0 {
		concurrent = min(concurrent, n)
	}
	for first := 0; first < m.Rotations(); first += concurrent {
		s.setRotations(first, min(first+concurrent, m.Rotations()))
		if err := m.playRotations(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// playRotations plays all games that the schedule currently allows, in the threads of the match's workers.
func (m *Match) playRotations(ctx context.Context, s *schedule) error {
	group, ctx := errgroup.WithContext(ctx)
	workers := m.Resources.Workers
	if len(workers) == 0 {
		workers = []int{cores.Any}
	}
	workers = workers[:min(len(workers), s.endRotation-s.firstRotation)]
	players := &fairclock.Players{Low: m.Resources.Low}
	stop := context.AfterFunc(ctx, s.wake)
	defer stop()
	for i, core := range workers {
		var rotations []int
		for r := s.firstRotation + i; r < s.endRotation; r += len(workers) {
			rotations = append(rotations, r)
		}
		group.Go(func() error { return m.worker(ctx, s, rotations, core, players) })
	}
	return group.Wait()
}

// lowestPriority is the nice value with the lowest priority.
const lowestPriority = 19

// worker plays games on one thread, which it binds to the given core, until no game of the given rotations
// (assignments of bots to seats) is left. players has the processes of all bots of the match. The bots end with the
// thread.
func (m *Match) worker(ctx context.Context, s *schedule, rotations []int, core int, players *fairclock.Players) error {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	if err := cores.Bind(core); err != nil {
		return fmt.Errorf("%w: try --affinity=off", err)
	}
	if m.Resources.Low {
		if err := cores.Lower(lowestPriority); err != nil {
			return err
		}
	}
	monitor := fairclock.Open(core, players)
	defer monitor.Close()
	busy := func() { s.reports.reportBusy(monitor.Busy()) }
	playing := make(map[int]*rotation, len(rotations))
	defer func() {
		grace := byeGrace
		if ctx.Err() != nil {
			grace = stopGrace
		}
		var seats []*seat
		for _, r := range playing {
			seats = append(seats, r.seats...)
		}
		stopAll(grace, seats)
	}()
	for {
		g, err := s.nextGame(ctx, rotations)
		if err != nil || g == nil {
			return err
		}
		r := playing[g.rotation]
		if r != nil && r.knowsCards(g.deal) {
			stopAll(byeGrace, r.seats)
			r = nil
		}
		if r == nil {
			r = newRotation(ctx, m, g.rotation, monitor, busy)
			playing[g.rotation] = r
		}
		result, err := r.playDeal(g.deal, g.disqualifiedBots)
		if err == nil {
			if err := s.finishGame(g, result); err != nil {
				return err
			}
			continue
		}
		stopAll(stopGrace, r.seats)
		delete(playing, g.rotation) // the processes must not play the deal again
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.voidGame(g, err); err != nil {
			return err
		}
	}
}

// OwnTime adds up how much time the bots of a match took for their moves, without the time that other programs took.
// The match must have only one worker. To use it, set Observer.Watch to the method Watch. Games that do not count are
// left out.
type OwnTime struct {
	Bots int // if positive, the number of bots of the match; then only the moves of Bot count
	Bot  int // the index of a bot of the match

	finishedGames, currentGame time.Duration
}

// Watch adds the time that the bot took for the last move of g. Use it as Observer.Watch.
func (o *OwnTime) Watch(g *referee.Game) {
	n := len(g.Record.Moves)
	switch {
	case n == 0:
		o.currentGame = 0
	case g.HasEnded():
		o.finishedGames, o.currentGame = o.finishedGames+o.currentGame, 0
	default:
		if m := g.Record.Moves[n-1]; o.Bots == 0 || rules.BotAt(m.Seat, g.Record.Match.Rotation, o.Bots) == o.Bot {
			o.currentGame += m.OwnTime()
		}
	}
}

// Sum returns the total time over the finished games and the current game.
func (o *OwnTime) Sum() time.Duration { return o.finishedGames + o.currentGame }
