package runner

import (
	"cmp"
	"math"
	"time"

	"github.com/timba-arena/timba/ladder"
)

func machineName(name string) string { return "machine " + name }

// thereName names a version on a machine.
func thereName(machine string, version int64) string {
	return machineName(machine) + " " + versionName(version)
}

// release frees the core of a job that has ended. A machine that has played a match rests no more.
func (r *Runner) release(o outcome) {
	m := o.machine
	if m == nil {
		return // an awaited attempt of a machine that has not come
	}
	if name := machineName(m.Name); o.match != nil && len(o.fine) > 0 && r.backoffs[name] != nil {
		r.backoffs.worked(name)
		r.roster.worked(m.Name)
		r.countMachines()
	}
	m.giveBack(o.core)
	if o.match != nil && len(o.fine) > 0 {
		m.played++
	}
	if o.match != nil && m.Local {
		r.able.built(o.match.Versions)
	}
}

// rests reports whether a machine rests.
func (r *Runner) rests(m *machine) bool { return r.backoffs.active(machineName(m.Name), r.Now()) }

// firstMatches is how many matches another machine has at first, whatever it says of its cores.
const firstMatches = 4

// most returns how many matches a machine may have at the same time: more with each that it has played,
// and one after a failure, until it has played that.
func (r *Runner) most(m *machine) int {
	switch {
	case m.Local:
		return math.MaxInt
	case r.backoffs[machineName(m.Name)] != nil:
		return 1
	}
	return firstMatches + m.played
}

// suspend gives a machine nothing more until the server starts again: it has handed in what cannot be.
func (r *Runner) suspend(machine, why string) {
	r.Log.Error("a worker is suspended", "machine", machine, "why", why)
	r.roster.of(machine, func(x *record) { x.suspended = cmp.Or(x.suspended, why) })
	r.Wake()
}

// endSuspended ends what suspended machines play.
func (r *Runner) endSuspended() {
	for _, m := range r.machines {
		if !m.suspended && r.roster.suspended(m.Name) != "" {
			r.sync()
			break
		}
	}
	for _, j := range r.taken {
		if j.match != nil && r.roster.suspended(j.attempt.Machine) != "" {
			j.end(errSuspended)
		}
	}
}

// mayHold returns how long a machine may have an attempt: three times as long as all of its games can
// take. One that an earlier server gave out may have begun long ago.
func (r *Runner) mayHold(o *outcome) time.Duration {
	const longest, least = 30 * 24 * time.Hour, 10 * time.Minute
	m := o.match
	v, err := m.Variant()
	if err != nil {
		return least // play tells what is wrong
	}
	starts := time.Duration(m.Deals * len(m.Versions) * v.Players)
	start := min(m.Clock.Startup, longest/starts)
	most := 3*min(longest, ladder.Longest(v, m.Clock, len(m.Versions), m.Deals)) + 3*starts*start + least
	if o.awaited {
		most -= r.Now().Sub(o.attempt.Began)
	}
	return max(most, least)
}

// countMachines counts the machines by their state.
func (r *Runner) countMachines() {
	counts := map[ladder.MachineState]int{}
	for _, m := range r.machines {
		counts[r.stateOf(m)]++
	}
	r.restingMachines = counts[ladder.MachineResting]
	for _, state := range ladder.MachineStates() {
		if state != ladder.MachineAway {
			r.metrics.machines.WithLabelValues(string(state)).Set(float64(counts[state]))
		}
	}
}

// stateOf returns the state of a machine that is there.
func (r *Runner) stateOf(m *machine) ladder.MachineState {
	switch {
	case m.suspended:
		return ladder.MachineSuspended
	case m.Refused != "":
		return ladder.MachineRefused
	case m.Draining:
		return ladder.MachineDraining
	case r.rests(m):
		return ladder.MachineResting
	}
	return ladder.MachineReady
}
