//go:build soak && linux

package commands

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/sandbox"
)

// killed kills all referees while they play, and requires that nothing of them is left after a second, or ten
// seconds under the race detector.
func (m *mess) killed(t *testing.T) {
	t.Helper()
	m.await(t)
	processes := 0
	for _, r := range m.all {
		processes += len(r.family)
	}
	began, most := time.Now(), time.Second
	if kit.HasRaceDetector() {
		most = 10 * time.Second
	}
	m.kill(t)
	took := time.Since(began)
	if took > most {
		t.Errorf("nothing is left only after %v", took)
	}
	t.Logf("%d referees and %d processes of theirs were gone after %v", len(m.all), processes, took)
}

// TestAllKilled kills the referees of twenty matches with SIGKILL at the same time. Their bots are of all
// kinds, sandboxed and not, stopped between turns and not; two are still being built. After a second no
// process, mount, cgroup or temporary directory is left.
func TestAllKilled(t *testing.T) {
	m := newMess(t)
	ways := [][]string{{"--sandbox", "auto"}, {"--sandbox", "off"}}
	if sandbox.Probe().Level == sandbox.LevelFull {
		ways = append(ways, []string{"--sandbox", "full", "--ponder", "off"})
	}
	names := []string{"deaf", "parent", "runaway", "spinner", "litter"}
	for i := range 18 {
		a, b, way := names[i%len(names)], names[(i+i/len(names)+1)%len(names)], ways[i%len(ways)]
		sign, times := " > move ", 3
		if a == "spinner" || b == "spinner" {
			sign, times = " < turn ", 1
		}
		args := []string{"match", "brisca", filepath.Join(m.bots, a), filepath.Join(m.bots, b), "--deals", "100000", "--movetime", "600000", "--log"}
		m.begin(t, sign, times, append(args, way...)...)
	}
	for i := range 2 {
		m.begin(t, "building ", 1, append([]string{"match", "brisca", filepath.Join(m.bots, "build-deaf"), "@greedy"}, ways[i]...)...)
	}
	m.killed(t)
}

// TestKilledWorkers does the same with one referee during twenty concurrent games.
func TestKilledWorkers(t *testing.T) {
	m := newMess(t)
	args := []string{"match", "brisca", "--deals", "100000", "--movetime", "600000", "--log", "--concurrency", "20"}
	for name := range hardBots {
		if name != "spinner" { // at whose games all others would wait
			bot := filepath.Join(m.bots, name)
			args = append(args, "name="+name+"-1 cmd="+bot, "name="+name+"-2 cmd="+bot)
		}
	}
	m.begin(t, " > move ", 400, args...)
	m.killed(t)
}
