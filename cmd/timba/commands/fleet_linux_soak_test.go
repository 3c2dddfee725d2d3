//go:build soak && linux

package commands

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/store"
)

// chaos is a server and its workers, each in a network place of its own, with which a test interferes.
type chaos struct {
	*arena
	net     *network
	server  *served
	workers []*worker

	reported map[int64]bool         // as finished, by servers that have ended
	finished map[int64]ladder.Match // as they were when they were first seen
	broken   map[int64]bool         // seen unfinished after something had happened
	slowest  time.Duration          // until nothing was left of a program
}

// newChaos makes the server's directory, bots of people, and workers with credentials.
func newChaos(t *testing.T, people ...string) *chaos {
	t.Helper()
	c := &chaos{
		arena: newArena(t, fleetLadders), net: newNetwork(t, 3),
		reported: map[int64]bool{}, finished: map[int64]ladder.Match{}, broken: map[int64]bool{},
	}
	c.submitStarters(t, people...)
	c.arena.start = c.net.places[0].start
	root := t.TempDir()
	for i, p := range c.net.places[1:] {
		name := fmt.Sprintf("lab-%d", i+1)
		w := &worker{arena: c.arena, place: p, name: name, creds: filepath.Join(root, name+".creds"), dir: filepath.Join(root, name)}
		creds := c.timba(t, "", "admin", "worker", "add", name, "--data", c.dir)
		kit.Must(t, os.WriteFile(w.creds, []byte(creds), 0o600))
		c.workers = append(c.workers, w)
	}
	return c
}

// serveFleet starts the server.
func (c *chaos) serveFleet(t *testing.T) {
	t.Helper()
	c.server = c.serve(t, "--workers", "1", "--cluster", c.net.listen(), "--grace", "10m")
	c.net.server(strings.TrimPrefix(c.server.cluster(t), "nats://"))
}

// begunLine matches a log line about the start of a match.
var begunLine = regexp.MustCompile(`msg="match begins" match=(\d+) .* machine=(\S+) `)

// play waits until certain machines have started and finished matches from now on.
func (c *chaos) play(t *testing.T, machines ...string) {
	t.Helper()
	from := len(c.server.log())
	for _, name := range machines {
		until(t, name+" plays", func() bool {
			log := c.server.log()[from:]
			finished := finishedIn(log)
			return slices.ContainsFunc(begunLine.FindAllStringSubmatch(log, -1), func(m []string) bool {
				id, _ := strconv.ParseInt(m[1], 10, 64)
				return m[2] == name && slices.Contains(finished, id)
			})
		})
	}
}

func (c *chaos) allPlay(t *testing.T) {
	t.Helper()
	names := []string{attempt.Local}
	for _, w := range c.workers {
		names = append(names, w.name)
	}
	c.play(t, names...)
}

// note records what the log of a server that has ended reports. No match is finished twice, and no machine
// has handed in a result that was not its own.
func (c *chaos) note(t *testing.T) {
	t.Helper()
	log := c.server.log()
	for _, id := range finishedIn(log) {
		if c.reported[id] {
			t.Errorf("match %d is finished for the second time", id)
		}
		c.reported[id] = true
	}
	for line := range strings.Lines(log) {
		if strings.Contains(line, "why=foreign") || strings.Contains(line, "why=unreadable") || strings.Contains(line, "panic") {
			t.Errorf("the server says: %s", line)
		}
	}
}

// check requires that every match is stored once or not at all, that no bot has a fault, and that the ratings
// follow from the matches.
func (c *chaos) check(t *testing.T) {
	t.Helper()
	c.timba(t, "", "admin", "verify", "--data", c.dir)
	all := c.matches(t)
	for id, was := range c.finished {
		if diff := cmp.Diff(was, all[id]); diff != "" {
			t.Errorf("match %d is not what it was (-was +is):\n%s", id, diff)
		}
	}
	for id := range c.reported {
		if all[id].State != ladder.Finished {
			t.Errorf("match %d was reported as finished and is %q", id, all[id].State)
		}
	}
	c.look(t, func(s *store.Store) {
		for id, m := range all {
			switch _, seen := c.finished[id]; {
			case m.State == ladder.Dropped:
				t.Errorf("match %d was dropped: %s", id, m.Reason)
			case m.State != ladder.Finished:
				c.broken[id] = true
			case !seen:
				c.finished[id] = m
				playedOnce(t, s, m)
			}
		}
	})
}

// playedOnce requires that only the last attempt of a finished match counts, and that no bot has a fault.
func playedOnce(t *testing.T, s *store.Store, m ladder.Match) {
	t.Helper()
	for i, a := range m.Attempts {
		if last := i == len(m.Attempts)-1; last != (a.Reason.IsZero()) || a.EndedAt.IsZero() || a.Seed == nil {
			t.Errorf("match %d has %d attempts, and of them %+v", m.ID, len(m.Attempts), a)
		}
	}
	games := kit.Get[[]ladder.FinishedGame](t)(s.Matches.Games(t.Context(), m.ID))
	if len(games) != m.Deals*len(m.Versions) {
		t.Errorf("match %d of %d bots has %d games of %d deals", m.ID, len(m.Versions), len(games), m.Deals)
	}
	for _, g := range games {
		for _, seat := range g.Seats {
			if seat.Fault != "" {
				t.Errorf("match %d on %s: %s has the fault %q in deal %d, rotation %d",
					m.ID, m.Attempts[len(m.Attempts)-1].Machine, m.Bots[seat.Slot], seat.Fault, g.Deal, g.Rotation)
			}
		}
	}
}

// drainAll makes all workers finish and leave, and starts them again.
func (c *chaos) drainAll(t *testing.T) {
	t.Helper()
	for _, w := range c.workers {
		w.drain(t)
	}
	for _, w := range c.workers {
		w.work(t)
	}
}

// end waits until interrupted matches have been played again, and ends all programs. Nothing of them is left.
func (c *chaos) end(t *testing.T) {
	t.Helper()
	until(t, "what was broken off is played again", func() bool {
		c.look(t, func(s *store.Store) {
			for id := range maps.Clone(c.broken) {
				if m, err := s.Matches.Find(t.Context(), id); err != nil {
					t.Fatal(err)
				} else if m.State == ladder.Finished {
					delete(c.broken, id)
				}
			}
		})
		return len(c.broken) == 0
	})
	for _, w := range c.workers {
		w.drain(t)
		for line := range strings.Lines(w.said()) {
			if strings.Contains(line, "panic") || strings.Contains(line, "level=ERROR") {
				t.Errorf("%s says: %s", w.name, line)
			}
		}
	}
	// A server that stops leaves what other machines have to the next one.
	until(t, "nothing is left to machines that have left", func() bool {
		for _, m := range c.matches(t) {
			if m.State == ladder.Running && m.Attempts[len(m.Attempts)-1].Machine != attempt.Local {
				return false
			}
		}
		return true
	})
	world := c.world(t, c.server)
	kit.Must(t, c.server.Process.Signal(syscall.SIGTERM))
	c.server.exits(t, cli.ExitGood)
	world.gone(t)
	c.note(t)
	c.check(t)
	for id, m := range c.matches(t) {
		if m.State == ladder.Running {
			t.Errorf("match %d runs, and nobody is there", id)
		}
	}
}

// summary describes the outcomes of the matches.
func (c *chaos) summary(t *testing.T) string {
	t.Helper()
	again, by, why := 0, map[string]int{}, map[string]int{}
	for _, m := range c.finished {
		if len(m.Attempts) > 1 {
			again++
		}
		for _, a := range m.Attempts {
			if !a.Reason.IsZero() {
				why[a.Reason.String()]++
			} else {
				by[a.Machine]++
			}
		}
	}
	if again == 0 {
		t.Error("nothing was broken off")
	}
	return fmt.Sprintf("%d matches finished %v, %d of them after they were broken off %v; nothing was left of a killed program after %v",
		len(c.finished), by, again, why, c.slowest)
}

// worker is a worker of a fleet, which a test starts many times.
type worker struct {
	arena            *arena
	place            *place
	name, creds, dir string
	*running                    // since the last start
	starts           []*running // one after the other
}

// work starts the worker.
func (w *worker) work(t *testing.T) {
	t.Helper()
	w.running = run(t, w.arena.worker("nats://"+w.place.address, w.creds, w.dir), w.place.start)
	w.starts = append(w.starts, w.running)
}

// said returns what the worker has written since its first start.
func (w *worker) said() string {
	var all strings.Builder
	for _, r := range w.starts {
		all.WriteString(r.out.String())
	}
	return all.String()
}

func (w *worker) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	kit.Must(t, w.Process.Signal(s))
}

// world returns what the worker has created, to check later that it is gone.
func (w *worker) world(t *testing.T) *mess {
	t.Helper()
	return &mess{
		mark: w.dir, temp: filepath.Join(w.dir, "tmp"), cache: w.dir, mounts: mountsOf(t),
		all: []*mayhem{{Cmd: w.Cmd, family: family(w.Process.Pid)}},
	}
}

// kill ends the worker with SIGKILL, and requires that its processes disappear soon. It returns how long that took.
func (w *worker) kill(t *testing.T) (took time.Duration) {
	t.Helper()
	world, began := w.world(t), time.Now()
	w.Process.Kill()
	<-w.ended
	world.gone(t)
	return goneIn(t, began)
}

// drain makes the worker finish and leave, and requires that only the bots in its cache are left.
func (w *worker) drain(t *testing.T) {
	t.Helper()
	world := w.world(t)
	w.signal(t, syscall.SIGTERM)
	w.exits(t, cli.ExitGood)
	world.gone(t)
	for _, path := range append(glob(t, w.dir+"/*"), glob(t, w.dir+"/*/*")...) {
		name := kit.Get[string](t)(filepath.Rel(w.dir, path))
		bot := filepath.Dir(name) == "bots" && datadir.IsHash(filepath.Base(name))
		if !bot && !slices.Contains([]string{"lock", "bots", "bots/.trees", "results", "tmp"}, name) {
			t.Errorf("%s leaves %s", w.name, name)
		}
	}
}
