package runner

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/rules"
)

// placement has the machines and the job on each of their cores.
//
//   - A machine has at most one job on each core. A machine other than this one starts with a few jobs and
//     may have one more for each match that it has played; after a failure it has only one.
//   - The jobs of a machine never need more memory than it has. If the next job does not fit yet, the
//     machine gets no other job before it, so that small jobs cannot delay a large one forever.
//   - A machine is known by its name. Its jobs, failures and counts outlast its connection.
//
// Only the goroutine of Run changes machines and assignments, holding mu. Other goroutines hold mu to read them,
// to change the counts of a machine and to suspend it.
type placement struct {
	mu       sync.Mutex
	machines []*machine            // the connected ones: this machine first, the others by name
	byName   map[string]*machine   // all, including those that have left
	matches  map[int64]*assignment // assignments of stored matches by match ID
}

// machine is a machine that plays matches, or has played some since the server started.
type machine struct {
	attempt.WorkerInfo // only Name and SeenAt are set while it is not connected
	connected          bool
	assignments        []*assignment
	awaitedMemory      int64       // bytes that must be free before it gets another job
	matchesPlayed      int         // since it was connected
	backoff                        // after it failed to play
	suspension         phrase.Text // why it gets no jobs until the server restarts; empty if it is not suspended
	record
}

// record counts what one machine has done since the server started.
type record struct {
	lastHour                                                 minuteCounts
	finishedMatches, voidGames, starvedGames, brokenAttempts int64
}

func newPlacement() *placement {
	return &placement{byName: map[string]*machine{}, matches: map[int64]*assignment{}}
}

func (p *placement) local() *machine { return p.machines[0] }

// machineNamed returns the machine called name, and adds it if it is not known.
func (p *placement) machineNamed(name string) *machine {
	m := p.byName[name]
	if m == nil {
		m = &machine{WorkerInfo: attempt.WorkerInfo{Name: name}, record: record{lastHour: minuteCounts{}}}
		p.byName[name] = m
	}
	return m
}

func (p *placement) updateMachine(m *machine, change func(*machine)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(m)
}

// sync updates the list of connected machines. now is the new list, which includes the machine of this process. It
// returns the machines that have connected (come) and disconnected (left) since the last call. The jobs of a
// disconnected machine end by themselves.
func (p *placement) sync(now []attempt.WorkerInfo) (come, left []*machine) {
	p.mu.Lock()
	defer p.mu.Unlock()
	slices.SortFunc(now, compareMachines)
	before := p.machines
	p.machines = nil
	for _, reported := range now {
		m := p.machineNamed(reported.Name)
		if !m.connected {
			m.connected, m.matchesPlayed = true, 0
			come = append(come, m)
		}
		m.WorkerInfo = reported
		if m.awaitedMemory > m.Memory { // its memory has shrunk
			m.awaitedMemory = 0
		}
		for _, x := range reported.Attempts { // learn the cores of adopted attempts
			if a := p.matches[x.Match]; a != nil && a.isAdopted() && a.machine == m && a.play.attempt.Number == x.Attempt {
				a.core = x.Core
			}
		}
		p.machines = append(p.machines, m)
	}
	for _, m := range before {
		if !slices.Contains(p.machines, m) {
			m.WorkerInfo, m.connected = attempt.WorkerInfo{Name: m.Name, SeenAt: m.SeenAt}, false
			left = append(left, m)
		}
	}
	return come, left
}

// compareMachines orders machines by name, with the machine of this process first.
func compareMachines(a, b attempt.WorkerInfo) int {
	switch {
	case a.Local == b.Local:
		return strings.Compare(a.Name, b.Name)
	case a.Local:
		return -1
	}
	return 1
}

// freeCores yields cores on which a job can start, one machine after the other. If the caller assigns a job to the
// yielded core, the next core may be of the same machine; otherwise freeCores goes on to the next machine.
func (p *placement) freeCores(now time.Time) iter.Seq[Core] {
	return func(yield func(Core) bool) {
		for _, m := range p.machines {
			for n := -1; n < len(m.assignments) && p.hasFreeCore(m, now); {
				n = len(m.assignments)
				if !yield(Core{machine: m, now: now}) {
					return
				}
			}
		}
	}
}

func (p *placement) hasFreeCore(m *machine, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return m.state(now) == ladder.MachineReady && len(m.assignments) < m.maxJobs() && m.hasMemory(m.awaitedMemory) && len(m.idleCores()) > 0
}

// firstMatches is the largest number of jobs that a machine other than this one gets at first, even if it has
// more cores.
const firstMatches = 4

// maxJobs returns how many jobs m may have at the same time.
func (m *machine) maxJobs() int {
	switch {
	case m.Local:
		return len(m.Cores)
	case m.failures > 0:
		return 1
	}
	return firstMatches + m.matchesPlayed
}

// idleCores returns the cores of m that have no job.
func (m *machine) idleCores() []int {
	idle := slices.Clone(m.Cores)
	for _, a := range m.assignments {
		if i := slices.Index(idle, a.core); i >= 0 {
			idle = slices.Delete(idle, i, i+1)
		}
	}
	return idle
}

func (m *machine) hasMemory(memory int64) bool {
	for _, a := range m.assignments {
		memory += a.job.memory()
	}
	return m.Memory == 0 || memory <= m.Memory
}

// assign assigns core c, and the memory that job j needs, to j. If not enough memory is free, it returns nil. The
// machine then gets no other job before j, until the memory is free.
func (p *placement) assign(c Core, j Job) *assignment {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !c.hasMemory(j.memory()) {
		c.awaitedMemory = j.memory()
		return nil
	}
	c.awaitedMemory = 0
	a := &assignment{job: j, machine: c.machine, core: c.idleCores()[0], start: c.now}
	c.assignments = append(c.assignments, a)
	if m, ok := j.(*matchJob); ok && m.fresh == nil {
		p.matches[m.match.ID] = a
	}
	return a
}

// unknownCore stands for the core of a match that an earlier server process started, until the machine reports the
// real core.
const unknownCore = -2

// adopt adds an assignment for the match m, which an earlier server process has sent to the machine called name.
func (p *placement) adopt(name string, m *ladder.Match, now time.Time) *assignment {
	p.mu.Lock()
	defer p.mu.Unlock()
	machine, job := p.machineNamed(name), &matchJob{match: m}
	a := &assignment{job: job, machine: machine, core: unknownCore, start: now}
	a.play = &play{outcome: outcome{assignment: a}, matchJob: job, adopted: true, attempt: m.Attempts[len(m.Attempts)-1]}
	machine.assignments = append(machine.assignments, a)
	p.matches[m.ID] = a
	return a
}

func (a *assignment) isAdopted() bool { return a.play != nil && a.play.adopted }

// recordAttempt records that the start of a match was stored. a is the assignment and job the job of the match. b is
// the result of storing the start, with the new attempt (try to play the match), whose seed is seed.
func (p *placement) recordAttempt(a *assignment, job *matchJob, seed rules.Seed, b store.StartedMatch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	job.match = &b.Match
	a.play = &play{outcome: outcome{assignment: a}, matchJob: job, attempt: b.Attempt, seed: seed}
	if job.fresh != nil {
		a.play.versions = job.fresh.versions
	}
	p.matches[b.Match.ID] = a
}

func (p *placement) release(a *assignment) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a.machine.assignments = slices.DeleteFunc(a.machine.assignments, func(o *assignment) bool { return o == a })
	if m, ok := a.job.(*matchJob); ok {
		delete(p.matches, m.match.ID)
	}
}

// allAssignments returns the jobs that run on all machines, including machines that have left.
func (p *placement) allAssignments() (list []*assignment) {
	for _, m := range p.byName {
		list = append(list, m.assignments...)
	}
	return list
}

// busyOwners returns the owners of the submissions (uploaded versions) and try-outs (tests of edited bots) that are
// running on a core.
func (p *placement) busyOwners() (people []int64) {
	for _, a := range p.local().assignments {
		if person := a.job.owner(); person != 0 {
			people = append(people, person)
		}
	}
	return people
}

// clearAwaitedMemory lets machines choose a new job if they now wait until there is memory for a certain one.
func (p *placement) clearAwaitedMemory() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.machines {
		m.awaitedMemory = 0
	}
}

func (p *placement) recordSuccess(m *machine) {
	p.updateMachine(m, func(m *machine) {
		m.matchesPlayed++
		m.backoff = backoff{}
	})
}

// recordFailure makes the machine m pause because it could not play a match. If m pauses already, it does nothing.
func (p *placement) recordFailure(m *machine, now time.Time) {
	p.updateMachine(m, func(m *machine) {
		if !m.isBackingOff(now) {
			m.backoff.recordFailure(now)
		}
	})
}

// pauseEnd returns the earliest time at which the pause of a machine ends, or the zero time if no machine pauses.
func (p *placement) pauseEnd(now time.Time) (first time.Time) {
	for _, m := range p.machines {
		if m.isBackingOff(now) {
			first = earliest(first, m.until)
		}
	}
	return first
}

// countStates returns the number of connected machines by state, and the number of cores of the machines that get
// jobs.
func (p *placement) countStates(now time.Time) (states map[ladder.MachineState]int, cores int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	states = map[ladder.MachineState]int{}
	for _, m := range p.machines {
		states[m.state(now)]++
		if m.getsJobs() {
			cores += len(m.Cores)
		}
	}
	return states, cores
}

// classes returns one machine for each class of machines that get jobs. The key is the result of classOf.
func (p *placement) classes() map[string]*machine {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := map[string]*machine{}
	for _, m := range p.machines {
		if m.getsJobs() {
			list[classOf(m.WorkerInfo)] = m
		}
	}
	return list
}

func (p *placement) isSuspended(m *machine) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !m.suspension.IsZero()
}

// getsJobs reports whether a machine gets jobs. A paused machine gets jobs after its pause, so the result is true.
func (m *machine) getsJobs() bool {
	return m.connected && m.suspension.IsZero() && m.Refusal.IsZero() && !m.Draining
}

func (m *machine) state(now time.Time) ladder.MachineState {
	switch {
	case !m.suspension.IsZero():
		return ladder.MachineSuspended
	case !m.connected:
		return ladder.MachineAway
	case !m.Refusal.IsZero():
		return ladder.MachineRefused
	case m.Draining:
		return ladder.MachineDraining
	case m.isBackingOff(now):
		return ladder.MachinePaused
	}
	return ladder.MachineReady
}

// pauseReason is the public reason for the pause of a machine.
var pauseReason = phrase.New("it could not play a match")

// describe returns a description of m for everybody. added is the time at which m got its credentials.
func (m *machine) describe(now, added time.Time) ladder.Machine {
	out := ladder.Machine{
		Name: m.Name, Local: m.Local, State: m.state(now), Version: m.Version, Protocol: m.Protocol, OS: m.OS, Arch: m.Arch,
		Sandbox: m.Sandbox, Interpreters: maps.Clone(m.Interpreters), Cores: len(m.Cores), Memory: m.Memory, LastReportAt: m.SeenAt, AddedAt: added,
		FinishedMatches: m.finishedMatches, MatchesLastHour: m.lastHour.sum(now), VoidGames: m.voidGames, StarvedGames: m.starvedGames, BrokenAttempts: m.brokenAttempts,
	}
	switch out.State {
	case ladder.MachineSuspended:
		out.Reason = m.suspension
	case ladder.MachineRefused:
		out.Reason = m.Refusal
	case ladder.MachinePaused:
		out.Reason, out.PausedUntil = pauseReason, m.until
	}
	for _, a := range m.assignments {
		if p := a.play; p != nil {
			out.Playing = append(out.Playing, ladder.MachineMatch{
				Match: p.match.ID, Attempt: p.attempt.Number, Ladder: p.match.Ladder, StartedAt: p.attempt.StartedAt,
				Bots: slices.Clone(p.match.Bots), Numbers: slices.Clone(p.match.Numbers),
			})
		}
	}
	slices.SortFunc(out.Playing, func(a, b ladder.MachineMatch) int { return cmp.Compare(a.Match, b.Match) })
	return out
}

// minuteCounts counts the events of the last 60 minutes. The key is the minute since 1970.
type minuteCounts map[int64]int

func (h minuteCounts) add(now time.Time) {
	h.forget(now)
	h[now.Unix()/60]++
}

func (h minuteCounts) sum(now time.Time) (n int) {
	h.forget(now)
	for _, c := range h {
		n += c
	}
	return n
}

func (h minuteCounts) forget(now time.Time) {
	maps.DeleteFunc(h, func(minute int64, _ int) bool { return now.Unix()/60-minute >= 60 })
}
