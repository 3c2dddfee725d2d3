//go:build soak && linux

package commands

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
)

var busyFlag = flag.Duration("busy", 20*time.Minute, "how long TestServeBusy plays beside other programs")

// busyLoops is how many busy programs TestServeBusy starts.
const busyLoops = 20

// TestServeBusy plays a ladder of twenty bots next to twenty busy programs. Most of the bots need half of
// their clock, and three of them belong to people. No match is broken off or dropped, and no bot is late.
func TestServeBusy(t *testing.T) {
	people := []string{"python", "perl", "bash"}
	bots := []string{"@random", "@first", "@greedy", "@tebes-minimax:depth=1", "@tebes-minimax:depth=2", "@tebes-mcts:time=25ms"}
	for k := 10; len(bots)+len(people) < 20; k += 10 {
		bots = append(bots, fmt.Sprintf("@tebes-mcts-h:time=25ms,k=%d", k))
	}
	for i, name := range bots {
		bots[i] = strconv.Quote(name)
	}
	a := newArena(t, fmt.Sprintf("[limits]\ntime = \"168h\"\n[[ladder]]\nname = \"tebes\"\ngame = \"tebes\"\n"+
		"options = {size = \"4\"}\ndeals = 2\nclock = {movetime = 50}\nhouse = [%s]\n", strings.Join(bots, ", ")))
	a.submitStarters(t, people...)
	for range busyLoops {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		kit.Must(t, cmd.Start())
		t.Cleanup(func() {
			cmd.Process.Kill()
			cmd.Wait()
		})
	}
	s := a.serve(t, "--grace", "10m", "--workers", "2")
	<-time.After(*busyFlag)
	_, figures := s.get(t, "/metrics")
	var told []string
	for line := range strings.Lines(figures) {
		switch name, _, _ := strings.Cut(strings.TrimSpace(line), "{"); {
		case strings.HasPrefix(name, "timba_matches_broken_total"), strings.HasPrefix(line, `timba_faults_total{code="timeout"}`):
			if !strings.HasSuffix(strings.TrimSpace(line), " 0") {
				t.Error(strings.TrimSpace(line))
			}
		case strings.HasPrefix(name, "timba_matches_finished_total"), strings.HasPrefix(name, "timba_games"), strings.HasPrefix(name, "timba_faults_total"):
			told = append(told, strings.TrimSpace(line))
		}
	}
	kit.Must(t, s.Process.Signal(os.Interrupt))
	s.exits(t, cli.ExitGood)
	a.sound(t)
	a.tellFaults(t)
	finished, most := 0, time.Duration(0)
	for id, m := range a.matches(t) {
		if m.State != ladder.Finished {
			t.Errorf("match %d is %s: %s", id, m.State, m.Reason)
			continue
		}
		finished++
		most = max(most, m.FinishedAt.Sub(m.StartedAt))
	}
	if finished == 0 {
		t.Error("no match is finished")
	}
	t.Logf("%v beside %d programs: %d matches finished, the longest in %v\n%s", *busyFlag, busyLoops, finished, most, strings.Join(told, "\n"))
}

// tellFaults logs each fault of a stored game, with the time and the credit of the bot's moves before it.
func (a *arena) tellFaults(t *testing.T) {
	t.Helper()
	a.look(t, func(s *store.Store) {
		for _, m := range kit.Get[[]ladder.Match](t)(s.Matches.List(t.Context(), store.MatchFilter{Limit: 1 << 20})) {
			for _, g := range kit.Get[[]ladder.FinishedGame](t)(s.Matches.Games(t.Context(), m.ID)) {
				if !slices.ContainsFunc(g.Seats, func(s ladder.GameSeat) bool { return s.Faults > 0 }) {
					continue
				}
				r := kit.Get[*referee.Replay](t)(referee.DecodeReplay(kit.Get[[]byte](t)(s.Matches.Replay(t.Context(), g.ID))))
				for _, f := range r.Faults {
					var moves []string
					for _, m := range r.Moves[:min(f.Ply, len(r.Moves))] {
						if m.Seat == f.Seat {
							moves = append(moves, fmt.Sprintf("%v-%v", m.MS, m.Credit))
						}
					}
					log := kit.Get[[]byte](t)(s.Matches.Log(t.Context(), g.ID, f.Seat))
					t.Logf("match %d, game %d: %s, ply %d: %s, credit %v ms; its moves, ms and credit: %s; the end of its log: %s",
						m.ID, g.ID, r.Seats[f.Seat].Name, f.Ply, f.Text, f.Credit, strings.Join(moves, " "), log[max(0, len(log)-200):])
				}
			}
		}
	})
}
