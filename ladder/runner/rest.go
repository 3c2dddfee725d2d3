package runner

import "github.com/timba-arena/timba/ladder"

func machineName(name string) string { return "machine " + name }

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
	if o.match != nil && m.Local {
		r.able.built(o.match.Versions)
	}
}

// rests reports whether a machine rests.
func (r *Runner) rests(m *machine) bool { return r.backoffs.active(machineName(m.Name), r.Now()) }

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
	case m.Refused != "":
		return ladder.MachineRefused
	case m.Draining:
		return ladder.MachineDraining
	case r.rests(m):
		return ladder.MachineResting
	}
	return ladder.MachineReady
}
