package match

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/rules"
)

// broken is a connection that fails from some call on, without the bot being at fault.
type broken struct {
	BotConn
	calls int // that go well
	err   error
}

func (c *broken) failing() bool {
	c.calls--
	return c.calls < 0
}

func (c *broken) Send(lines []byte, deadline time.Time) (int, error) {
	if c.failing() {
		return 0, c.err
	}
	return c.BotConn.Send(lines, deadline)
}

func (c *broken) Line(now, deadline time.Time) ([]byte, time.Time, error) {
	if c.failing() {
		return nil, now, c.err
	}
	return c.BotConn.Line(now, deadline)
}

var errOwn = errors.New("match: a pipe to bot1: too many open files")

// The referee's own failure: the game is void, that is said, and it is played
// again, by fresh processes; no bot loses by it.
func TestLimitsAndFaultsOwnFailure(t *testing.T) {
	v := variant(t, "brisca", "")
	honest := &Match{Variant: v, Bots: named(2), Deals: 3, Seed: rules.Seed{5}, Clock: patient, start: starter{}.start}
	var want []string
	for _, g := range playAll(t, honest) {
		want = append(want, timeless(g))
	}
	// Each failure is at another call of a process, the first at its start.
	for calls := -1; calls < 150; calls += 1 + calls/10 {
		m := *honest
		starts := 0
		m.start = func(ctx context.Context, b Contestant, w *fairclock.Monitor) (BotConn, error) {
			starts++
			if starts == 2 && calls < 0 {
				return nil, errOwn
			}
			c, err := starter{}.start(ctx, b, w)
			if starts == 2 {
				c = &broken{c, calls, errOwn}
			}
			return c, err
		}
		r := keep(&m)
		if err := m.Play(t.Context(), r.add); err != nil {
			t.Fatal(err)
		}
		if len(r.voids) != 1 || !strings.HasSuffix(r.voids[0], ": "+errOwn.Error()) {
			t.Fatalf("after %d calls: voids are %q", calls, r.voids)
		}
		if starts < 4 {
			t.Errorf("after %d calls: %d starts: the game was played again by the same processes", calls, starts)
		}
		slices.SortFunc(r.games, func(a, b *referee.GameResult) int {
			return 2*(a.Match.Deal-b.Match.Deal) + a.Match.Rotation - b.Match.Rotation
		})
		var got []string
		for _, g := range r.games {
			g.Reveal(m.Seed)
			got = append(got, timeless(g))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("after %d calls: (-want +got)\n%s", calls, diff)
		}
		emptyTemp(t)
	}
}

// emptyTemp checks that no temporary directory of a bot is left.
func emptyTemp(t testing.TB) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "timba-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range left {
		t.Errorf("the directory %s is left", dir)
	}
}

// A failure that comes back each time ends the match.
func TestLimitsAndFaultsOwnFailureStays(t *testing.T) {
	for name, hook := range map[string]startFunc{
		"start": func(context.Context, Contestant, *fairclock.Monitor) (BotConn, error) { return nil, errOwn },
		"conn": func(ctx context.Context, b Contestant, w *fairclock.Monitor) (BotConn, error) {
			c, err := starter{}.start(ctx, b, w)
			return &broken{c, 4, errOwn}, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := &Match{Variant: variant(t, "brisca", ""), Bots: named(2), Deals: 3, Clock: patient, start: hook}
			r := keep(m)
			err := m.Play(t.Context(), r.add)
			if !errors.Is(err, errOwn) || !strings.HasPrefix(err.Error(), "deal 0, rotation 0 was void 3 times: ") {
				t.Errorf("the match ends with %v", err)
			}
			if len(r.voids) != maxTries || len(r.games) != 0 {
				t.Errorf("%d voids and %d games", len(r.voids), len(r.games))
			}
			emptyTemp(t)
		})
	}
}

// brittle makes the rules panic at one place of a game.
type brittle struct {
	where string
	times *atomic.Int32 // that it still will
}

// rules returns a variant whose rules panic.
func (b brittle) rules(v rules.Variant) *rules.Variant {
	deal := v.Deal
	v.Deal = func(s *rules.Stream) rules.State {
		b.crack("deal")
		return brittleState{deal(s), b}
	}
	return &v
}

func (b brittle) crack(where string) {
	if where == b.where && b.times.Add(-1) >= 0 {
		panic("index out of range in " + where)
	}
}

type brittleState struct {
	rules.State
	game brittle
}

func (s brittleState) LogStart(l *rules.Log) { s.game.crack("start"); s.State.LogStart(l) }
func (s brittleState) Legal(dst []rules.Move) []rules.Move {
	s.game.crack("legal")
	return s.State.Legal(dst)
}
func (s brittleState) View(dst []byte, seat int) []byte {
	s.game.crack("view")
	return s.State.View(dst, seat)
}
func (s brittleState) Apply(m rules.Move, l *rules.Log) {
	if s.Ply() == 7 {
		s.game.crack("apply")
	}
	s.State.Apply(m, l)
}
func (s brittleState) Points() []float64 { s.game.crack("points"); return s.State.Points() }

// A panic of the rules is the referee's own failure as well.
func TestLimitsAndFaultsPanic(t *testing.T) {
	for _, where := range []string{"deal", "start", "legal", "view", "apply", "points"} {
		for times := 1; times <= maxTries; times += maxTries - 1 {
			t.Run(fmt.Sprint(where, times), func(t *testing.T) {
				var n atomic.Int32
				n.Store(int32(times))
				m := &Match{Variant: brittle{where, &n}.rules(*variant(t, "brisca", "")), Bots: named(2), Deals: 1, Clock: patient, start: starter{}.start}
				r := keep(m)
				err := m.Play(t.Context(), r.add)
				for _, v := range r.voids {
					if want := "0.0: match: panic in deal 0, rotation 0: index out of range in " + where; v != want {
						t.Errorf("void: %q, want %q", v, want)
					}
				}
				if len(r.voids) != times {
					t.Errorf("%d voids, want %d", len(r.voids), times)
				}
				if (err != nil) != (times == maxTries) {
					t.Errorf("the match ends with %v", err)
				}
				for _, g := range r.games {
					if len(g.Faults) > 0 {
						t.Errorf("a bot has a fault: %v", g.Faults)
					}
				}
				emptyTemp(t)
			})
		}
	}
}

// A match that is called off ends although its bots would go on, and says so.
func TestMatchCalledOff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := &Match{Variant: variant(t, "teeko", "limit=0"), Bots: named(2), Deals: 1, Clock: patient, Resources: Resources{Workers: []int{cores.Any, cores.Any}}}
	m.start = starter{"bot0": func() BotConn {
		return &talker{answer: func(l protocol.RefLine) string {
			if l.Ply >= 20 {
				cancel()
			}
			return firstMove(l)
		}}
	}}.start
	r := keep(m)
	if err := m.Play(ctx, r.add); !errors.Is(err, context.Canceled) {
		t.Errorf("the match ends with %v", err)
	}
	if len(r.voids) > 0 || len(r.games) > 0 {
		t.Errorf("voids %q, %d games", r.voids, len(r.games))
	}
	emptyTemp(t)
}
