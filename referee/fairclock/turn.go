package fairclock

import "time"

// firstReading is how long a turn takes before the counters are read, unless a tenth of its time is less. Quick
// answers cost no reading.
const firstReading = 5 * time.Millisecond

// readingInterval is the time between two readings while a bot has not answered.
const readingInterval = 100 * time.Millisecond

// Turn measures what others take from one bot during each of its turns, and during its start. The zero Turn measures
// nothing. It is for the goroutine of the worker.
type Turn struct {
	watch *Watch // if nil, nothing is measured
	bot   Bot
	start time.Time // zero between turns

	nextReading time.Time
	first       *reading // nil until the counters are read
	last        *reading // the newest at which the bot was asleep; else first
	settled     Loss     // between first and last
	waits       openWaits

	referee     absence
	startCPU    time.Duration // of the bot when the turn began; -1 if it was not read
	firstCPU    time.Duration // of the bot at the first reading
	inputFilled bool          // the bot did not read its input, so that the referee's waits are the bot's own doing
}

// absence is the time in which the referee could not notice an answer.
type absence struct {
	sleepStart time.Time     // of its last sleep
	overslept  time.Duration // by which its sleeps were too long since the first reading
	judgeStart time.Time     // zero while it looks for an answer
	judging    time.Duration // after the turn was due, instead of looking for an answer
}

// NewTurn returns the Turn of a bot that will be started, which is counted from now on. Watch must be called when it
// has started.
func NewTurn(w *Watch, now time.Time) (t Turn) {
	t.watch, t.first = w, w.read(nil, now)
	return t
}

// Watch has the bot counted, which has started.
func (t *Turn) Watch(b Bot) {
	t.bot = b
	if t.watch == nil {
		return
	}
	t.watch.add(b)
	if first := t.first; first != nil {
		t.reset(first.at)
		t.first, t.last, t.nextReading = first, first, first.at.Add(readingInterval)
	}
}

// Close ends the counting, before the bot ends.
func (t *Turn) Close() {
	if t.watch != nil {
		t.watch.remove(t.bot)
	}
}

// Begin begins a turn for which the bot has a time.
func (t *Turn) Begin(now time.Time, left time.Duration) {
	t.reset(now)
	t.nextReading = now.Add(min(firstReading, left/10))
	if t.watch != nil && t.watch.delayed {
		t.startCPU = t.bot.QuickCPU()
	}
}

// reset begins a turn without readings.
func (t *Turn) reset(now time.Time) {
	*t = Turn{watch: t.watch, bot: t.bot, start: now, waits: t.waits, startCPU: -1, inputFilled: t.inputFilled}
	t.waits.begin(now)
}

// End ends a turn: the bot has answered.
func (t *Turn) End() { t.start, t.inputFilled = time.Time{}, false }

// InputFilled notes that the bot has not read all its input.
func (t *Turn) InputFilled() { t.inputFilled = true }

// Sample reads the counters if it is time for that, and returns how long it is until the next time.
func (t *Turn) Sample(now time.Time) time.Duration {
	if t.watch == nil || t.start.IsZero() {
		return readingInterval
	}
	late := now.Sub(t.nextReading)
	if late < 0 {
		return -late
	}
	t.nextReading = now.Add(readingInterval)
	switch {
	case t.first == nil:
		if late > firstReading {
			t.watch.delayed = true
		}
		t.first = t.watch.read(t.bot, now)
		t.last, t.referee.overslept = t.first, 0
		if t.startCPU >= 0 {
			t.firstCPU = t.bot.QuickCPU()
		}
	case !t.WantsCore():
		// All of its waits are counted, and none of them is time in which it sleeps from now on.
		if r := t.watch.read(t.bot, now); r != nil {
			t.settled = t.settled.then(t.watch.loss(t.last, r, 0, 0))
			t.last = r
			t.waits.begin(now)
		}
	}
	return readingInterval
}

// WantsCore reports whether a thread of the bot runs or waits for a core.
func (t *Turn) WantsCore() bool { return t.bot != nil && len(t.bot.Ready()) > 0 }

// Slept notes a sleep of the referee that should have taken a time.
func (t *Turn) Slept(from, to time.Time, asked time.Duration) {
	if !t.inputFilled {
		t.referee.overslept += Overslept(from, to, asked)
		t.referee.sleepStart = from
	}
}

// Overslept returns by how much a sleep of the referee was too long. A millisecond more is usual on an idle machine,
// as the kernel is asked for whole ones. Of a longer delay all counts: an answer may have been there when the sleep
// should have ended.
func Overslept(from, to time.Time, asked time.Duration) time.Duration {
	if late := to.Sub(from) - asked; late > time.Millisecond {
		return late
	}
	return 0
}

// StopLooking notes that the referee does not look for an answer from now on, as it judges.
func (t *Turn) StopLooking(now time.Time) { t.referee.judgeStart = now }

// Look notes that the referee looks for an answer, perhaps again.
func (t *Turn) Look(now time.Time) {
	if r := &t.referee; !r.judgeStart.IsZero() {
		r.judging, r.judgeStart = r.judging+now.Sub(r.judgeStart), time.Time{}
	}
}

// Absence returns for how long the referee did not look for an answer when it should have: it overslept or, before an
// answer, judged.
func (t *Turn) Absence(answered bool) time.Duration {
	if answered {
		return t.referee.overslept + t.referee.judging
	}
	return t.referee.overslept
}

// Loss returns what the bot has lost from since, when its turn or its start began, until now. answered is whether an
// answer has been read now.
func (t *Turn) Loss(since, now time.Time, answered bool) Loss {
	if t.watch == nil || t.start.IsZero() {
		return Loss{}
	}
	length := now.Sub(since)
	if t.first == nil {
		return Loss{}.Plus(t.lostBeforeReading(since, now, 0))
	}
	// The counters come after the threads: in between the worker may lose its core, and the bot answer.
	var ready Threads
	if !answered {
		ready = t.bot.Ready()
	}
	r := t.watch.read(t.bot, now)
	if r == nil {
		return Loss{}
	}
	loss := t.measuredLoss(r, ready, answered)
	loss = loss.Plus(t.lostBeforeReading(since, now, loss.Certain))
	loss = loss.Plus(t.lostInAbsence(r, loss.stolen, answered)).atMost(length)
	if loss.Certain > 0 {
		t.watch.noteCredit(t.first, r)
	}
	return loss
}

// lostBeforeReading returns what the bot lost before the first reading, when nothing was measured. Where that reading
// came late, or has not come, all of the time counts that the bot has not used, else at most as much as was measured
// behind the reading. A bot that did not read its input has delayed the reading by itself.
func (t *Turn) lostBeforeReading(since, now time.Time, measured time.Duration) time.Duration {
	if t.first == nil {
		t.watch.delayed = true
		lost := now.Sub(t.nextReading)
		if lost <= firstReading {
			lost = t.referee.overslept
		}
		return max(0, min(lost, now.Sub(since))-t.usedCPU(t.bot.QuickCPU()))
	}
	if t.inputFilled {
		return 0
	}
	lost := t.first.at.Sub(since)
	if lost <= 2*firstReading {
		lost = min(lost, measured)
	}
	return max(0, lost-t.usedCPU(t.firstCPU))
}

// measuredLoss returns what the kernel has counted from the first reading to another one. The ready threads are those
// of a bot that has not answered.
func (t *Turn) measuredLoss(r *reading, ready Threads, answered bool) Loss {
	var unread, open time.Duration
	if answered {
		unread = max(0, min(r.WorkerWait-t.first.WorkerWait, r.at.Sub(t.referee.sleepStart)))
	} else {
		open = t.waits.longest(ready, r.at)
	}
	return t.settled.then(t.watch.loss(t.last, r, unread, open))
}

// lostInAbsence returns for how long the referee was stopped. A wait for a core and what another virtual machine took
// are measured already.
func (t *Turn) lostInAbsence(r *reading, stolen time.Duration, answered bool) time.Duration {
	return max(0, t.Absence(answered)-(r.WorkerWait-t.first.WorkerWait)-stolen)
}

// usedCPU returns what the bot has used of the processors since the turn began, from its CPU time now; 0 if that is
// not known.
func (t *Turn) usedCPU(cpu time.Duration) time.Duration {
	if t.startCPU < 0 {
		return 0
	}
	return max(0, cpu-t.startCPU)
}
