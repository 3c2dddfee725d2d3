package runner

import (
	"maps"
	"slices"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
)

// syncMachines updates the list of connected machines, and logs which machines have connected and disconnected.
func (r *Runner) syncMachines() {
	come, left := r.placement.sync(append(r.Fleet.Machines(), r.Local))
	for _, m := range come {
		r.Log.Info("a machine has come", "machine", m.Name, "cores", len(m.Cores), "version", m.Version, "refused", m.Refusal)
	}
	for _, m := range left {
		r.Log.Info("a machine has left", "machine", m.Name)
	}
}

func (r *Runner) countMachines() {
	states, cores := r.placement.countStates(r.Now())
	for _, state := range ladder.MachineStates() {
		if state != ladder.MachineAway {
			r.metrics.machines.WithLabelValues(string(state)).Set(float64(states[state]))
		}
	}
	r.metrics.workers.Set(float64(cores))
}

// suspendMachine gives m no more jobs until the server restarts. why is the reason, which everybody can see.
func (r *Runner) suspendMachine(m *machine, why phrase.Text) {
	r.placement.updateMachine(m, func(m *machine) {
		r.Log.Error("a worker is suspended", "machine", m.Name, "why", why)
		if m.suspension.IsZero() {
			m.suspension = why
		}
	})
	r.Wake()
}

// Machines returns the connected machines, and the machines that have credentials but are not connected, sorted by
// name after the server's own machine. added has, by machine name, the time at which credentials were given. It may
// be called from any goroutine.
func (r *Runner) Machines(added map[string]time.Time) []ladder.Machine {
	local, now := r.Local, r.Now()
	local.SeenAt, local.Interpreters = now, r.Host.Interpreters()
	all, away := append(r.Fleet.Machines(), local), maps.Clone(added)
	for _, m := range all {
		delete(away, m.Name)
	}
	for name := range away {
		all = append(all, attempt.WorkerInfo{Name: name})
	}
	slices.SortFunc(all, compareMachines)
	p := r.placement
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]ladder.Machine, 0, len(all))
	for _, reported := range all {
		var m machine
		if known := p.byName[reported.Name]; known != nil {
			m = *known
		}
		_, isAway := away[reported.Name]
		if isAway {
			reported.SeenAt = m.SeenAt
		}
		m.WorkerInfo, m.connected = reported, !isAway
		list = append(list, m.describe(now, added[reported.Name]))
	}
	return list
}
