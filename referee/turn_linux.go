package referee

import (
	"slices"
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
	due   time.Time      // of the first reading
	first *cores.Reading // nil before

	looked    time.Time     // when the last sleep began
	overslept time.Duration // how much longer than asked the referee has slept since the first reading

	judged time.Time     // when the bot's time was read last
	had    time.Duration // what it had had then, run and waited

	searched time.Duration // how long the turn is when the bot's hidden processes are looked for again
	hidden   time.Duration // what they may have used
}

// firstReading is when the counters are read first in a turn, or a tenth of its time where that is
// less.
const firstReading = 5 * time.Millisecond

func (t *turnTime) begin(now time.Time, left time.Duration) {
	t.since, t.due, t.first = now, now.Add(min(firstReading, left/10)), nil
	t.overslept, t.judged, t.searched, t.hidden = 0, time.Time{}, 0, 0
}

func (t *turnTime) end() { t.since = time.Time{} }

// read reads the counters if it is time for that, and returns how long the referee may sleep.
func (t *turnTime) read(now time.Time) time.Duration {
	if t.watch == nil || t.since.IsZero() || t.first != nil {
		return stopSlice
	}
	if left := t.due.Sub(now); left > 0 {
		return left
	}
	t.first = t.watch.Read(now)
	t.overslept = 0
	return stopSlice
}

// slept notes a sleep of the referee.
func (t *turnTime) slept(from, to time.Time, asked time.Duration) {
	if late := to.Sub(from) - asked - time.Millisecond; late > 0 {
		t.overslept += late
	}
	t.looked = from
}

// observe has the watch count the process from its start on, before which the reading was made.
func (p *process) observe(w *cores.Watch, first *cores.Reading) {
	p.turn.watch = w
	w.Add(p)
	if first != nil {
		p.turn.begin(first.At, 0)
		p.turn.first = first
	}
}

func (p *process) Begin(now time.Time, left time.Duration) error {
	p.turn.begin(now, left)
	return p.wake()
}

func (p *process) Lost(since, now time.Time, answered bool) cores.Lost {
	t := &p.turn
	if t.watch == nil || t.since.IsZero() {
		return cores.Lost{}
	}
	turn := now.Sub(since)
	if t.first == nil { // the referee has slept over all of the turn
		lost := min(t.overslept, turn)
		return cores.Lost{Known: lost, Most: lost}
	}
	to := t.watch.Read(now)
	if to == nil {
		return cores.Lost{}
	}
	held := to.Waited - t.first.Waited // the referee, by a lack of cores
	var unread, unseen time.Duration
	if answered {
		unread = max(0, min(held, now.Sub(t.looked)))
	} else if p.Ready() {
		unseen = now.Sub(since)
		if had, ok := to.Of(p); ok {
			if !t.judged.IsZero() && had.Alive+had.Waited != t.had {
				unseen = now.Sub(t.judged) // it has run since
			}
			t.judged, t.had = now, had.Alive+had.Waited
		}
	}
	lost := t.watch.Lost(p, t.first, to, unread, unseen)
	if lost.Most > 0 && p.sandbox == nil {
		if answered || turn >= t.searched { // which takes long
			t.searched, t.hidden = 2*turn, p.hidden(turn)
		}
		lost.Known, lost.Most = max(0, lost.Known-t.hidden), max(0, lost.Most-t.hidden)
	}
	// Before the first reading nothing is known. It was delayed, or the bot lost time after it: then
	// the bot is believed to have lost all of the time before it.
	if before := t.first.At.Sub(since); before > 0 && (lost.Known > 0 || before > 2*firstReading) {
		lost.Known, lost.Most = lost.Known+before, lost.Most+before
	}
	stopped := max(0, t.overslept-held)
	lost.Known, lost.Most = min(turn, lost.Known+stopped), min(turn, lost.Most+stopped)
	if lost.Known > 0 {
		t.watch.Gave(t.first, to)
	}
	return lost
}

// Time returns what the bot has had of the processors.
func (p *process) Time() (t cores.Time, ok bool) {
	switch {
	case p.sandbox != nil:
		return cores.OfSandbox(p.sandbox)
	case p.pid == 0:
		return t, false
	}
	return cores.OfProcess(p.pid)
}

// Ready reports whether a thread of the bot runs or is ready to run.
func (p *process) Ready() bool {
	if p.sandbox != nil {
		return cores.SandboxReady(p.sandbox)
	}
	return p.pid != 0 && cores.Ready(p.pid)
}

// hidden returns what processes may have used that a bot without a sandbox has started and that
// are no longer its descendants: all of the turn where it ignores the end of some.
func (p *process) hidden(turn time.Duration) (sum time.Duration) {
	if cores.Forgets(p.pid) {
		return turn
	}
	ours := proc.Below(p.pid)
	for _, pid := range proc.Marked(tagName + "=" + p.tag) {
		if !slices.Contains(ours, pid) {
			t, _ := cores.OfProcess(pid)
			sum += t.CPU
		}
	}
	return sum
}
