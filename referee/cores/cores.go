// Package cores tells for how long other programs held the cores on which bots play.
package cores

import (
	"slices"
	"sync"
	"time"

	"github.com/timba-arena/timba/internal/proc"
)

// Any is the core of a worker that is not bound to a core.
const Any = -1

// Time is what the processes of a program have had of the processors so far.
type Time struct {
	CPU    time.Duration // of all threads, also of those that have ended
	Alive  time.Duration // of the threads that still run
	Waited time.Duration // how long those that still run were ready to run, and did not, until they last ran
}

// Ended returns the CPU time of the threads that have ended.
func (t Time) Ended() time.Duration { return max(0, t.CPU-t.Alive) }

// Player is a bot as the kernel counts it.
type Player interface {
	// CPU returns the CPU time of all its processes.
	CPU() time.Duration
	// Time returns what the bot has had of the cores, and for how long it has waited for one;
	// ok is false where the kernel does not tell all of it.
	Time() (t Time, ok bool)
}

// Threads are threads that run or wait for a core, by their directories in /proc, with the time
// that each has run and waited so far, as the kernel has counted it.
type Threads map[string]time.Duration

// Waits tells how long a wait for a core may be that the kernel has not counted yet: it counts a
// wait when the thread gets the core.
type Waits struct {
	last    time.Time // when Longest was called, or the Waits began
	threads map[string]readySince
}

// readySince is a thread that has been ready to run and has not run since a time.
type readySince struct {
	since time.Time
	had   time.Duration
}

// Begin begins anew: no thread is known to have run since then.
func (w *Waits) Begin(now time.Time) { w.last, w.threads = now, nil }

// Longest returns for how long the threads that are ready now may have waited at most.
func (w *Waits) Longest(ready Threads, now time.Time) (longest time.Duration) {
	threads := make(map[string]readySince, len(ready))
	for name, had := range ready {
		t, ok := w.threads[name]
		if !ok || t.had != had { // it was not ready then, or has run since
			t = readySince{w.last, had}
		}
		threads[name] = t
		longest = max(longest, now.Sub(t.since))
	}
	w.last, w.threads = now, threads
	return longest
}

// Counters are what a kernel counts, for some cores and one worker.
type Counters interface {
	Read() (Counts, error)
	// Running returns how many threads of the whole machine run or wait for a core.
	Running() int
	Close()
}

// Counts are what a kernel has counted so far.
type Counts struct {
	Idle   time.Duration // of the cores, together
	Stolen time.Duration // from the cores, together, by other virtual machines
	Held   time.Duration // back by a quota of this program's cgroups
	Worked time.Duration // by the thread of the worker
	Waited time.Duration // by that thread, for a core
}

// Players are bots that share cores. Their methods are for all workers.
type Players struct {
	Low bool // they have the lowest priority

	mu   sync.Mutex
	all  []Player
	gone time.Duration // what players have used that were removed
}

// Watch tells for how long the bots of one worker could not use a core because of others. Its
// methods are for the goroutine of the worker. A nil Watch tells nothing.
type Watch struct {
	counters Counters
	cores    int
	players  *Players

	used, wall time.Duration // by others, of the cores, where bots have got credit
	delayed    bool          // the worker was kept from a core when it wanted to read the counters
}

// New returns a Watch of a number of cores, on which the players play.
func New(c Counters, cores int, p *Players) *Watch {
	return &Watch{counters: c, cores: cores, players: p}
}

// Close ends the Watch.
func (w *Watch) Close() {
	if w != nil {
		w.counters.Close()
	}
}

// Add adds a bot when it starts.
func (w *Watch) Add(p Player) {
	if w == nil {
		return
	}
	w.players.mu.Lock()
	defer w.players.mu.Unlock()
	w.players.all = append(w.players.all, p)
}

// Remove removes a bot before it ends.
func (w *Watch) Remove(p Player) {
	if w == nil {
		return
	}
	w.players.mu.Lock()
	defer w.players.mu.Unlock()
	if i := slices.Index(w.players.all, p); i >= 0 {
		w.players.gone += p.CPU()
		w.players.all = slices.Delete(w.players.all, i, i+1)
	}
}

// Reading is what the kernel has counted at one time.
type Reading struct {
	At time.Time
	Counts
	bots time.Duration // what the players have used

	self  Time // what one of them has had; nothing before it starts
	known bool // all of that
}

// Read returns a Reading for a bot, nil where the kernel does not tell. The bot is nil before it
// starts.
func (w *Watch) Read(self Player, now time.Time) *Reading {
	if w == nil {
		return nil
	}
	counts, err := w.counters.Read()
	if err != nil {
		return nil
	}
	w.players.mu.Lock()
	defer w.players.mu.Unlock()
	r := &Reading{At: now, Counts: counts, bots: w.players.gone}
	for _, p := range w.players.all {
		if p != self {
			r.bots += p.CPU()
			continue
		}
		r.self, r.known = p.Time()
		r.bots += r.self.CPU
	}
	return r
}

// Lost is for how long a bot did not have a core because of others.
type Lost struct {
	Known time.Duration // for certain
	// Most adds a wait that may still go on. The kernel counts a wait only when it ends.
	Most time.Duration
	// Stolen is what other virtual machines took; Known has it, too.
	Stolen time.Duration
}

// Plus returns what a bot has lost in two parts of a time.
func (l Lost) Plus(m Lost) Lost {
	return Lost{l.Known + m.Known, l.Known + m.Most, l.Stolen + m.Stolen}
}

// Lost returns what a bot has lost between two readings. It is nothing where the kernel does not tell.
// unread is how long an answer of the bot may have been there before the worker could read it.
// unseen is how long a wait may be that the kernel has not counted yet.
func (w *Watch) Lost(from, to *Reading, unread, unseen time.Duration) Lost {
	if w == nil || from == nil || to == nil || !to.known {
		return Lost{}
	}
	self, was := to.self, from.self
	wall := to.At.Sub(from.At)
	stolen := max(0, to.Stolen-from.Stolen) / time.Duration(w.cores)
	// What the worker does for its readings, on a busy core, is not the bot's time either. Without
	// others it is no credit, or each turn would have some.
	others := w.others(from, to)
	others += min(others, to.Worked-from.Worked)
	held := max(0, to.Held-from.Held)
	waited := self.Waited - was.Waited + unread
	if ended := self.Ended() - was.Ended(); ended > proc.Tick {
		// How long threads waited that have ended is not counted. Among so many that share a core
		// fairly each has waited at most so much longer than it has run.
		waited += ended * time.Duration(w.counters.Running())
		if w.players.Low {
			waited = wall
		}
	}
	// With a whole core of its own a bot has lost nothing, however long its threads wait for one another.
	most := min(others+held, wall-(self.CPU-was.CPU))
	known := max(0, min(most, waited))
	return Lost{Known: known + stolen, Most: max(known, min(most, waited+unseen)) + stolen, Stolen: stolen}
}

// others returns what others have used of the cores between two readings: what was neither idle nor
// used by the players, nor by the worker. While a bot thinks, the worker only reads counters and what
// the bot writes.
func (w *Watch) others(from, to *Reading) time.Duration {
	wall := to.At.Sub(from.At) * time.Duration(w.cores)
	return max(0, wall-(to.Idle-from.Idle)-(to.bots-from.bots)-(to.Worked-from.Worked)-max(0, to.Stolen-from.Stolen))
}

// Gave notes that a bot got credit for what others did between two readings.
func (w *Watch) Gave(from, to *Reading) {
	if w != nil && from != nil && to != nil {
		w.used += w.others(from, to)
		w.wall += to.At.Sub(from.At) * time.Duration(w.cores)
	}
}

// Delayed notes that the worker was kept from a core when it wanted to read the counters.
func (w *Watch) Delayed() {
	if w != nil {
		w.delayed = true
	}
}

// WasDelayed reports whether the worker was ever kept from a core. From then on each turn begins
// with a reading of the bot's own time, which costs a little.
func (w *Watch) WasDelayed() bool { return w != nil && w.delayed }

// Busy returns what others have used of the cores, and of how much time, while bots got credit
// since the last call.
func (w *Watch) Busy() (used, of time.Duration) {
	if w == nil {
		return 0, 0
	}
	used, of = w.used, w.wall
	w.used, w.wall = 0, 0
	return used, of
}
