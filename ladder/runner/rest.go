package runner

import (
	"fmt"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
)

// restless is how many matches for each of its cores others may spoil on a machine, less those that
// go well, before all of it rests.
const restless = 2

// coreName names a core among the backoffs. All cores of a machine rest together where programs are
// not bound to them.
func (m *machine) coreName(core int) string {
	name := fmt.Sprintf("core %d", core)
	if core == referee.AnyCore {
		name = "the cores"
	}
	if !m.Local {
		name += " of " + m.Name
	}
	return name
}

func machineName(name string) string { return "machine " + name }

// release frees the core of a job that has ended. If others used the core so much that games
// were void, it rests first: longer after each such match, until one goes well. A machine where
// that happens often rests as a whole.
func (r *Runner) release(o outcome) {
	m := o.machine
	if m == nil {
		return // an awaited attempt of a machine that has not come
	}
	name, voids := m.coreName(o.core), o.starved
	if voids == 0 {
		if o.match != nil && len(o.fine) > 0 {
			r.backoffs.worked(name)
			if r.backoffs[machineName(m.Name)] != nil {
				r.backoffs.worked(machineName(m.Name))
				r.roster.worked(m.Name)
				r.countMachines()
			}
			m.starved = max(0, m.starved-1)
		}
		m.giveBack(o.core, false)
		return
	}
	until := r.backoffs.failed(name, r.Now())
	m.giveBack(o.core, true)
	r.roster.restingCores(m.Name, len(m.resting))
	r.Log.Warn("a core rests: other programs use it while bots think", "core", name, "match", o.match.ID, "void", voids, "until", until)
	if m.starved++; m.starved > restless*len(m.Cores) && !m.Local {
		m.starved = 0
		until := r.backoffs.failed(machineName(m.Name), r.Now())
		r.roster.rests(m.Name, restsStarved, until)
		r.Log.Warn("a machine rests: other programs use its cores again and again while bots think", "machine", m.Name, "until", until)
	}
	r.countMachines()
}

// rests reports whether all of a machine rests.
func (r *Runner) rests(m *machine) bool { return r.backoffs.active(machineName(m.Name), r.Now()) }

// endRests frees the cores that have rested.
func (r *Runner) endRests() {
	now, changed := r.Now(), r.restingMachines > 0
	for _, m := range r.machines {
		if len(m.resting) == 0 {
			continue
		}
		m.resting = slices.DeleteFunc(m.resting, func(core int) bool {
			rests := r.backoffs.active(m.coreName(core), now)
			if !rests {
				m.free = append(m.free, core)
			}
			return !rests
		})
		r.roster.restingCores(m.Name, len(m.resting))
		changed = true
	}
	if changed {
		r.countMachines()
	}
}

// countMachines counts the machines by their state, and the cores that rest.
func (r *Runner) countMachines() {
	cores, counts := 0, map[ladder.MachineState]int{}
	for _, m := range r.machines {
		cores += len(m.resting)
		counts[r.stateOf(m)]++
	}
	r.restingMachines = counts[ladder.MachineResting]
	r.metrics.resting.Set(float64(cores))
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
