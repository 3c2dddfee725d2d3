//go:build soak && linux

package commands

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/cluster"
)

// fleetKills and fleetCuts are the numbers of kills of the server, of kills of workers, and of cut
// connections in TestFleetKilled. The flag -kills sets another number of kills, half of them of the server,
// and -cuts another number of cuts.
const (
	fleetKills = 2
	fleetCuts  = 1
)

// A competition has at most this many kills or cuts, as all its matches are verified after each one.
const (
	partKills = 15
	partCuts  = 5
)

const (
	// longStop is for how long a worker is stopped with the flag -cuts.
	longStop = time.Minute
	// shortStop is for how long a worker is stopped that keeps its matches. A bot has no more for a
	// move in quickLadders.
	shortStop = cluster.AckTime - 4*time.Second
)

// fleetLadders are ladders whose matches take about a second, and that never pause.
var fleetLadders = "pause = 0\n" + strings.ReplaceAll(quickLadders(10), "deals = 1\n", "deals = 10\n")

// TestFleetKilled kills the server of a fleet and its three workers many times, cuts their connections for
// longer than the server waits for a worker, and stops workers with SIGSTOP. After each of these, every match
// is stored once or not at all, verify finds no difference, no bot has a fault, and nothing is left of the
// killed programs. Interrupted matches are played again.
func TestFleetKilled(t *testing.T) {
	kills, cuts := cmp.Or(*killsFlag, fleetKills), cmp.Or(*cutsFlag, fleetCuts)
	people := []string{"python"}
	if *killsFlag > 0 {
		people = append(people, "perl", "bash")
	}
	parts := max(1, (kills+partKills-1)/partKills, (cuts+partCuts-1)/partCuts)
	for part := range parts {
		first, last := part*kills/parts, (part+1)*kills/parts
		firstCut, lastCut := part*cuts/parts, (part+1)*cuts/parts
		t.Run(fmt.Sprintf("competition %d", part+1), func(t *testing.T) {
			c := newChaos(t, people...)
			c.serveFleet(t)
			for _, w := range c.workers {
				w.work(t)
			}
			c.allPlay(t)
			for n := first; n < last; n++ {
				c.killRound(t, n)
			}
			for n := firstCut; n < lastCut; n++ {
				c.cutOff(t, n)
			}
			c.end(t)
			t.Logf("%d kills, %d cuts: %s", last-first, lastCut-firstCut, c.summary(t))
		})
	}
}

// killRound is a round in which the server or a worker is killed, in turn.
func (c *chaos) killRound(t *testing.T, n int) {
	t.Helper()
	switch w := c.workers[n/2%len(c.workers)]; {
	case n%2 > 0:
		c.killWorker(t, w)
	case n%6 == 4:
		c.killServer(t, w)
	default:
		c.killServer(t)
	}
	c.check(t)
	t.Logf("kill %d: %d matches are finished", n+1, len(c.finished))
	if n%10 == 9 {
		c.drainAll(t)
	}
}

// cutOff is a round in which a worker or the server is cut off.
func (c *chaos) cutOff(t *testing.T, n int) {
	t.Helper()
	least := time.Duration(0) // for which the one is stopped
	if *cutsFlag > 0 && n%4 == 0 {
		least = longStop
	}
	if cut := c.workers[n%len(c.workers)]; n%4 == 3 {
		c.cutAndStop(t, nil, cut, least)
	} else {
		c.cutAndStop(t, cut, c.workers[(n+1)%len(c.workers)], least)
	}
	c.check(t)
	t.Logf("cut %d: %d matches are finished", n+1, len(c.finished))
}

// killServer kills the server at a random moment, and workers while it is down. The server with its NATS
// starts again at once.
func (c *chaos) killServer(t *testing.T, also ...*worker) {
	t.Helper()
	pauseAtRandom(time.Second)
	c.slowest = max(c.slowest, c.killed(t, c.server))
	c.note(t)
	c.check(t) // while there is no server
	for _, w := range also {
		c.slowest = max(c.slowest, w.kill(t))
		w.work(t)
	}
	c.serveFleet(t)
	if len(also) > 0 || rand.N(2) == 0 { // else the next kill follows at once
		c.allPlay(t)
	}
}

// killWorker kills a worker at a random moment. It starts again at once, and fetches bots again.
func (c *chaos) killWorker(t *testing.T, w *worker) {
	t.Helper()
	pauseAtRandom(time.Second)
	c.slowest = max(c.slowest, w.kill(t))
	kit.Must(t, os.RemoveAll(filepath.Join(w.dir, "bots")))
	w.work(t)
	c.play(t, w.name)
}

// cutAndStop cuts the worker cut off, or the server from all workers if cut is nil, and stops the worker stopped,
// until the server has given them up and at least for the time least. Meanwhile it stops the other workers briefly,
// so that they retain their matches. In the end all play again, and leave nothing when they drain.
func (c *chaos) cutAndStop(t *testing.T, cut, stopped *worker, least time.Duration) {
	t.Helper()
	c.allPlay(t)
	from, began := len(c.server.log()), time.Now()
	off, at := c.workers, c.net.places[0]
	if cut != nil {
		off, at = []*worker{cut, stopped}, cut.place
	}
	c.net.cut(t, at)
	stopped.signal(t, syscall.SIGSTOP)
	for _, w := range c.workers {
		if !slices.Contains(off, w) {
			w.signal(t, syscall.SIGSTOP)
			<-time.After(shortStop)
			w.signal(t, syscall.SIGCONT)
		}
	}
	for _, w := range off {
		until(t, w.name+" is given up", func() bool {
			return strings.Contains(c.server.log()[from:], `msg="a machine is gone" machine=`+w.name+" ")
		})
	}
	pauseAtRandom(time.Second)
	c.net.heal(t, at)
	<-time.After(time.Until(began.Add(least)))
	stopped.signal(t, syscall.SIGCONT)
	c.allPlay(t)
	c.drainAll(t)
}

// pauseAtRandom waits for a random time.
func pauseAtRandom(most time.Duration) { <-time.After(rand.N(most)) }
