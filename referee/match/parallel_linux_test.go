package match

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/sample-bots/house"
)

// Only ParallelRotations rotations have processes at the same time, for any number of workers, and the games
// are the same as without that limit.
func TestParallelRotations(t *testing.T) {
	t.Parallel()
	play := func(together, workers int, want int64) (games []string, most int64) {
		t.Helper()
		var now, peak atomic.Int64
		var once sync.Once
		full := make(chan struct{}) // closed when there are as many as wanted
		m := &Match{
			Variant: variant(t, "podrida", "players=3"), Deals: 2, Seed: [32]byte{7}, Clock: patient, Resources: Resources{ParallelRotations: together},
		}
		for range workers {
			m.Resources.Workers = append(m.Resources.Workers, cores.Any)
		}
		for _, name := range []string{"a", "b", "c"} {
			m.Bots = append(m.Bots, inside(name, func(lines io.Reader, answers io.Writer) error {
				n := now.Add(1)
				for was := peak.Load(); n > was && !peak.CompareAndSwap(was, n); was = peak.Load() {
				}
				if n == want {
					once.Do(func() { close(full) })
				}
				defer now.Add(-1)
				return house.Run("first", holdSecond(lines, full), answers)
			}))
		}
		kit.Must(t, m.Play(t.Context(), func(g *referee.GameResult) error {
			for i := range g.Moves {
				g.Moves[i].MS, g.Moves[i].Credit = 0, 0
			}
			games = append(games, string(g.Encode()))
			return nil
		}))
		slices.Sort(games)
		return games, peak.Load()
	}
	all, most := play(0, 2, 9)
	if len(all) != 6 || most != 9 {
		t.Fatalf("all rotations together have %d games and %d bots at once, want 6 and 9", len(all), most)
	}
	for _, test := range []struct {
		together, workers int
		most              int64
	}{{1, 1, 3}, {1, 2, 3}, {2, 1, 6}, {2, 2, 6}, {3, 1, 9}, {9, 1, 9}} {
		games, most := play(test.together, test.workers, test.most)
		if most != test.most {
			t.Errorf("%d together on %d workers: %d bots at once, want %d", test.together, test.workers, most, test.most)
		}
		if !slices.Equal(games, all) {
			t.Errorf("%d together on %d workers: other games", test.together, test.workers)
		}
	}
}

// holdSecond passes on the lines of the referee, those of the second game only when until is closed, so that
// no rotation ends before the last one has begun.
func holdSecond(lines io.Reader, until <-chan struct{}) io.Reader {
	held, out := io.Pipe()
	go func() {
		games := 0
		for scan := bufio.NewScanner(lines); scan.Scan(); {
			if strings.HasPrefix(scan.Text(), "game ") {
				games++
			}
			if games == 2 {
				<-until
			}
			fmt.Fprintln(out, scan.Text())
		}
		out.Close()
	}()
	return held
}

// A bot that had MaxFaults faults in earlier rotations is disqualified from later ones.
func TestParallelRotationsFaults(t *testing.T) {
	m := &Match{Variant: alone(2), Bots: named(2), Deals: 5}
	s := newSchedule(m, nil)
	s.setRotations(0, 1)
	for deal := range 5 {
		g := plan{}.finish(m, deal, 0)
		if deal > 1 {
			g.Faults = append(g.Faults, referee.Fault{Seat: 1, Code: protocol.Exit})
		}
		kit.Must(t, s.finishGame(&scheduledGame{place: place{deal, 0}}, g))
	}
	s.nextDeals[0] = m.Deals
	s.setRotations(1, 2)
	out, ok := s.disqualifiedBots(0)
	if !ok || !slices.Equal(out, []bool{false, true}) {
		t.Errorf("in the first deal of the second rotation %v are out, known: %t", out, ok)
	}
}
