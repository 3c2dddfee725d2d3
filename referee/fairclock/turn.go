package fairclock

import "time"

// firstReading is the time from the start of a turn to the first reading of the kernel's counters. If a tenth of the
// bot's remaining time is shorter, the reading is made after that. If the bot answers earlier, no reading is made.
const firstReading = 5 * time.Millisecond

// readingInterval is the time between two readings of the kernel's counters while a bot has not answered.
const readingInterval = 100 * time.Millisecond

// TurnMeter measures how much time one bot loses to other programs, in its start-up and in each turn. The zero
// TurnMeter measures nothing. Only the goroutine of the worker that plays the game may use it.
type TurnMeter struct {
	monitor *Monitor // if nil, nothing is measured
	bot     Counters
	start   time.Time // zero between turns

	nextReading time.Time
	first       *reading // nil until the counters are read
	last        *reading // the newest reading at which no thread of the bot wanted a core, otherwise first
	settledLoss Loss     // the loss between first and last
	waits       openWaits

	referee     absence
	startCPU    time.Duration // CPU time of the bot when the turn began; -1 if it was not read
	firstCPU    time.Duration // CPU time of the bot at the first reading
	inputFilled bool          // the bot did not read its input, so that the referee waited because of the bot
}

// absence says for how long in a turn the referee could not have noticed an answer.
type absence struct {
	sleepStart time.Time     // start of the referee's last sleep
	overslept  time.Duration // sum of how much longer than asked its sleeps were, since the first reading
	judgeStart time.Time     // when it began to judge the turn; zero while it looks for an answer
	judging    time.Duration // time that it spent judging the turn instead of looking for an answer
}

// NewTurn returns the TurnMeter of a bot that is about to be started. It measures the bot's start-up, which begins at
// the time now, and then all its turns. w may be nil; then nothing is measured. Call Attach when the bot has been
// started.
func NewTurn(w *Monitor, now time.Time) (t TurnMeter) {
	t.monitor, t.first = w, w.read(nil, now)
	return t
}

// Attach tells the TurnMeter the processes of the bot, which has been started.
func (t *TurnMeter) Attach(b Counters) {
	t.bot = b
	if t.monitor == nil {
		return
	}
	t.monitor.add(b)
	if first := t.first; first != nil {
		t.reset(first.takenAt)
		t.first, t.last, t.nextReading = first, first, first.takenAt.Add(readingInterval)
	}
}

// Close ends all measurements. Call it before the bot's processes are ended.
func (t *TurnMeter) Close() {
	if t.monitor != nil {
		t.monitor.remove(t.bot)
	}
}

// Begin starts the measurement of a turn at the time now. left is the remaining time on the bot's clock.
func (t *TurnMeter) Begin(now time.Time, left time.Duration) {
	t.reset(now)
	t.nextReading = now.Add(min(firstReading, left/10))
	if t.monitor != nil && t.monitor.delayed {
		t.startCPU = t.bot.QuickCPU()
	}
}

func (t *TurnMeter) reset(now time.Time) {
	*t = TurnMeter{monitor: t.monitor, bot: t.bot, start: now, waits: t.waits, startCPU: -1, inputFilled: t.inputFilled}
	t.waits.begin(now)
}

// End ends the measurement of a turn after the bot's answer.
func (t *TurnMeter) End() { t.start, t.inputFilled = time.Time{}, false }

// RecordFullInput records that the bot does not read its input. The referee then waits because of the bot, not
// because of other programs.
func (t *TurnMeter) RecordFullInput() { t.inputFilled = true }

// Sample reads the kernel's counters if the next reading is due. It returns the time from now until the following
// reading.
func (t *TurnMeter) Sample(now time.Time) time.Duration {
	if t.monitor == nil || t.start.IsZero() {
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
			t.monitor.delayed = true
		}
		t.first = t.monitor.read(t.bot, now)
		t.last, t.referee.overslept = t.first, 0
		if t.startCPU >= 0 {
			t.firstCPU = t.bot.QuickCPU()
		}
	case !t.WantsCore():
		// The bot sleeps: the kernel has counted all of its waits, and no wait is open.
		if r := t.monitor.read(t.bot, now); r != nil {
			t.settledLoss = t.settledLoss.followedBy(t.monitor.loss(t.last, r, 0, 0))
			t.last = r
			t.waits.begin(now)
		}
	}
	return readingInterval
}

// WantsCore reports whether at least one thread of the bot runs or waits for a core.
func (t *TurnMeter) WantsCore() bool { return t.bot != nil && len(t.bot.Ready()) > 0 }

// RecordSleep records that the referee slept. from and to are the times at which the sleep began and ended. asked is
// how long it should have lasted.
func (t *TurnMeter) RecordSleep(from, to time.Time, asked time.Duration) {
	if !t.inputFilled {
		t.referee.overslept += Overslept(from, to, asked)
		t.referee.sleepStart = from
	}
}

// Overslept returns how much longer the referee slept than it intended. from and to are the times at which the sleep
// began and ended, and asked is the intended duration. A delay of up to a millisecond gives 0, because it is usual on
// an idle machine. A longer delay counts in full, because the answer may have come when the sleep should have ended.
func Overslept(from, to time.Time, asked time.Duration) time.Duration {
	if late := to.Sub(from) - asked; late > time.Millisecond {
		return late
	}
	return 0
}

// StopLooking records that, at the time now, the referee stops looking for an answer, because it decides whether the
// bot is late.
func (t *TurnMeter) StopLooking(now time.Time) { t.referee.judgeStart = now }

// ResumeLooking records that, at the time now, the referee looks for an answer again.
func (t *TurnMeter) ResumeLooking(now time.Time) {
	if r := &t.referee; !r.judgeStart.IsZero() {
		r.judging, r.judgeStart = r.judging+now.Sub(r.judgeStart), time.Time{}
	}
}

// Absence returns for how long in this turn the referee could not have noticed an answer. This is the time by which
// it slept too long and, if answered is true, the time in which it decided whether the bot is late. After the first
// reading of the counters, the sleeps before that reading no longer count. The result of Loss already includes the
// absence.
func (t *TurnMeter) Absence(answered bool) time.Duration {
	if answered {
		return t.referee.overslept + t.referee.judging
	}
	return t.referee.overslept
}

// Loss returns how much time the bot has lost to other programs in this turn or in its start-up. since is when that
// began, and now is the present time. answered is true if the bot's answer has just been read.
func (t *TurnMeter) Loss(since, now time.Time, answered bool) Loss {
	if t.monitor == nil || t.start.IsZero() {
		return Loss{}
	}
	length := now.Sub(since)
	if t.first == nil {
		return Loss{}.Plus(t.lostBeforeReading(since, now, 0))
	}
	// The threads are read before the counters, because between these two readings the worker may lose its core and
	// the bot may answer.
	var ready Threads
	if !answered {
		ready = t.bot.Ready()
	}
	r := t.monitor.read(t.bot, now)
	if r == nil {
		return Loss{}
	}
	loss := t.measuredLoss(r, ready, answered)
	loss = loss.Plus(t.lostBeforeReading(since, now, loss.Certain))
	loss = loss.Plus(t.lostInAbsence(r, loss.stolen, answered)).atMost(length)
	if loss.Certain > 0 {
		t.monitor.recordCredit(t.first, r)
	}
	return loss
}

// lostBeforeReading returns how much time the bot lost before the first reading of the kernel's counters. If that
// reading was in time, the result is at most measured, the loss after the reading. If the reading was late, it is all
// the time before the reading. If the reading was not made, it is the time since the reading was due. If that time is
// at most firstReading, it is the time by which the referee overslept instead.
//
// The CPU time that the bot used is subtracted if it is known; see Monitor.delayed. If the reading was made and the
// bot did not read its input, the bot itself delayed the reading, and the result is 0.
func (t *TurnMeter) lostBeforeReading(since, now time.Time, measured time.Duration) time.Duration {
	if t.first == nil {
		t.monitor.delayed = true
		lost := now.Sub(t.nextReading)
		if lost <= firstReading {
			lost = t.referee.overslept
		}
		return max(0, min(lost, now.Sub(since))-t.usedCPU(t.bot.QuickCPU()))
	}
	if t.inputFilled {
		return 0
	}
	lost := t.first.takenAt.Sub(since)
	if lost <= 2*firstReading {
		lost = min(lost, measured)
	}
	return max(0, lost-t.usedCPU(t.firstCPU))
}

// measuredLoss returns the time that the bot lost between the first reading and the reading r. answered says whether
// the bot has answered. If it has not, ready must contain its threads that run or wait for a core.
func (t *TurnMeter) measuredLoss(r *reading, ready Threads, answered bool) Loss {
	var unread, open time.Duration
	if answered {
		unread = max(0, min(r.WorkerWait-t.first.WorkerWait, r.takenAt.Sub(t.referee.sleepStart)))
	} else {
		open = t.waits.longest(ready, r.takenAt)
	}
	return t.settledLoss.followedBy(t.monitor.loss(t.last, r, unread, open))
}

// lostInAbsence returns for how long the referee could not have noticed an answer. It subtracts two times that are
// counted elsewhere: the referee's waits for a core, and stolen, the time that other virtual machines took.
func (t *TurnMeter) lostInAbsence(r *reading, stolen time.Duration, answered bool) time.Duration {
	return max(0, t.Absence(answered)-(r.WorkerWait-t.first.WorkerWait)-stolen)
}

// usedCPU returns the CPU time that the bot has used since the turn began, or 0 if that is unknown. cpu is all the
// CPU time that it has used so far.
func (t *TurnMeter) usedCPU(cpu time.Duration) time.Duration {
	if t.startCPU < 0 {
		return 0
	}
	return max(0, cpu-t.startCPU)
}
