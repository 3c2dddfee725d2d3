//go:build soak && linux

package commands

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
)

var (
	killsFlag = flag.Int("kills", 0, "so many kills, instead of a few, in TestServeKilled and TestFleetKilled, with the bots of three people")
	cutsFlag  = flag.Int("cuts", 0, "so many cuts, instead of one, in TestFleetKilled, some of them of a minute")
)

// serverKills is the number of kills of TestServeKilled without the flag -kills.
const serverKills = 8

// TestServeKilled kills the server of a ladder of twenty bots, some of them people's, many times at random
// moments. Each time only its directory is left, and that is consistent: every match is stored completely or
// not at all; every match that was reported as finished is finished and stays unchanged; and the ratings
// follow from the matches, bit for bit. Interrupted matches are played again.
func TestServeKilled(t *testing.T) {
	kills, people := serverKills, []string{"python"}
	if *killsFlag > 0 {
		kills, people = *killsFlag, []string{"python", "perl", "bash"}
	}
	a := newArena(t, quickLadders(20-len(people)))
	a.submitStarters(t, people...)

	finished := map[int64]ladder.Match{} // as they were when they were first seen
	broken := map[int64]bool{}           // rated matches that were being played at a kill
	var slowest time.Duration
	for kill := range kills {
		s := a.launch(t, "--log-level", "debug")
		// Every other one is killed while it starts, perhaps; the rest while they play.
		if kill%2 > 0 {
			until(t, "matches begin", func() bool { return strings.Contains(s.log(), "match begins") })
		}
		<-time.After(time.Duration(rand.Int64N(int64(time.Second))))
		took := a.killed(t, s)
		slowest = max(slowest, took)
		a.sound(t)
		all := a.matches(t)
		for _, id := range finishedIn(s.log()) {
			if all[id].State != ladder.Finished {
				t.Errorf("match %d was reported as finished and is %q", id, all[id].State)
			}
		}
		for id, was := range finished {
			if diff := cmp.Diff(was, all[id]); diff != "" {
				t.Errorf("match %d is not what it was (-was +is):\n%s", id, diff)
			}
		}
		for id, m := range all {
			switch m.State {
			case ladder.Finished:
				finished[id] = m
			case ladder.Running, ladder.Waiting:
				broken[id] = true
			case ladder.Dropped:
				t.Errorf("match %d was dropped: %s", id, m.Reason)
			}
		}
	}
	if len(broken) == 0 || len(finished) == 0 {
		t.Errorf("the kills interrupted %d matches, %d were finished", len(broken), len(finished))
	}
	// The last server plays all of them again, and a busy machine has time to end them.
	s := a.serve(t, "--grace", "10m")
	until(t, "the interrupted matches are finished", func() bool {
		again := map[int64]bool{}
		for _, id := range finishedIn(s.log()) {
			again[id] = true
		}
		for id := range broken {
			if _, before := finished[id]; !before && !again[id] {
				return false
			}
		}
		return true
	})
	kit.Must(t, s.Process.Signal(os.Interrupt))
	s.exits(t, cli.ExitGood)
	a.sound(t)
	all := a.matches(t)
	for id := range broken {
		if m := all[id]; m.State != ladder.Finished {
			t.Errorf("match %d was interrupted and is %s at the end", id, m.State)
		}
	}
	for id, m := range all {
		if m.State != ladder.Finished {
			t.Errorf("match %d is %s after a stop that waits", id, m.State)
		}
	}
	t.Logf("%d kills: %d matches interrupted, all played again; %d matches finished; nothing was left of a server after %v at most",
		kills, len(broken), len(all), slowest)
}

// submitStarters starts a first server and submits people's bots until they are live.
func (a *arena) submitStarters(t *testing.T, languages ...string) {
	t.Helper()
	s := a.serve(t)
	a.timba(t, s.token, "login", s.url, "--token-file", "-")
	for _, name := range languages {
		dir := filepath.Join(a.home, name)
		a.timba(t, "", "init", name, dir)
		if out := a.timba(t, "", "submit", dir); !strings.Contains(out, " is live") {
			t.Fatalf("the %s starter is not live:\n%s", name, out)
		}
	}
	kit.Must(t, s.Process.Signal(os.Interrupt))
	s.exits(t, cli.ExitGood)
}

// killed ends a server with SIGKILL, and returns how long it took until none of its processes was left, at
// most ten seconds.
func (a *arena) killed(t *testing.T, s *served) (took time.Duration) {
	t.Helper()
	began := time.Now()
	a.kill(t, s)
	return goneIn(t, began)
}

// goneIn requires that a killed program disappeared soon after the time of the kill.
func goneIn(t *testing.T, began time.Time) (took time.Duration) {
	t.Helper()
	if took = time.Since(began); took > 10*time.Second {
		t.Errorf("nothing is left only after %v", took)
	}
	return took
}
