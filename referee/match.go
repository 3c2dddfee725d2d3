package referee

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/timba-arena/timba/referee/rules"
)

// Match is a series of deals between the same bots. Each deal is played once for every
// rotation of the bots over the seats, so that the luck of the deal cancels out. Each
// rotation has separate processes, so that no process sees a deal twice.
type Match struct {
	Variant rules.Variant
	Bots    []Bot // rotated over the seats
	Deals   int
	From    []int // by rotation, how many deals were played before a resume; nil for none
	Seed    rules.Seed
	Clock   Clock // of the bots that have no clock of their own
	// Adjudication ends games by the bots' own scores; the zero value ends none.
	Adjudication Adjudication
	// Workers has an entry for each thread that plays games: the core of the worker and
	// its bots, or AnyCore. Workers in excess of the rotations have nothing to do.
	Workers []int
	// Together is how many rotations have processes at the same time; 0 for all. The
	// others wait until those have played all deals: what a bot did in the rotations
	// before then counts as if their deals came earlier.
	Together int
	// Faulted has, by bot, the deal of each fault before a resume.
	Faulted [][]int

	// Low gives the workers and the bots the lowest priority: other matches keep their speed.
	Low bool

	Meter bool // set Game.Usage, at a cost of about 0.1 ms for each seat and game

	// Done is called with each finished game, one call at a time. Games of one rotation
	// finish in order of deals, different rotations in any order. An error ends the
	// match.
	Done func(*Game) error
	// Yield, if set, is called before every turn, while no clock runs. The match waits
	// until it returns; an error ends the match. Called from all workers.
	Yield func(context.Context) error
	// Void is called if a game is void because the referee failed. It is played again.
	Void func(deal, rotation int, err error)
	// Trace, if set, receives every line. It is called from all workers.
	Trace func(Traffic)
	// Watch, if set, receives each position of each game as it comes; nil costs nothing. It is
	// called from all workers, while no clock runs, and the game waits until it returns.
	Watch func(Position)

	// start is begin, except in tests.
	start func(ctx context.Context, b Bot, scratch, tag string) (conn, error)
}

// AnyCore is the core of a worker that is not bound to a core.
const AnyCore = -1

// Rotations returns the number of rotations, which is how often each deal is played.
func (m *Match) Rotations() int { return len(m.Bots) }

// clock returns the clock of a bot.
func (m *Match) clock(bot int) Clock {
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
	if n := m.Variant.Players(); len(m.Bots) > n {
		return fmt.Errorf("match: %d bots are too many for %d seats", len(m.Bots), n)
	}
	if m.Deals < 1 {
		return fmt.Errorf("match: deals cannot be %d: try 1 or more", m.Deals)
	}
	if m.From != nil && len(m.From) != m.Rotations() || len(m.Faulted) > len(m.Bots) {
		return fmt.Errorf("match: the earlier games have %d rotations and %d bots, not %d", len(m.From), len(m.Faulted), len(m.Bots))
	}
	for i, b := range m.Bots {
		if slices.ContainsFunc(m.Bots[:i], func(o Bot) bool { return o.Name == b.Name }) {
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

// Play plays all games, and returns when all of the bots' processes have ended. The error
// is the context's, Done's, or a failure of the referee that repeated each time a game
// was played again.
func (m *Match) Play(ctx context.Context) error {
	if err := m.Check(); err != nil {
		return err
	}
	if m.start == nil {
		m.start = begin
	}
	s := newSchedule(m)
	together := m.Rotations()
	if m.Together > 0 {
		together = min(together, m.Together)
	}
	for first := 0; first < m.Rotations(); first += together {
		s.begin(first, min(first+together, m.Rotations()))
		if err := m.playRotations(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// playRotations plays the rotations that the schedule is at.
func (m *Match) playRotations(ctx context.Context, s *schedule) error {
	group, ctx := errgroup.WithContext(ctx)
	workers := m.Workers
	if len(workers) == 0 {
		workers = []int{AnyCore}
	}
	workers = workers[:min(len(workers), s.last-s.first)]
	stop := context.AfterFunc(ctx, s.wake)
	defer stop()
	for i, core := range workers {
		var rotations []int
		for r := s.first + i; r < s.last; r += len(workers) {
			rotations = append(rotations, r)
		}
		group.Go(func() error { return m.worker(ctx, s, rotations, core) })
	}
	return group.Wait()
}

// worker plays some of the rotations on one thread, with which its bots end.
func (m *Match) worker(ctx context.Context, s *schedule, rotations []int, core int) error {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	if err := pin(core); err != nil {
		return err
	}
	if m.Low {
		if err := lower(); err != nil {
			return err
		}
	}
	var account *account
	if !m.Low { // others come first there
		account = openAccount(core)
		defer account.close()
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
		for tries := (tries{}); ; {
			if tables[rotation] == nil {
				tables[rotation] = newTable(ctx, m, rotation, account)
			}
			game, err := tables[rotation].play(deal, out)
			if err == nil {
				if err := s.done(game); err != nil {
					return err
				}
				break
			}
			closeAll(stopGrace, tables[rotation])
			delete(tables, rotation) // its processes have seen the deal
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if m.Void != nil {
				s.void(deal, rotation, err)
			}
			if err := tries.again(ctx, err); err != nil {
				return fmt.Errorf("deal %d, rotation %d was void %d times: %w", deal, rotation, tries.failed+tries.starved, err)
			}
		}
	}
}

// A game is tried at most maxTries times in total if the referee fails, and maxStarved times
// if its bots do not have the processor.
const (
	maxTries   = 3
	maxStarved = 5
)

// tries counts how often a game was void.
type tries struct{ failed, starved int }

// again counts a void game. It returns its error if the game is not tried again. A core that
// others use is left to them for a second at first, and then for twice as long each time.
func (t *tries) again(ctx context.Context, err error) error {
	var s *Starved
	if !errors.As(err, &s) {
		if t.failed++; t.failed == maxTries {
			return err
		}
		return nil
	}
	if t.starved++; t.starved == maxStarved {
		return err
	}
	select {
	case <-time.After(time.Second << (t.starved - 1)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// schedule assigns the games of a match, in an order that makes the results independent of
// the number of workers: a bot is disqualified from a deal if it had MaxFaults faults in
// the earlier deals of all rotations, so a rotation that is ahead waits while that can
// still change.
type schedule struct {
	match   *Match
	mu      sync.Mutex
	changed *sync.Cond
	first   int     // of the rotations that are played together
	last    int     // behind them
	coming  []int   // by rotation, the next deal to assign
	played  []int   // by rotation, the number of finished deals
	faulted [][]int // by bot, the deal of each fault
}

func newSchedule(m *Match) *schedule {
	s := &schedule{match: m, last: m.Rotations(), faulted: make([][]int, len(m.Bots))}
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

// begin goes on to the rotations from first up to last.
func (s *schedule) begin(first, last int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first > 0 {
		for _, deals := range s.faulted {
			for i := range deals {
				deals[i] = -1 // before any deal of theirs
			}
		}
	}
	s.first, s.last = first, last
}

func (s *schedule) wake() { // under the lock, so that no waiter misses it
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Broadcast()
}

// next returns the earliest game of some rotations, with the bots that are disqualified
// from it; the rotation is -1 if all are assigned.
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

// out returns which bots are disqualified from a deal; ok is false while unfinished games
// can change that.
func (s *schedule) out(deal int) (out []bool, ok bool) {
	open := 0
	for _, n := range s.played[s.first:s.last] {
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

// seatsOf returns the maximum number of seats of a bot in a game.
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

// IsCancelled reports whether a match ended because it was cancelled.
func IsCancelled(err error) bool { return errors.Is(err, context.Canceled) }
