package runner

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
)

// placement knows where jobs are played: the machines, and the jobs that each has.
//
//   - A machine has one job on each of its cores at most; which are free follows from its jobs alone. Another
//     machine than this one has few at first, more with each match that it has played, and one after a
//     failure, until it has played that.
//   - The jobs of a machine need no more memory together than it has. Where the next one does not fit yet, the
//     machine saves for it, and gets nothing else: nothing small keeps what is large waiting for ever.
//   - A machine is known by its name, and its jobs, failures and counts outlast its connection.
//
// It changes in the goroutine of Run, under mu. Others read it under mu, and note there what machines do.
type placement struct {
	mu    sync.Mutex
	there []*machine          // this one first, the others by name
	known map[string]*machine // by name: the operator has given each its name
	jobs  map[int64]*job      // by job.id, but those that are not stored yet
}

// machine is one that matches are played on.
type machine struct {
	attempt.Machine      // empty but for Name and Seen while it is away
	here            bool // it is not away
	jobs            []*job
	saving          int64  // memory that has to be free before it gets a job
	played          int    // matches, since it came
	backoff                // after it failed
	suspended       string // why it gets nothing more until the server starts again; "" if it does

	// What follows is counted since the server started, for people.

	hour                            hour
	finished, void, starved, broken int64
}

// freeCore is a free core of a machine at a time.
type freeCore struct {
	*machine
	now time.Time
}

func newPlacement() *placement {
	return &placement{known: map[string]*machine{}, jobs: map[int64]*job{}}
}

// local returns the machine of this process.
func (p *placement) local() *machine { return p.there[0] }

// of returns what is known of a machine.
func (p *placement) of(name string) *machine {
	m := p.known[name]
	if m == nil {
		m = &machine{Machine: attempt.Machine{Name: name}, hour: hour{}}
		p.known[name] = m
	}
	return m
}

// note notes something of a machine.
func (p *placement) note(m *machine, change func(*machine)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(m)
}

// sync takes in what machines there are, this one included, and returns those that have come and left. Of
// one that has left, the jobs come to an end by themselves.
func (p *placement) sync(now []attempt.Machine) (come, left []*machine) {
	p.mu.Lock()
	defer p.mu.Unlock()
	slices.SortFunc(now, byName)
	before := p.there
	p.there = nil
	for _, told := range now {
		m := p.of(told.Name)
		if !m.here {
			m.here, m.played = true, 0
			come = append(come, m)
		}
		m.Machine = told
		if m.saving > m.Memory { // it has less than before
			m.saving = 0
		}
		for _, x := range told.Playing { // for an earlier server
			if j := p.jobs[x.Match]; j != nil && j.awaited && j.machine == m && j.attempt.Number == x.Attempt {
				j.core = x.Core
			}
		}
		p.there = append(p.there, m)
	}
	for _, m := range before {
		if !slices.Contains(p.there, m) {
			m.Machine, m.here = attempt.Machine{Name: m.Name, Seen: m.Seen}, false
			left = append(left, m)
		}
	}
	return come, left
}

// byName orders machines, that of this process first.
func byName(a, b attempt.Machine) int {
	switch {
	case a.Local == b.Local:
		return strings.Compare(a.Name, b.Name)
	case a.Local:
		return -1
	}
	return 1
}

// freeCores returns the cores on which a job can begin. The next one is on the same machine as long as jobs take
// them.
func (p *placement) freeCores(now time.Time) iter.Seq[freeCore] {
	return func(yield func(freeCore) bool) {
		for _, m := range p.there {
			for n := -1; n < len(m.jobs) && p.isFree(m, now); {
				n = len(m.jobs)
				if !yield(freeCore{m, now}) {
					return
				}
			}
		}
	}
}

func (p *placement) isFree(m *machine, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return m.state(now) == ladder.MachineReady && len(m.jobs) < m.most() && m.fits(m.saving) && len(m.free()) > 0
}

// firstMatches is how many matches another machine has at first, whatever it says of its cores.
const firstMatches = 4

// most returns how many jobs a machine may have.
func (m *machine) most() int {
	switch {
	case m.Local:
		return len(m.Cores)
	case m.failures > 0:
		return 1
	}
	return firstMatches + m.played
}

// free returns the cores that no job has.
func (m *machine) free() []int {
	free := slices.Clone(m.Cores)
	for _, j := range m.jobs {
		if i := slices.Index(free, j.core); i >= 0 {
			free = slices.Delete(free, i, i+1)
		}
	}
	return free
}

// fits reports whether a machine has so much memory that no job has reserved.
func (m *machine) fits(memory int64) bool {
	for _, j := range m.jobs {
		memory += j.memory
	}
	return m.Memory == 0 || memory <= m.Memory
}

// take gives a job a core and its memory. Where that does not fit yet, the machine saves for it.
func (p *placement) take(at freeCore, j *job) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !at.fits(j.memory) {
		at.saving = j.memory
		return false
	}
	at.saving = 0
	j.core, j.began = at.free()[0], at.now
	p.add(at.machine, j)
	return true
}

// nowhere is the core of a job whose machine has not told of it yet.
const nowhere = -2

// adopt adds a job that an earlier server has given to a machine.
func (p *placement) adopt(name string, j *job, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j.core, j.began = nowhere, now
	p.add(p.of(name), j)
}

func (p *placement) add(m *machine, j *job) {
	j.machine = m
	m.jobs = append(m.jobs, j)
	if j.asNew == nil {
		p.jobs[j.id()] = j
	}
}

// begun notes which attempt a job is.
func (p *placement) begun(j *job, m ladder.Match, a ladder.Attempt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j.match, j.attempt = &m, a
	p.jobs[m.ID] = j
}

// release takes back what a job has.
func (p *placement) release(j *job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j.machine.jobs = slices.DeleteFunc(j.machine.jobs, func(o *job) bool { return o == j })
	delete(p.jobs, j.id())
}

// saveNothing makes all machines ask anew for what is next.
func (p *placement) saveNothing() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.there {
		m.saving = 0
	}
}

// worked notes that a machine has played a match.
func (p *placement) worked(m *machine) {
	p.note(m, func(m *machine) {
		m.played++
		m.backoff = backoff{}
	})
}

// failed notes that a machine could not play a match: it pauses. Several that fail together count once.
func (p *placement) failed(m *machine, now time.Time) {
	p.note(m, func(m *machine) {
		if !m.active(now) {
			m.backoff.failed(now)
		}
	})
}

// pausesUntil returns when the first pause of a machine ends; zero when none pauses.
func (p *placement) pausesUntil(now time.Time) (first time.Time) {
	for _, m := range p.there {
		if m.active(now) {
			first = earliest(first, m.until)
		}
	}
	return first
}

// count counts the machines by their state, and the cores of those that get jobs.
func (p *placement) count(now time.Time) (states map[ladder.MachineState]int, cores int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	states = map[ladder.MachineState]int{}
	for _, m := range p.there {
		states[m.state(now)]++
		if m.gets() {
			cores += len(m.Cores)
		}
	}
	return states, cores
}

// classes returns a machine of each class that gets jobs.
func (p *placement) classes() map[string]*machine {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := map[string]*machine{}
	for _, m := range p.there {
		if m.gets() {
			list[classOf(m.Machine)] = m
		}
	}
	return list
}

// suspended returns the jobs of suspended machines.
func (p *placement) suspended() (list []*job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, j := range p.jobs {
		if j.machine.suspended != "" {
			list = append(list, j)
		}
	}
	return list
}

// isSuspended reports whether a machine is suspended.
func (p *placement) isSuspended(m *machine) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return m.suspended != ""
}

// gets reports whether a machine gets jobs, unless it pauses.
func (m *machine) gets() bool { return m.here && m.suspended == "" && m.Refused == "" && !m.Draining }

func (m *machine) state(now time.Time) ladder.MachineState {
	switch {
	case m.suspended != "":
		return ladder.MachineSuspended
	case !m.here:
		return ladder.MachineAway
	case m.Refused != "":
		return ladder.MachineRefused
	case m.Draining:
		return ladder.MachineDraining
	case m.active(now):
		return ladder.MachinePaused
	}
	return ladder.MachineReady
}

// failedOnce is why a machine pauses. Everybody may read it.
const failedOnce = "it could not play a match"

// tell returns what people may know of a machine.
func (m *machine) tell(now, added time.Time) ladder.Machine {
	out := ladder.Machine{
		Name: m.Name, Local: m.Local, State: m.state(now), Version: m.Version, Protocol: m.Protocol, OS: m.OS, Arch: m.Arch,
		Sandbox: m.Sandbox, Interpreters: maps.Clone(m.Interpreters), Cores: len(m.Cores), Memory: m.Memory, Seen: m.Seen, Added: added,
		Finished: m.finished, LastHour: m.hour.sum(now), Void: m.void, Starved: m.starved, Broken: m.broken,
	}
	switch out.State {
	case ladder.MachineSuspended:
		out.Reason = m.suspended
	case ladder.MachineRefused:
		out.Reason = m.Refused
	case ladder.MachinePaused:
		out.Reason, out.Until = failedOnce, m.until
	}
	for _, j := range m.jobs {
		if j.attempt.Number > 0 {
			out.Playing = append(out.Playing, ladder.MachineMatch{
				Match: j.match.ID, Attempt: j.attempt.Number, Ladder: j.match.Ladder, Began: j.attempt.Began,
				Bots: slices.Clone(j.match.Bots), Numbers: slices.Clone(j.match.Numbers),
			})
		}
	}
	slices.SortFunc(out.Playing, func(a, b ladder.MachineMatch) int { return cmp.Compare(a.Match, b.Match) })
	return out
}

// Machines returns the machines that are there, and those of added that are not, by name and the
// server's own first. added has when machines were given credentials, by name. It may be called
// while Run goes on.
func (r *Runner) Machines(added map[string]time.Time) []ladder.Machine {
	local, now := r.Local, r.Now()
	if local.Seen = now; r.Interpreters != nil {
		local.Interpreters = r.Interpreters()
	}
	there, away := append(r.Fleet.Machines(), local), maps.Clone(added)
	for _, told := range there {
		delete(away, told.Name)
	}
	for name := range away {
		there = append(there, attempt.Machine{Name: name})
	}
	slices.SortFunc(there, byName)
	p := r.placement
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]ladder.Machine, 0, len(there))
	for _, told := range there {
		var m machine
		if known := p.known[told.Name]; known != nil {
			m = *known
		}
		_, gone := away[told.Name]
		if gone {
			told.Seen = m.Seen
		}
		m.Machine, m.here = told, !gone
		list = append(list, m.tell(now, added[told.Name]))
	}
	return list
}

// hour counts what happened in the last 60 minutes, by the minute.
type hour map[int64]int

func (h hour) add(now time.Time) {
	h.forget(now)
	h[now.Unix()/60]++
}

func (h hour) sum(now time.Time) (n int) {
	h.forget(now)
	for _, c := range h {
		n += c
	}
	return n
}

// forget forgets the minutes that are too long ago.
func (h hour) forget(now time.Time) {
	maps.DeleteFunc(h, func(minute int64, _ int) bool { return now.Unix()/60-minute >= 60 })
}

// suspend gives a machine nothing more until the server starts again: it has handed in what cannot be.
func (r *Runner) suspend(m *machine, why string) {
	r.placement.note(m, func(m *machine) {
		r.Log.Error("a worker is suspended", "machine", m.Name, "why", why)
		m.suspended = cmp.Or(m.suspended, why)
	})
	r.Wake()
}
