package referee

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/sandbox"
)

// account tells how much of its core a worker's bots could not use, and why. It reads what
// the kernel counts when a turn begins, but rarely, and when an answer is late. A nil account
// tells nothing. It is for the goroutine of the worker.
type account struct {
	cores  []int // all that the worker may use
	bound  int   // AnyCore for several
	crowd  *crowd
	stat   *os.File // /proc/stat
	thread *os.File // of the worker
	buf    []byte

	base reading
	next time.Time     // when a turn needs a new one
	bots int           // in it
	cost time.Duration // of a reading with so many, the least so far
}

// How old the reading may be that a turn begins with: leastAge, or costAge times what a
// reading takes, so that turns in time pay 0.2 % at most.
const (
	leastAge = leastLost
	costAge  = 500
	mostAge  = time.Second
)

// quotas are the limits of the processors that this program is under.
var quotas = sync.OnceValue(sandbox.Quotas)

// reading is what the kernel has counted so far.
type reading struct {
	at       time.Time
	idle     time.Duration // of the cores, together
	stolen   time.Duration
	held     time.Duration // back by a quota of this program's cgroups
	bots     time.Duration // what all bots and workers of these cores have used
	waited   time.Duration // by the thread of the worker
	of       map[conn]sandbox.Time
	measured bool
}

// openAccount returns the account of the calling worker, which has its own thread; nil where
// the kernel does not count what is needed.
func openAccount(core int) *account {
	a := &account{cores: []int{core}, bound: core}
	if core == AnyCore {
		a.cores = Cores()
	}
	var err error
	if a.stat, err = os.Open("/proc/stat"); err != nil {
		return nil
	}
	tid := unix.Gettid()
	if a.thread, err = os.Open(fmt.Sprintf("/proc/self/task/%d/schedstat", tid)); err != nil {
		a.stat.Close()
		return nil
	}
	a.buf = make([]byte, 128*(2+slices.Max(append(a.cores, 0))))
	a.crowd = crowdOf(core)
	a.crowd.join(a, nil, tid)
	return a
}

func (a *account) close() {
	if a != nil {
		a.crowd.leave(a)
		a.stat.Close()
		a.thread.Close()
	}
}

// where returns the core.
func (a *account) where() int { return a.bound }

// join adds a bot that was started, leave takes it away before it is ended.
func (a *account) join(c conn) {
	if p, ok := c.(*process); ok && a != nil {
		a.crowd.join(c, p, 0)
	}
}

func (a *account) leave(c conn) {
	if a != nil {
		a.crowd.leave(c)
	}
}

// begin notes that a turn begins.
func (a *account) begin(now time.Time) {
	if a == nil || now.Before(a.next) {
		return
	}
	a.base = a.read(now)
	took := time.Since(now)
	if n := len(a.base.of); n != a.bots || took < a.cost {
		a.bots, a.cost = n, took // more for as many bots only means that something else ran in between
	}
	a.next = now.Add(min(max(leastAge, costAge*a.cost), mostAge))
}

// lost returns what a bot has lost since a time after the last begin, where it has answered
// or not. It is nothing where the kernel does not tell.
func (a *account) lost(c conn, since, now time.Time, answered bool) Lost {
	p, ok := c.(*process)
	if a == nil || !ok || !a.base.measured {
		return Lost{}
	}
	r := a.read(now)
	if _, ok := r.of[c]; !ok || !r.measured {
		return Lost{}
	}
	var more time.Duration // how long its answer may have been there, or it has waited until now
	if answered {
		more = min(r.waited-a.base.waited, now.Sub(p.looked))
	} else if p.ready() {
		more = mostAge + now.Sub(since) // it waits now, and the kernel does not tell since when
	}
	l := a.base.lost(r, c, len(a.cores), more)
	if l.Others > 0 && p.sandbox == nil {
		if sandbox.Forgets(p.pid) {
			return Lost{}
		}
		l.Others = max(0, l.Others-p.astray())
	}
	l.Stopped = max(0, p.overslept-(r.waited-a.base.waited))
	// The reading that the turn began with may be a little older than it.
	turn := now.Sub(since)
	l.Others = min(l.Others, turn)
	l.Stolen = min(l.Stolen, turn-l.Others)
	l.Stopped = min(l.Stopped, turn-l.Others-l.Stolen)
	return l
}

// lost returns what a bot lost between two readings, on some cores. more is a wait that the
// readings do not have.
func (from reading) lost(to reading, c conn, cores int, more time.Duration) Lost {
	wall := to.at.Sub(from.at)
	idle := to.idle - from.idle
	stolen := (to.stolen - from.stolen) / time.Duration(cores)
	self, was := to.of[c], from.of[c]
	// Whatever was neither idle nor used by a bot was used by others.
	others := wall*time.Duration(cores) - idle - (to.bots - from.bots) - stolen
	others = max(0, others) + to.held - from.held
	waited := self.Waited - was.Waited
	if self.Ended()-was.Ended() > sandbox.Tick {
		waited = wall // how long threads waited that have ended is unknown
	}
	// With a whole processor of its own it has lost nothing, however long its threads wait
	// for one another.
	return Lost{Others: max(0, min(others, waited+more, wall-(self.CPU-was.CPU))), Stolen: max(0, stolen)}
}

// read reads everything.
func (a *account) read(now time.Time) reading {
	r := reading{at: now, of: map[conn]sandbox.Time{}}
	r.idle, r.stolen, r.measured = a.readCores()
	if n, err := unix.Pread(int(a.thread.Fd()), a.buf, 0); err == nil {
		if f := bytes.Fields(a.buf[:n]); len(f) > 1 {
			r.waited = time.Duration(parseInt(f[1]))
		}
	}
	for _, file := range quotas() {
		r.held += sandbox.Held(file)
	}
	r.bots = a.crowd.read(r.of)
	return r
}

// readCores returns for how long the cores had nothing to do, and were stolen.
func (a *account) readCores() (idle, stolen time.Duration, ok bool) {
	n, err := unix.Pread(int(a.stat.Fd()), a.buf, 0)
	if err != nil {
		return 0, 0, false
	}
	found := 0
	for line := range bytes.Lines(a.buf[:n]) {
		name, ok := bytes.CutPrefix(line, []byte("cpu"))
		if !ok {
			break
		}
		f := bytes.Fields(name)
		if name[0] == ' ' || len(f) < 9 || !slices.Contains(a.cores, int(parseInt(f[0]))) {
			continue
		}
		found++
		idle += time.Duration(parseInt(f[4])+parseInt(f[5])) * sandbox.Tick // idle, and idle while a disk is waited for
		stolen += time.Duration(parseInt(f[8])) * sandbox.Tick
	}
	return idle, stolen, found == len(a.cores) && found > 0
}

func parseInt(text []byte) int64 {
	n, _ := strconv.ParseInt(string(text), 10, 64)
	return n
}

// crowd is who plays on one core, or on all if they are not bound: the bots of this
// program and the threads of its workers. What they use is never that of others.
type crowd struct {
	mu    sync.Mutex
	of    map[any]member // by conn or *account
	ended time.Duration  // what those have used that have left
}

type member struct {
	bot *process
	tid int // of a worker
}

var (
	crowdsMu sync.Mutex
	crowds   = map[int]*crowd{} // by core
)

func crowdOf(core int) *crowd {
	crowdsMu.Lock()
	defer crowdsMu.Unlock()
	if crowds[core] == nil {
		crowds[core] = &crowd{of: map[any]member{}}
	}
	return crowds[core]
}

func (c *crowd) join(key any, bot *process, tid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[key] = member{bot, tid}
}

func (c *crowd) leave(key any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := c.of[key]; ok {
		t, _ := m.time()
		c.ended += t.CPU
		delete(c.of, key)
	}
}

// read adds the time of each bot to a map, and returns the sum of all times.
func (c *crowd) read(of map[conn]sandbox.Time) (sum time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum = c.ended
	for key, m := range c.of {
		t, ok := m.time()
		if bot, is := key.(conn); is && ok {
			of[bot] = t
		}
		sum += t.CPU
	}
	return sum
}

func (m member) time() (sandbox.Time, bool) {
	if m.bot == nil {
		t, err := sandbox.TimeOfThread(m.tid)
		return t, err == nil
	}
	if m.bot.sandbox != nil {
		return m.bot.sandbox.Time()
	}
	if m.bot.pid == 0 {
		return sandbox.Time{}, false
	}
	return sandbox.TimeOf(m.bot.pid)
}

// ready reports whether a thread of the bot runs or is ready to run.
func (p *process) ready() bool {
	if p.sandbox != nil {
		return p.sandbox.Ready()
	}
	return sandbox.Ready(p.pid)
}

// astray returns what processes have used that a bot without a sandbox has started and that
// are no longer its descendants.
func (p *process) astray() (sum time.Duration) {
	ours := sandbox.Below(p.pid)
	for _, pid := range tagged(p.tag) {
		if !slices.Contains(ours, pid) {
			t, _ := sandbox.TimeOf(pid)
			sum += t.CPU
		}
	}
	return sum
}
