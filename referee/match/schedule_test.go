package match

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/rules"
)

// plan says which seats fail in which game: it maps "deal/rotation" to seats.
type plan map[string][]int

func drawPlan(t *rapid.T, m *Match) plan {
	p := plan{}
	rate := rapid.IntRange(0, 3).Draw(t, "rate")
	for deal := range m.Deals {
		for rotation := range m.Rotations() {
			for seat := range m.Variant.Players {
				if rapid.IntRange(0, 9).Draw(t, "fails") < rate {
					key := fmt.Sprintf("%d/%d", deal, rotation)
					p[key] = append(p[key], seat)
				}
			}
		}
	}
	return p
}

// outs restates which bots are disqualified from which deal, if the games are played one after the other.
func (p plan) outs(m *Match) map[string][]bool {
	outs := map[string][]bool{}
	faults := make([]int, len(m.Bots))
	for first := 0; first < m.Rotations(); first += parallel(m) {
		for deal := range m.Deals {
			out := make([]bool, len(m.Bots))
			for bot, n := range faults {
				out[bot] = n >= referee.MaxFaults
			}
			for rotation := first; rotation < min(first+parallel(m), m.Rotations()); rotation++ {
				key := fmt.Sprintf("%d/%d", deal, rotation)
				outs[key] = out
				for _, seat := range p[key] {
					faults[rules.BotAt(seat, rotation, len(m.Bots))]++
				}
			}
		}
	}
	return outs
}

// parallel returns the number of rotations that are played at the same time.
func parallel(m *Match) int {
	if m.Resources.ParallelRotations > 0 {
		return m.Resources.ParallelRotations
	}
	return m.Rotations()
}

// finish returns a finished game with the faults of the plan.
func (p plan) finish(m *Match, deal, rotation int) *referee.GameResult {
	g := &referee.GameResult{}
	g.Match = referee.ReplayMatch{Deal: deal, Rotation: rotation}
	for seat := range m.Variant.Players {
		g.Bots = append(g.Bots, rules.BotAt(seat, rotation, len(m.Bots)))
	}
	for _, seat := range p[fmt.Sprintf("%d/%d", deal, rotation)] {
		g.Faults = append(g.Faults, referee.Fault{Seat: seat, Code: protocol.Exit})
	}
	return g
}

func drawMatch(t *rapid.T) *Match {
	players := rapid.IntRange(2, 5).Draw(t, "players")
	return &Match{
		Variant: alone(players),
		Bots:    named(rapid.IntRange(1, players).Draw(t, "bots")),
		Deals:   rapid.IntRange(1, 8).Draw(t, "deals"),
	}
}

// Three faults: who is out of which deal is the same in whatever order the workers
// take and finish games, and some worker can always go on.
func TestLimitsAndFaultsThreeFaultsInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMatch(t)
		p := drawPlan(t, m)
		want := p.outs(m)
		s := newSchedule(m, nil)
		type worker struct {
			rotations []int
			game      *scheduledGame // that it plays
		}
		workers := make([]*worker, rapid.IntRange(1, m.Rotations()).Draw(t, "workers"))
		for i := range workers {
			workers[i] = &worker{}
			for r := i; r < m.Rotations(); r += len(workers) {
				workers[i].rotations = append(workers[i].rotations, r)
			}
		}
		// A worker can go on if it plays, or if next would not wait.
		ready := func(l *worker) bool {
			if l.game != nil {
				return true
			}
			deal := m.Deals
			for _, r := range l.rotations {
				deal = min(deal, s.nextDeal(r))
			}
			_, ok := s.disqualifiedBots(deal)
			return ok && deal < m.Deals
		}
		games := 0
		for {
			able := slices.DeleteFunc(slices.Clone(workers), func(l *worker) bool { return !ready(l) })
			if len(able) == 0 {
				break
			}
			l := able[rapid.IntRange(0, len(able)-1).Draw(t, "worker")]
			if g := l.game; g != nil {
				if err := s.finishGame(g, p.finish(m, g.deal, g.rotation)); err != nil {
					t.Fatal(err)
				}
				l.game = nil
				games++
				continue
			}
			g, err := s.nextGame(t.Context(), l.rotations)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want[fmt.Sprintf("%d/%d", g.deal, g.rotation)], g.disqualifiedBots); diff != "" {
				t.Fatalf("deal %d, rotation %d: who is out (-want +got)\n%s", g.deal, g.rotation, diff)
			}
			l.game = g
		}
		if games != m.Deals*m.Rotations() {
			t.Fatalf("all workers wait after %d of %d games", games, m.Deals*m.Rotations())
		}
	})
}

// The same with goroutines that wait for each other, to the race detector's joy,
// and for a match that goes on from an earlier part of itself, with so many rotations together.
func TestLimitsAndFaultsThreeFaultsAtTheSameTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMatch(t)
		m.Resources.ParallelRotations = rapid.IntRange(0, m.Rotations()).Draw(t, "together")
		p := drawPlan(t, m)
		want := p.outs(m)
		for rotation := range m.Rotations() {
			for deal := range m.Deals {
				if rapid.Bool().Draw(t, "earlier") {
					m.EarlierGames = append(m.EarlierGames, p.finish(m, deal, rotation).PlayedGame())
				}
			}
		}
		s := newSchedule(m, nil)
		var games atomic.Int64
		n := rapid.IntRange(1, m.Rotations()).Draw(t, "workers")
		wrong := make(chan string, m.Deals*m.Rotations())
		for first := 0; first < m.Rotations(); first += parallel(m) {
			s.setRotations(first, min(first+parallel(m), m.Rotations()))
			var group sync.WaitGroup
			for i := range n {
				var mine []int
				for r := s.firstRotation + i; r < s.endRotation; r += n {
					mine = append(mine, r)
				}
				group.Go(func() {
					for len(mine) > 0 {
						g, err := s.nextGame(context.Background(), mine)
						if g == nil || err != nil {
							return
						}
						if !slices.Equal(g.disqualifiedBots, want[fmt.Sprintf("%d/%d", g.deal, g.rotation)]) {
							wrong <- fmt.Sprintf("deal %d, rotation %d: %v", g.deal, g.rotation, g.disqualifiedBots)
						}
						s.finishGame(g, p.finish(m, g.deal, g.rotation))
						games.Add(1)
					}
				})
			}
			group.Wait()
		}
		if len(wrong) > 0 {
			t.Fatal(<-wrong)
		}
		if n := int(games.Load()) + len(m.EarlierGames); n != m.Deals*m.Rotations() {
			t.Fatalf("%d games of %d were played", n, m.Deals*m.Rotations())
		}
	})
}

// A worker that waits goes when the match is called off.
func TestScheduleCalledOff(t *testing.T) {
	m := &Match{Variant: alone(2), Bots: named(2), Deals: 5}
	s := newSchedule(m, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer context.AfterFunc(ctx, s.wake)()
	s.faults[0] = []place{{}, {}} // with one more it is out, so that nobody may go ahead
	g, err := s.nextGame(ctx, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	s.finishGame(g, plan{}.finish(m, 0, 0))
	gone := make(chan error)
	go func() {
		_, err := s.nextGame(ctx, []int{0})
		gone <- err
	}()
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
}

func TestMatchCheck(t *testing.T) {
	good := func() *Match { return &Match{Variant: alone(3), Bots: named(3), Deals: 1, Clock: referee.DefaultClock} }
	for _, c := range []struct {
		name   string
		change func(*Match)
		want   string
	}{
		{"good", func(*Match) {}, ""},
		{"fewer bots than seats", func(m *Match) { m.Bots = named(1) }, ""},
		{"no bots", func(m *Match) { m.Bots = nil }, "match: there are no bots: name at least one"},
		{"too many bots", func(m *Match) { m.Bots = named(4) }, "match: 4 bots are too many for 3 seats"},
		{"no deals", func(m *Match) { m.Deals = 0 }, "match: deals cannot be 0: try 1 or more"},
		{"negative deals", func(m *Match) { m.Deals = -3 }, "match: deals cannot be -3: try 1 or more"},
		{"a name twice", func(m *Match) { m.Bots[2].Name = "bot0" }, `match: two bots have the name "bot0": give each its own`},
		{"a clock of nothing", func(m *Match) { m.Clock = referee.Clock{} }, "clock: neither movetime nor bank is set: set one, such as a movetime of 1000 ms"},
		{"a game of another match", func(m *Match) { m.EarlierGames = []referee.PlayedGame{{Deal: 1}} }, "match: the earlier game of deal 1, rotation 0, is none of its 1 deals and 3 rotations"},
		{"a fault of another match", func(m *Match) { m.EarlierGames = []referee.PlayedGame{{FaultyBots: []int{3}}} }, "match: bot 3 with a fault in an earlier game is none of its 3"},
		{"a rotation of another match", func(m *Match) { m.OnlyRotations = []int{3} }, "match: rotation 3 is none of its 3"},
	} {
		m := good()
		c.change(m)
		got := ""
		if err := m.Check(); err != nil {
			got = err.Error()
			if err := m.Play(t.Context(), nil); err == nil || err.Error() != got {
				t.Errorf("%s: Play says %v", c.name, err)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Duplicate deals: seat s is played by bot (s + R) mod n, every deal is the same in
// all rotations, and no rotation shares a process with another.
func TestDuplicateDeals(t *testing.T) {
	for _, c := range []struct {
		game, options string
		bots          int
	}{
		{"brisca", "players=2", 2},
		{"brisca", "players=4 teams=yes", 2},
		{"brisca", "players=3", 3},
		{"brisca", "players=3", 1},
		{"podrida", "players=5 deck=40", 2},
	} {
		v := variant(t, c.game, c.options)
		bots := named(c.bots)
		var mu sync.Mutex
		started := map[string]int{}
		met := map[*talker]int{} // deals
		hook := starter{}
		for _, b := range bots {
			hook[b.Name] = func() BotConn {
				mu.Lock()
				defer mu.Unlock()
				started[b.Name]++
				c := &talker{}
				c.answer = func(l protocol.RefLine) string {
					if l.Ply < v.Players {
						mu.Lock()
						met[c]++
						mu.Unlock()
					}
					return firstMove(l)
				}
				return c
			}
		}
		m := &Match{Variant: v, Bots: bots, Deals: 3, Seed: rules.Seed{9}, Clock: patient, Resources: Resources{Workers: []int{cores.Any, cores.Any}}, start: hook.start}
		all := playAll(t, m)
		if len(all) != m.Deals*c.bots {
			t.Errorf("%+v: %d games", c, len(all))
		}
		seeds := map[uint64]bool{}
		for _, g := range all {
			if g.Seed != all[g.Match.Deal*c.bots].Seed {
				t.Errorf("%+v: deal %d is not the same in all rotations", c, g.Match.Deal)
			}
			for seat, bot := range g.Bots {
				if want := (seat + g.Match.Rotation) % c.bots; bot != want || g.Seats[seat].Name != bots[want].Name {
					t.Errorf("%+v: rotation %d has bot %d in seat %d", c, g.Match.Rotation, bot, seat)
				}
				seeds[g.Seats[seat].Seed] = true
			}
		}
		if len(seeds) != len(all)*v.Players {
			t.Errorf("%+v: %d seeds of bots in %d games", c, len(seeds), len(all))
		}
		for name, n := range started {
			if n*c.bots != v.Players*m.Rotations() {
				t.Errorf("%+v: %s was started %d times", c, name, n)
			}
		}
		for _, n := range met {
			if n != m.Deals {
				t.Errorf("%+v: a process has met %d deals, want %d", c, n, m.Deals)
			}
		}
	}
}

// An error of done ends the match.
// New processes play a deal whose opening has hidden cards that the processes know; a board hides nothing.
func TestRepeatedOpenings(t *testing.T) {
	first, second := referee.Hex{1}, referee.Hex{2}
	for _, c := range []struct {
		game, options string
		starts        int // of each bot in each rotation, for the seeds 1 2, 1 2, 1 2, 1
	}{{"brisca", "", 4}, {"teeko", "", 1}} {
		v := variant(t, c.game, c.options)
		starts := 0
		m := &Match{Variant: v, Bots: named(2), Deals: 7, Seed: rules.Seed{9}, Clock: patient,
			Openings: []referee.DealOpening{{Seed: &first}, {Seed: &second}},
			start: func(ctx context.Context, b Contestant, w *fairclock.Monitor) (BotConn, error) {
				starts++
				return starter{}.start(ctx, b, w)
			}}
		playAll(t, m)
		if want := 2 * m.Rotations() * c.starts; starts != want {
			t.Errorf("%s: %d starts, want %d", c.game, starts, want)
		}
	}
}

func TestMatchDoneFails(t *testing.T) {
	full := errors.New("no space left on device")
	n := 0
	m := &Match{Variant: variant(t, "brisca", ""), Bots: named(2), Deals: 9, Clock: patient, Resources: Resources{Workers: []int{cores.Any, cores.Any}}, start: starter{}.start}
	if err := m.Play(t.Context(), func(*referee.GameResult) error { n++; return full }); !errors.Is(err, full) {
		t.Errorf("%v, want %v", err, full)
	}
	if n > 2 {
		t.Errorf("done was called %d times after its error", n)
	}
}

// While a game or a trouble is reported, other workers go on.
func TestMatchDoneHoldsNobodyUp(t *testing.T) {
	m := &Match{Variant: alone(2), Bots: named(2), Deals: 2}
	s := newSchedule(m, nil)
	begun := 0
	next := func(rotation int) *scheduledGame {
		begun++
		return kit.Get[*scheduledGame](t)(s.nextGame(t.Context(), []int{rotation}))
	}
	s.reports.onGame = func(*referee.GameResult) error { next(1); return nil }
	s.reports.onTrouble = func(error) { next(1) }
	if err := s.finishGame(next(0), plan{}.finish(m, 0, 0)); err != nil {
		t.Error(err)
	}
	if err := s.voidGame(next(0), errOwn); err != nil {
		t.Error(err)
	}
	if begun != 4 {
		t.Errorf("%d games have begun, want 4", begun)
	}
}
