package referee

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/timba-arena/timba/referee/rules"
)

// Match is a series of deals between the same bots. Each deal is played once for
// every rotation of the bots over the seats, so that the luck of the deal
// cancels; each rotation has processes of its own, so that none meets a deal
// twice.
type Match struct {
	Variant rules.Variant
	Bots    []Bot // they take the seats in turn
	Deals   int
	From    []int // by rotation, how many deals were played earlier; nil for none
	Seed    rules.Seed
	Clock   Clock
	// Lanes are the threads that play at the same time, each with the core that
	// it and its bots share, or AnyCore. More lanes than rotations stay empty.
	Lanes []int
	// Faulted lists, by bot, the deals played earlier in which it had a fault,
	// once for each fault.
	Faulted [][]int

	Meter bool // measure what bots use: Game.Usage, at some 0.1 ms a seat and game

	// Done is called with each finished game, one call at a time. Games of
	// different rotations finish in any order, those of one in order of deals.
	// An error ends the match.
	Done func(*Game) error
	// Void is called when a game is void for a failure of the referee's own and
	// will be played again.
	Void func(deal, rotation int, err error)
	// Trace, if set, sees every line; called from all lanes.
	Trace func(Traffic)

	// start is begin but for tests.
	start func(ctx context.Context, b Bot, scratch, tag string) (conn, error)
}

// AnyCore is a lane that is bound to no core.
const AnyCore = -1

// Rotations is how often each deal is played.
func (m *Match) Rotations() int { return len(m.Bots) }

// botAt is which bot sits at a seat in a rotation.
func (m *Match) botAt(seat, rotation int) int { return (seat + rotation) % len(m.Bots) }

// Check refuses a match that cannot be played.
func (m *Match) Check() error {
	if len(m.Bots) == 0 {
		return fmt.Errorf("match: there are no bots: name at least one")
	}
	if n := m.Variant.Players(); len(m.Bots) > n {
		return fmt.Errorf("match: %d bots are too many for %d seats", len(m.Bots), n)
	}
	if m.Deals < 1 {
		return fmt.Errorf("match: deals cannot be %d: try 1 or more", m.Deals)
	}
	if m.From != nil && len(m.From) != m.Rotations() || len(m.Faulted) > len(m.Bots) {
		return fmt.Errorf("match: what was played earlier is of %d rotations and %d bots, not of %d", len(m.From), len(m.Faulted), len(m.Bots))
	}
	for i, b := range m.Bots {
		if slices.ContainsFunc(m.Bots[:i], func(o Bot) bool { return o.Name == b.Name }) {
			return fmt.Errorf("match: two bots have the name %q: give each its own", b.Name)
		}
	}
	return m.Clock.Check()
}

// Play plays all games. It returns when none of the bots' processes is left. The
// error is the context's, Done's, or a failure of the referee's own that came
// back each time a game was played again.
func (m *Match) Play(ctx context.Context) error {
	if err := m.Check(); err != nil {
		return err
	}
	if m.start == nil {
		m.start = begin
	}
	s := newSchedule(m)
	group, ctx := errgroup.WithContext(ctx)
	lanes := m.Lanes
	if len(lanes) == 0 {
		lanes = []int{AnyCore}
	}
	lanes = lanes[:min(len(lanes), m.Rotations())]
	stop := context.AfterFunc(ctx, s.wake)
	defer stop()
	for i, core := range lanes {
		var rotations []int
		for r := i; r < m.Rotations(); r += len(lanes) {
			rotations = append(rotations, r)
		}
		group.Go(func() error { return m.lane(ctx, s, rotations, core) })
	}
	return group.Wait()
}

// lane plays some of the rotations on one thread, which its bots die with.
func (m *Match) lane(ctx context.Context, s *schedule, rotations []int, core int) error {
	runtime.LockOSThread() // for good: the thread ends with the goroutine
	if err := pin(core); err != nil {
		return err
	}
	tables := make(map[int]*table, len(rotations))
	defer func() {
		grace := byeGrace
		if ctx.Err() != nil {
			grace = stopGrace
		}
		closeAll(grace, slices.Collect(maps.Values(tables))...)
	}()
	for {
		rotation, deal, out, err := s.next(ctx, rotations)
		if err != nil || rotation < 0 {
			return err
		}
		for try := 1; ; try++ {
			if tables[rotation] == nil {
				tables[rotation] = newTable(ctx, m, rotation)
			}
			game, err := tables[rotation].play(deal, out)
			if err == nil {
				if err := s.done(game); err != nil {
					return err
				}
				break
			}
			closeAll(stopGrace, tables[rotation])
			delete(tables, rotation) // what is left of it has met the deal
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if m.Void != nil {
				s.void(deal, rotation, err)
			}
			if try == maxTries {
				return fmt.Errorf("deal %d, rotation %d was void %d times: %w", deal, rotation, try, err)
			}
		}
	}
}

// maxTries is how often a game is played that the referee fails at.
const maxTries = 3

// schedule hands out the games of a match in an order that makes its results the
// same whatever the number of lanes: a bot is out of a deal when it had
// MaxFaults faults in the deals before, in all rotations, so a rotation that is
// ahead waits while that can still change.
type schedule struct {
	match   *Match
	mu      sync.Mutex
	changed *sync.Cond
	coming  []int   // by rotation, the next deal that nobody plays yet
	played  []int   // by rotation, deals finished (all before it are)
	faulted [][]int // by bot, the deals in which it had faults, one entry a fault
}

func newSchedule(m *Match) *schedule {
	s := &schedule{match: m, faulted: make([][]int, len(m.Bots))}
	s.changed = sync.NewCond(&s.mu)
	for rotation := range m.Rotations() {
		from := 0
		if m.From != nil {
			from = m.From[rotation]
		}
		s.coming = append(s.coming, from)
		s.played = append(s.played, from)
	}
	for bot, deals := range m.Faulted {
		s.faulted[bot] = slices.Clone(deals)
	}
	return s
}

func (s *schedule) wake() { // under the lock, so that no waiter misses it
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Broadcast()
}

// next gives the earliest game of some rotations, with the bots that are out of
// it; the rotation is -1 when all are handed out.
func (s *schedule) next(ctx context.Context, rotations []int) (rotation, deal int, out []bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rotation = slices.MinFunc(rotations, func(a, b int) int { return s.coming[a] - s.coming[b] })
	deal = s.coming[rotation]
	if deal >= s.match.Deals {
		return -1, 0, nil, nil
	}
	for {
		if ctx.Err() != nil {
			return 0, 0, nil, ctx.Err()
		}
		if out, ok := s.out(deal); ok {
			s.coming[rotation]++
			return rotation, deal, out, nil
		}
		s.changed.Wait()
	}
}

// out tells which bots are out of a deal; ok is false while games that are still
// to be finished could change that.
func (s *schedule) out(deal int) (out []bool, ok bool) {
	open := 0
	for _, n := range s.played {
		open += max(0, deal-n)
	}
	out = make([]bool, len(s.faulted))
	for bot, deals := range s.faulted {
		n := 0
		for _, d := range deals {
			if d < deal {
				n++
			}
		}
		out[bot] = n >= MaxFaults
		if !out[bot] && n+open*s.seatsOf(bot) >= MaxFaults {
			return nil, false
		}
	}
	return out, true
}

// seatsOf is the most seats that a bot can have in a game.
func (s *schedule) seatsOf(bot int) int {
	n := len(s.match.Bots)
	return (s.match.Variant.Players() + n - 1) / n
}

func (s *schedule) done(g *Game) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.played[g.Match.Rotation]++
	for _, f := range g.Faults {
		bot := g.Bots[f.Seat]
		s.faulted[bot] = append(s.faulted[bot], g.Match.Deal)
	}
	s.changed.Broadcast()
	if s.match.Done == nil {
		return nil
	}
	return s.match.Done(g)
}

func (s *schedule) void(deal, rotation int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.match.Void(deal, rotation, err)
}

// IsCancelled tells whether a match ended because it was called off.
func IsCancelled(err error) bool { return errors.Is(err, context.Canceled) }
