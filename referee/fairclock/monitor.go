package fairclock

import (
	"slices"
	"sync"
	"time"

	"github.com/timba-arena/timba/internal/proc"
)

// Usage says how much CPU time the processes of a bot have used so far, and for how long they have waited for a core.
type Usage struct {
	CPU      time.Duration // of all threads, including those that have ended
	AliveCPU time.Duration // of the threads that still exist
	Wait     time.Duration // time that the threads that still exist waited for a core, until each of them last ran
}

func (u Usage) endedCPU() time.Duration { return max(0, u.CPU-u.AliveCPU) }

// Counters reads what the kernel has counted for the processes of one bot, such as their CPU time.
type Counters interface {
	// CPU returns the CPU time that all processes of the bot have used so far.
	CPU() time.Duration
	// QuickCPU returns the CPU time that the bot has used, as far as it can be read quickly. It may leave out some
	// processes of the bot.
	QuickCPU() time.Duration
	// Usage returns the usage of all processes of the bot. ok is false if the kernel does not count all of it.
	Usage() (u Usage, ok bool)
	// Ready returns the bot's threads that run or wait for a core. It may be called while another goroutine calls CPU.
	Ready() Threads
}

// counters reads what the kernel has counted for the cores and for the thread of one worker.
type counters interface {
	read() (counts, error)
	// running returns how many threads of the whole machine run or wait for a core.
	running() int
	close()
}

// counts has the values of the kernel's counters at one moment.
type counts struct {
	IdleTime      time.Duration // sum over the cores
	StolenTime    time.Duration // time that other virtual machines took, sum over the cores
	ThrottledTime time.Duration // time for which a CPU quota of its cgroups stopped this program
	WorkerCPU     time.Duration
	WorkerWait    time.Duration // time for which the worker waited for a core
}

// Players is the list of the bots that share some cores. Several goroutines may use it at the same time.
type Players struct {
	Low bool // the bots have the lowest priority, so a thread that has ended may have waited for a core all the time

	mu         sync.Mutex
	bots       []Counters
	removedCPU time.Duration // CPU time of bots that have ended
}

// Monitor measures which programs use the cores of one worker, a thread that plays games. Only the goroutine of
// that worker may use it. A nil Monitor measures nothing.
type Monitor struct {
	counters counters
	cores    int
	players  *Players

	othersCPU, coreTime time.Duration // see Busy
	// delayed is set when the counters were read late or not at all, because the worker did not get a core in time.
	// From then on, the CPU time of the bot is also read at the start of each turn.
	delayed bool
}

// Close closes the files of the Monitor. It does nothing if w is nil.
func (w *Monitor) Close() {
	if w != nil {
		w.counters.close()
	}
}

func (w *Monitor) add(b Counters) {
	w.players.mu.Lock()
	defer w.players.mu.Unlock()
	w.players.bots = append(w.players.bots, b)
}

// remove removes a bot from the list of bots that share the cores. The CPU time that the bot has used still counts in
// the total of all bots. Call remove before the bot's processes are ended.
func (w *Monitor) remove(b Counters) {
	w.players.mu.Lock()
	defer w.players.mu.Unlock()
	if i := slices.Index(w.players.bots, b); i >= 0 {
		w.players.removedCPU += b.CPU()
		w.players.bots = slices.Delete(w.players.bots, i, i+1)
	}
}

// reading contains the values of all CPU time counters at one moment.
type reading struct {
	takenAt time.Time
	counts
	playersCPU  time.Duration // CPU time of all bots that share the cores
	bot         Usage         // usage of the measured bot; zero before it starts
	botComplete bool          // whether bot contains the usage of all processes of the bot
}

// read reads all counters at the time now. bot is the bot whose Usage is read; nil means none. read returns nil if w
// is nil or the kernel's counters cannot be read.
func (w *Monitor) read(bot Counters, now time.Time) *reading {
	if w == nil {
		return nil
	}
	counts, err := w.counters.read()
	if err != nil {
		return nil
	}
	w.players.mu.Lock()
	defer w.players.mu.Unlock()
	r := &reading{takenAt: now, counts: counts, playersCPU: w.players.removedCPU}
	for _, p := range w.players.bots {
		if p != bot {
			r.playersCPU += p.CPU()
			continue
		}
		r.bot, r.botComplete = p.Usage()
		r.playersCPU += r.bot.CPU
	}
	return r
}

// loss returns the time that a bot lost to other programs between two readings. from is the earlier reading and to
// the later one. If the later reading does not contain the usage of all the bot's processes, loss returns no loss.
//
// unread is an upper bound for the time that an answer was in the pipe before the worker read it. open is an upper
// bound for a wait for a core that has not ended yet; the kernel counts a wait only when it ends.
func (w *Monitor) loss(from, to *reading, unread, open time.Duration) Loss {
	if !to.botComplete {
		return Loss{}
	}
	wall := to.takenAt.Sub(from.takenAt)
	stolen := max(0, to.StolenTime-from.StolenTime) / time.Duration(w.cores)
	// The CPU time of the worker is not the bot's time either. It counts only as far as others use the core:
	// otherwise each turn would have some credit.
	taken := w.othersUse(from, to)
	taken += min(taken, to.WorkerCPU-from.WorkerCPU)
	taken += max(0, to.ThrottledTime-from.ThrottledTime)
	wait := to.bot.Wait - from.bot.Wait + unread
	if ended := to.bot.endedCPU() - from.bot.endedCPU(); ended > proc.Tick {
		// The waits of threads that have ended are not counted. If n threads share a core fairly, each of them waits
		// at most n times as long as it runs.
		wait += ended * time.Duration(w.counters.running())
		if w.players.Low {
			wait = wall
		}
	}
	// A bot that has used a whole core has lost nothing, even if its threads waited for each other.
	most := min(taken, wall-(to.bot.CPU-from.bot.CPU))
	certain := max(0, min(most, wait))
	return Loss{Certain: certain, Possible: max(certain, min(most, wait+open)), stolen: stolen}.Plus(stolen)
}

// othersUse returns the CPU time, summed over the cores, that other programs used between two readings. It is all the
// time of the cores except four parts: idle time, time that other virtual machines took, and the CPU time of the bots
// and of the worker.
func (w *Monitor) othersUse(from, to *reading) time.Duration {
	wall := to.takenAt.Sub(from.takenAt) * time.Duration(w.cores)
	return max(0, wall-(to.IdleTime-from.IdleTime)-(to.playersCPU-from.playersCPU)-(to.WorkerCPU-from.WorkerCPU)-max(0, to.StolenTime-from.StolenTime))
}

// recordCredit adds the time between two readings of a turn to the sums that Busy returns. Call it for a turn in
// which other programs took time from the bot.
func (w *Monitor) recordCredit(from, to *reading) {
	w.othersCPU += w.othersUse(from, to)
	w.coreTime += to.takenAt.Sub(from.takenAt) * time.Duration(w.cores)
}

// Busy returns how busy other programs kept the cores since its last call. It counts only turns in which they took
// time from a bot. used is the CPU time of the other programs, and total is the time of the cores, both summed over
// the cores. If w is nil, both are 0.
func (w *Monitor) Busy() (used, total time.Duration) {
	if w == nil {
		return 0, 0
	}
	used, total = w.othersCPU, w.coreTime
	w.othersCPU, w.coreTime = 0, 0
	return used, total
}

// Threads maps the directory of a thread in /proc to the time for which the thread has run or waited for a core so
// far.
type Threads map[string]time.Duration

// openWaits estimates for how long threads have been waiting for a core. It is needed because the kernel counts a
// wait only when it ends.
type openWaits struct {
	last    time.Time // time of the last call of begin or longest
	threads map[string]openWait
}

// openWait describes a thread that runs or waits for a core. It has done so at each call of longest since the time
// since, and has not run between these calls.
type openWait struct {
	since time.Time
	had   time.Duration // its value in Threads at that time
}

// begin forgets all threads. Later estimates then include only time after now.
func (w *openWaits) begin(now time.Time) { w.last, w.threads = now, nil }

// longest returns an upper bound for the time that any thread in ready has been waiting for a core. now is the
// present time. ready must contain all threads that run or wait for a core.
func (w *openWaits) longest(ready Threads, now time.Time) (longest time.Duration) {
	threads := make(map[string]openWait, len(ready))
	for name, had := range ready {
		t, ok := w.threads[name]
		if !ok || t.had != had { // it was not ready at the last call, or has run since
			t = openWait{w.last, had}
		}
		threads[name] = t
		longest = max(longest, now.Sub(t.since))
	}
	w.last, w.threads = now, threads
	return longest
}
