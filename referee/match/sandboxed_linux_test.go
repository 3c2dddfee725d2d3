//go:build !race

package match

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/internal/script"
	"github.com/timba-arena/timba/sample-bots/misbehave/faults"
)

// process plays a script by a real process, in a sandbox unless h is nil.
func (s scene) process(t testing.TB, sc script.Script, h *Sandbox) *referee.GameResult {
	t.Helper()
	f := kit.Get[*os.File](t)(os.CreateTemp(builds, "script-"))
	defer os.Remove(f.Name())
	defer f.Close()
	kit.Must(t, json.NewEncoder(f).Encode(sc))
	kit.Must(t, f.Chmod(0o644))
	want := foretell(s.variant, referee.DealSeed(s.seed, 0), s.seat, sc)
	m := &Match{Variant: s.variant, Bots: named(s.variant.Players), Deals: 1, Seed: s.seed, Clock: patient}
	m.start = func(ctx context.Context, b Contestant, w *fairclock.Monitor) (BotConn, error) {
		late := waits(want, sc)
		if late { // whatever the kernel tells
			w = nil
		}
		c, err := starter{}.start(ctx, b, w)
		if p, ok := c.(*process); ok && err == nil && late {
			return &overdue{process: p, word: script.Handled, each: true}, nil
		}
		return c, err
	}
	m.Bots[s.seat].Command = testBot(t, "script", f.Name())
	m.Bots[s.seat].Dir, m.Bots[s.seat].Sandbox = builds, h
	return oneGame(t, m)
}

// waits reports whether the referee waits for more at the end of a script.
func waits(want *referee.Fault, sc script.Script) bool {
	return want != nil && (want.Code == protocol.Timeout || want.Code == protocol.Startup && !exits(sc))
}

// Limits and faults by real processes. Whatever holds a bot, the same script comes to the same
// replay, with the same fault in the same words, as a bare process does.
func TestLimitsAndFaultsMutationsSandboxed(t *testing.T) {
	kit.Slow(t)
	all := scenes(t)
	left := nothingLeft(t)
	rng := rand.New(rand.NewPCG(5, 6))
	ends := map[protocol.Code]int{}
	scripts := 40
	if kit.Soak {
		scripts = 200
	}
	for i := range scripts {
		s := all[i%len(all)]
		sc := mutate(rng, s.true)
		want := foretell(s.variant, referee.DealSeed(s.seed, 0), s.seat, sc)
		if want != nil {
			ends[want.Code]++
		}
		bare := s.process(t, sc, nil)
		s.judge(t, sc, want, bare, nil)
		if i%4 > 0 {
			continue
		}
		for _, h := range holds(t, false) {
			if got := s.process(t, sc, h.sandbox); timeless(got) != timeless(bare) {
				t.Fatalf("%s: the replay is\n%s\nwant\n%s\n%v", h.name, timeless(got), timeless(bare), sc)
			}
		}
	}
	left()
	t.Log(ends)
}

// Limits and faults: every way to misbehave comes to the same fault, in the same
// words, whatever holds the bot; what it leaves goes with it.
func TestLimitsAndFaultsSandboxed(t *testing.T) {
	misbehave(t)
	left := nothingLeft(t)
	t.Run("all", func(t *testing.T) {
		var group sync.WaitGroup
		room := make(chan struct{}, 6)
		levels := holds(t, false)
		if !kit.Soak {
			levels = levels[:1]
		}
		for _, h := range levels {
			for _, f := range faults.All {
				group.Go(func() {
					room <- struct{}{}
					defer func() { <-room }()
					checkSandboxed(t, f, h)
				})
			}
		}
		group.Wait()
	})
	left()
}

// checkSandboxed plays a game with a bot that misbehaves.
func checkSandboxed(t *testing.T, f faults.Fault, h held) {
	bots := real(misbehave(t, "--fault", f.Name, "--at=4", "--tell"), nil)
	bots[0].Dir, bots[0].Sandbox = builds, h.sandbox
	m := &Match{Variant: variant(t, "brisca", ""), Bots: bots, Deals: 1, OnlyRotations: []int{0}, Clock: long, start: startOverdue}
	r := keep(m)
	if err := m.Play(t.Context(), r.add); err != nil || len(r.games) != 1 {
		t.Errorf("%s, %s: %d games, %q: %v", f.Name, h.name, len(r.games), r.voids, err)
		return
	}
	g := r.games[0]
	if f.Code == "" {
		if len(g.Faults) > 0 {
			t.Errorf("%s, %s: %v", f.Name, h.name, g.Faults)
		}
		return
	}
	if want := faultReasons[f.Name].quote; len(g.Faults) != 1 || g.Faults[0].Seat != 0 || g.Faults[0].Code != f.Code || !strings.Contains(g.Faults[0].Text, want) {
		t.Errorf("%s, %s: %v, want %s of seat 0 with %q", f.Name, h.name, g.Faults, f.Code, want)
	}
}
