package match

import (
	"slices"
	"strconv"
	"time"

	"github.com/timba-arena/timba/internal/proc"
	"github.com/timba-arena/timba/referee/cores"
)

// turnTime tells how much of a turn of a process, or of its start, was lost to others. The kernel's
// counters are read when the turn has taken a little time, so that quick answers cost nothing, and
// again when the answer is late.
type turnTime struct {
	watch *cores.Watch   // nil tells nothing
	since time.Time      // when the turn began; zero between turns
	due   time.Time      // when the counters are read next
	first *cores.Reading // of the turn; nil before
	last  *cores.Reading // when the bot was last seen asleep; else the first one
	lost  cores.Lost     // from the first reading to the last one

	looked    time.Time     // when the last sleep began
	overslept time.Duration // how much longer than asked the referee has slept since the first reading
	left      time.Time     // when Line last returned ErrLate; zero: the referee looks for a line
	away      time.Duration // how long it has judged

	waits cores.Waits // of the bot, as it was seen when it was late

	own, had time.Duration // the bot's CPU time at the beginning, -1 if it was not read, and at the first reading

	searched time.Duration         // how long the turn is when the bot's hidden processes are looked for again
	hidden   time.Duration         // what they may have used in the turn
	strays   map[int]time.Duration // what each had used when it was seen last
}

// firstReading is when the counters are read first in a turn, or a tenth of its time where that is
// less.
const firstReading = 5 * time.Millisecond

// firstSearch is how many times as long as the bot has a turn is before hidden processes are looked for while the
// bot has not answered: to read what other processes are may take seconds on a busy machine.
const firstSearch = 4

func (t *turnTime) begin(now time.Time, left time.Duration) {
	due := now.Add(min(firstReading, left/10))
	*t = turnTime{watch: t.watch, since: now, due: due, own: -1, waits: t.waits, searched: firstSearch * left, strays: t.strays}
	t.waits.Begin(now)
}

// sampleIfDue reads the counters if it is time for that, and returns how long it is until the next time.
func (p *process) sampleIfDue(now time.Time) time.Duration {
	t := &p.turn
	if t.watch == nil || t.since.IsZero() {
		return stopSlice
	}
	if left := t.due.Sub(now); left > 0 {
		return left
	}
	late := now.Sub(t.due)
	t.due = now.Add(stopSlice)
	switch {
	case t.first == nil:
		if late > firstReading {
			t.watch.Delayed()
		}
		t.first = t.watch.Read(p.used, now)
		t.last, t.overslept = t.first, 0
		if t.own >= 0 {
			t.had = p.used.FirstCPU()
		}
	case len(p.used.Ready()) == 0:
		// All of its waits are counted, and none of them is time in which it sleeps from now on.
		if to := t.watch.Read(p.used, now); to != nil {
			t.lost = t.lost.Plus(t.watch.Lost(t.last, to, 0, 0))
			t.last = to
			t.waits.Begin(now)
		}
	}
	return stopSlice
}

// slept notes a sleep of the referee.
func (t *turnTime) slept(from, to time.Time, asked time.Duration) {
	t.overslept += overslept(from, to, asked)
	t.looked = from
}

// returns notes that the referee looks for a line, perhaps again.
func (t *turnTime) returns(now time.Time) {
	if !t.left.IsZero() {
		t.away, t.left = t.away+now.Sub(t.left), time.Time{}
	}
}

// absent returns for how long the referee was not there when it should have been: it slept, or it judged while the
// answer may have come.
func (t *turnTime) absent(answered bool) time.Duration {
	if answered {
		return t.overslept + t.away
	}
	return t.overslept
}

// observe has the watch count the process from its start on, before which the reading was made.
func (p *process) observe(w *cores.Watch, first *cores.Reading) {
	p.turn.watch = w
	p.used = cores.NewBot(p.sandbox)
	w.Add(p.used)
	if first != nil {
		p.turn.begin(first.At, 0)
		p.turn.first, p.turn.last, p.turn.due = first, first, first.At.Add(stopSlice)
	}
}

func (p *process) Begin(now time.Time, left time.Duration) error {
	p.turn.begin(now, left)
	if p.turn.watch.WasDelayed() {
		p.turn.own = p.used.FirstCPU()
	}
	return p.wake()
}

func (p *process) Lost(since, now time.Time, answered bool) cores.Lost {
	t := &p.turn
	if t.watch == nil || t.since.IsZero() {
		return cores.Lost{}
	}
	turn := now.Sub(since)
	if t.first == nil { // the referee was away when it should have read the counters, and since then
		t.watch.Delayed()
		away := now.Sub(t.due)
		if away <= firstReading {
			away = t.overslept
		}
		lost := max(0, min(away, turn)-t.used(p.used.FirstCPU()))
		return cores.Lost{Known: lost, Most: lost}
	}
	// Before the counters are read: the worker may lose its core in between, and the bot answer.
	var ready cores.Threads
	if !answered {
		ready = p.used.Ready()
	}
	to := t.watch.Read(p.used, now)
	if to == nil {
		return cores.Lost{}
	}
	held := to.Waited - t.first.Waited // the referee, by a lack of cores
	var unread, unseen time.Duration
	if answered {
		unread = max(0, min(held, now.Sub(t.looked)))
	} else {
		unseen = t.waits.Longest(ready, now)
	}
	lost := t.lost.Plus(t.watch.Lost(t.last, to, unread, unseen))
	if lost.Most > 0 && p.bare() {
		if answered || turn >= t.searched { // which takes long
			t.searched, t.hidden = 2*turn, min(turn, t.hidden+p.hidden(turn))
		}
		lost.Known, lost.Most = max(0, lost.Known-t.hidden), max(0, lost.Most-t.hidden)
	}
	// The time before the first reading was not measured. If that reading came late, all of it counts as
	// lost, else at most as much as was lost after it; what the bot used of it does not. A bot that did
	// not read its input has delayed the reading by itself.
	before := t.first.At.Sub(since)
	if before <= 2*firstReading {
		before = min(before, lost.Known)
	}
	if !p.filled && before > 0 {
		before = max(0, before-t.used(t.had))
		lost.Known, lost.Most = lost.Known+before, lost.Most+before
	}
	stopped := max(0, t.absent(answered)-held-lost.Stolen)
	lost.Known, lost.Most = min(turn, lost.Known+stopped), min(turn, lost.Most+stopped)
	if lost.Known > 0 {
		t.watch.Gave(t.first, to)
	}
	return lost
}

// used returns what the bot has used of the processors since the turn began, if that is known, from
// its CPU time.
func (t *turnTime) used(cpu time.Duration) time.Duration {
	if t.own < 0 {
		return 0
	}
	return max(0, cpu-t.own)
}

// over reports whether the bot has ended, and its sandbox has only to tell so: nothing lives below
// the sandbox's init, or init has not yet seen the end of a child.
func (p *process) over() bool {
	if p.bare() {
		return false
	}
	init := p.sandbox.Pid()
	if init == 0 {
		return true
	}
	ended := func(pid int) bool {
		f := proc.Stat("/proc/" + strconv.Itoa(pid))
		return len(f) == 0 || string(f[0]) == "Z" || string(f[0]) == "X"
	}
	lives := func(pid int) bool { return !ended(pid) }
	return slices.ContainsFunc(proc.Children(init), ended) || !slices.ContainsFunc(proc.Below(init)[1:], lives)
}

// hidden returns what processes have used since they were seen last that a bot without a sandbox has
// started and that are no longer its descendants: all of the turn where it ignores the end of some.
func (p *process) hidden(turn time.Duration) (sum time.Duration) {
	first := p.sandbox.Pid()
	if cores.Forgets(first) {
		return turn
	}
	ours, strays := proc.Below(first), map[int]time.Duration{}
	defer func() { p.turn.strays = strays }()
	for _, pid := range p.sandbox.Marked() {
		if !slices.Contains(ours, pid) {
			t, _ := cores.OfProcess(pid)
			sum += t.CPU - p.turn.strays[pid]
			strays[pid] = t.CPU
		}
	}
	return sum
}
