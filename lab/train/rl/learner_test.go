//go:build !race || slowrace

package rl

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/lab/train/run/runtest"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// stones is a game with a known solution (a variant of Nim). Two seats take one to three stones in turn;
// taking the last one wins a point. The seat to move loses if the number of stones is a multiple of four;
// otherwise it should leave such a number.
type stones struct {
	left, seat, ply int
	votes           bool // what View.Abs has is whether stones are many
}

const mostStones = 13

func (g *stones) Players() int { return 2 }

func (g *stones) Deal(episode int, _ *rules.Rand) {
	*g = stones{left: 1 + episode%mostStones, votes: g.votes}
}

func (g *stones) Turn() int {
	if g.left == 0 {
		return rules.Over
	}
	return g.seat
}

func stonesKey(left int) policy.Key { return spread(uint64(left)) }

func (g *stones) Observe(s *policy.View) {
	s.Legal = 0b1110 & (1<<(g.left+1) - 1)
	if s.Key = stonesKey(g.left); g.votes {
		s.FallbackKey = spread(uint64(100 + g.left/8))
		s.Key = s.Key.WithShardOf(s.FallbackKey)
	}
}

func (g *stones) TricksEnded() int { return g.ply }

func (g *stones) Play(_ *policy.View, action uint8, _ bool) {
	g.left -= int(action)
	g.seat = 1 - g.seat
	g.ply++
}

func (g *stones) Score(seat int) int {
	switch {
	case g.left > 0:
		return 0
	case seat != g.seat: // took the last
		return 1
	}
	return -1
}

func (g *stones) Order(s *policy.View) (order uint64) {
	for action := uint64(3); action > 0; action-- {
		if s.Legal>>action&1 != 0 {
			order = order<<policy.ActionBits | action
		}
	}
	return order
}

func (g *stones) Reward(seat int) int                            { return g.Score(seat) }
func (g *stones) Side(seat int) int                              { return seat }
func (g *stones) Standing(seat int) int                          { return g.Score(seat) }
func (g *stones) HeuristicValue(_ *policy.View, a uint8) float64 { return float64(a) }

func stonesConfig(episodes int) Config {
	c := Default("")
	c.Variant, c.Episodes, c.Memory, c.Batch = policy.OneState, episodes, 2, 128
	return c
}

func TestLearnsKnownSolution(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"every visit":  func(*Config) {},
		"won":          func(c *Config) { c.Reward = RewardWon },
		"several":      func(c *Config) { c.Agents, c.Episodes = 3, 60_000 },
		"least step":   func(c *Config) { c.MinStep = 0.01 },
		"later counts": func(c *Config) { c.Gamma = 0.9 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := stonesConfig(20_000)
			c.Epsilon, c.EpsilonDecay = 0.5, 0
			change(&c)
			l := train(t, c, 2, func() Environment { return new(stones) })
			for agent := range l.agents {
				for left := 1; left <= mostStones; left++ {
					g := stones{left: left}
					var s policy.View
					g.Observe(&s)
					action, known := l.agents[agent].Choose(&s, rules.NewRand(1))
					if !known || left%4 != 0 && int(action) != left%4 {
						t.Errorf("agent %d takes %d of %d stones, known %t", agent, action, left, known)
					}
				}
			}
		})
	}
}

// TestLearnsValues checks that with random play the means approach the exact values of the game tree.
func TestLearnsValues(t *testing.T) {
	c := stonesConfig(100_000)
	c.Epsilon, c.EpsilonDecay = 1, 0
	l := train(t, c, 2, func() Environment { return new(stones) })
	var value [mostStones + 1]float64 // of the seat to move
	for left := 1; left <= mostStones; left++ {
		moves := min(3, left)
		for take := 1; take <= moves; take++ {
			want := 1.0
			if take < left {
				want = -value[left-take]
			}
			value[left] += want / float64(moves)
			p, ok := l.states[0].Find(stonesKey(left), uint8(take))
			if diff := float64(p.Mean) - want; !ok || diff > 0.05 || diff < -0.05 {
				t.Errorf("%d of %d stones: %+v, not a mean of %.3f", take, left, p, want)
			}
		}
	}
}

// TestPublishedPolicy checks which action a table keeps for a state with the legal actions 3, 1 and 2, in this order.
func TestPublishedPolicy(t *testing.T) {
	for _, c := range []struct {
		name    string
		means   map[uint8]float32
		defects []string
		epsilon float64
		want    []uint8 // the actions that can be kept
	}{
		{"the best", map[uint8]float32{1: 2, 2: 3}, []string{DefectStored}, 0, []uint8{2}},
		{"one of the best", map[uint8]float32{1: 2, 2: 2, 3: 0}, []string{DefectStored}, 0, []uint8{1, 2}},
		{"untried", map[uint8]float32{2: -1}, []string{DefectStored}, 0, []uint8{1, 3}},
		{"all are tried", map[uint8]float32{1: -3, 2: -2, 3: -4}, []string{DefectStored}, 0, []uint8{2}},
		{"random", map[uint8]float32{2: 5}, []string{DefectStored}, 1, []uint8{1, 2, 3}},
		{"random only where it is stored", map[uint8]float32{1: 1, 2: 5, 3: 0}, []string{DefectPlace}, 1, []uint8{2}},
		{"the first of one", map[uint8]float32{2: 5}, []string{DefectPlace}, 0, []uint8{3}},
		{"the second of two", map[uint8]float32{3: 0, 2: 5}, []string{DefectPlace}, 0, []uint8{1}},
		{"not the first, tried or not", map[uint8]float32{2: -5}, []string{DefectPlace}, 0, []uint8{1, 2}},
	} {
		table, r := NewTable(testMemory), rules.NewRand(1)
		table.KeepsPolicy, table.UntriedAsZero = true, true
		for action, mean := range c.means {
			table.Learn(spread(1), action, mean, 0)
		}
		config := Config{Defects: c.defects}
		u := Update{Key: spread(1), Legal: 0b1110, Order: 3 | 1<<policy.ActionBits | 2<<(2*policy.ActionBits)}
		seen := map[uint8]bool{}
		for range 100 {
			table.Keep(u.Key, config.publishedAction(table, &u, c.epsilon, r))
			action, known := table.Best(u.Key, u.Legal)
			if seen[action] = true; !known {
				t.Errorf("%s: the state is not known", c.name)
			}
		}
		if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", c.name, got, c.want)
		}
		for action, mean := range c.means {
			if p, ok := table.Find(spread(1), action); !ok || p.Mean != mean {
				t.Errorf("%s: action %d has the mean %v, not %v", c.name, action, p.Mean, mean)
			}
		}
	}
}

// TestResume checks that a learner that is saved and loaded learns the same as one that continues, and that
// an interrupted batch changes nothing.
func TestResume(t *testing.T) {
	c := Default("tute3")
	c.Variant, c.Episodes, c.Batch, c.Memory = policy.ManyStates, 900, 200, 4
	whole := train(t, c, 2, CardGames(c))
	part := New(c, 2, CardGames(c))
	for part.Episodes < 400 {
		kit.Must(t, part.Step(t.Context()))
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := part.Step(ended); err == nil || part.Episodes != 400 {
		t.Errorf("a batch in a context that has ended: %v, %d episodes", err, part.Episodes)
	}
	var saved bytes.Buffer
	kit.Must(t, part.Save(&saved))
	data := bytes.Clone(saved.Bytes())
	again := New(c, 3, CardGames(c))
	kit.Must(t, again.Load(&saved))
	for again.Episodes < again.config.Episodes {
		kit.Must(t, again.Step(t.Context()))
	}
	if !bytes.Equal(written(t, whole), written(t, again)) {
		t.Error("the model differs")
	}
	for _, n := range []int{0, 7, 12, len(data) / 2, len(data) - 1} {
		if err := New(c, 1, CardGames(c)).Load(bytes.NewReader(data[:n])); err == nil {
			t.Errorf("%d bytes of %d are loaded", n, len(data))
		}
	}
}

// TestResumeRun checks that an interruption between two lines of metrics does not change the files.
func TestResumeRun(t *testing.T) {
	c := Default("brisca2")
	c.Keys, c.Episodes, c.Batch, c.Memory, c.Epsilon = allKeys[3], 200, 3, 4, 0.5 // a line each 4 episodes
	runtest.CheckDeterminism(t, &c)
	c.Keys, c.Defects = allKeys[1], []string{DefectStored, DefectPlace}
	runtest.CheckDeterminism(t, &c)
}

// TestVotes checks that the votes are the numbers of states by best action.
func TestVotes(t *testing.T) {
	c := stonesConfig(5_000)
	c.Variant, c.Epsilon, c.EpsilonDecay = policy.ManyStates, 0.5, 0
	l := train(t, c, 2, func() Environment { return &stones{votes: true} })
	want := map[plainPair]int{}
	for left := 1; left <= mostStones; left++ {
		g := stones{left: left, votes: true}
		var s policy.View
		g.Observe(&s)
		best, known := l.states[0].Best(s.Key, s.Legal)
		if !known {
			t.Fatalf("%d stones are not known", left)
		}
		want[plainPair{s.FallbackKey, best}]++
	}
	got := map[plainPair]int{}
	for p := range l.votes[0].All() {
		if p.Count > 0 {
			got[plainPair{p.Key, p.Action}] = int(p.Count)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("votes %v, not %v", got, want)
	}
	// An unknown state uses the votes. Without votes the action is random.
	s := policy.View{Key: spread(999), FallbackKey: spread(100), Legal: 0b1110}
	best, _ := l.votes[0].Best(s.FallbackKey, s.Legal)
	if action, known := l.agents[0].Choose(&s, rules.NewRand(1)); known || action != best {
		t.Errorf("falls back on %d, not on %d", action, best)
	}
	seen := map[uint8]bool{}
	s.FallbackKey = spread(998)
	for r := rules.NewRand(1); len(seen) < 3; {
		action, _ := l.agents[0].Choose(&s, r)
		seen[action] = true
	}
}

// TestMemory checks that the tables of a learner stay within its memory limit.
func TestMemory(t *testing.T) {
	c := Default("brisca2")
	c.Variant, c.Agents, c.Episodes, c.Memory = policy.ManyStates, 2, 2000, 1
	l := train(t, c, 2, CardGames(c))
	if l.Rejections() == 0 || l.Bytes() > 1<<20 {
		t.Errorf("%d turned away, %d bytes", l.Rejections(), l.Bytes())
	}
}
