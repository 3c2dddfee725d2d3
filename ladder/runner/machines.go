package runner

import (
	"context"
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/fleet"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
)

// machine is one that matches are played on. It belongs to the goroutine of Run.
type machine struct {
	fleet.Machine
	free   []int // cores
	used   []int // cores that jobs have
	memory reserve[*job]
	class  string // what it can play; see classOf

	suspended bool
	played    int // matches, since it came
}

// sync takes in what machines there are. Of one that has left, the jobs come to an end by
// themselves.
func (r *Runner) sync() {
	now := r.Fleet.Machines()
	slices.SortFunc(now, func(a, b fleet.Machine) int { return strings.Compare(a.Name, b.Name) })
	now = append([]fleet.Machine{r.Local}, now...)
	before := r.machines
	r.machines = nil
	for _, there := range now {
		i := slices.IndexFunc(before, func(m *machine) bool { return m.Name == there.Name })
		m := &machine{}
		if i >= 0 {
			m = before[i]
			before = slices.Delete(before, i, i+1)
		} else {
			r.Log.Info("a machine has come", "machine", there.Name, "cores", len(there.Cores), "version", there.Version, "refused", there.Refused)
		}
		r.update(m, there)
		r.machines = append(r.machines, m)
		if m.Local {
			r.local = m
		}
	}
	for _, m := range before {
		r.Log.Info("a machine has left", "machine", m.Name)
		r.roster.left(m.Name, m.Seen)
		r.dropHead(m)
	}
	workers := 0
	for _, m := range r.machines {
		if m.gets() {
			workers += len(m.Cores)
		}
	}
	r.health.workers(workers)
	r.metrics.workers.Set(float64(workers))
	r.countMachines()
	r.able.changed(r.machines)
}

// update brings a machine up to date: its cores, its memory, and what it plays for an earlier
// server.
func (r *Runner) update(m *machine, there fleet.Machine) {
	m.Machine, m.class, m.suspended = there, classOf(there), r.roster.suspended(there.Name) != ""
	if m.memory.total = r.roomOf(m).Total; m.memory.total > 0 && m.memory.need > m.memory.total {
		r.dropHead(m) // it has less than before
	}
	left := slices.Clone(there.Cores)
	for _, c := range m.used { // jobs have them, or had: they come back by themselves
		if i := slices.Index(left, c); i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
	}
	m.free = left
	for _, p := range there.Playing {
		j := r.taken[p.Match]
		if j == nil || !j.awaited || j.machine == m || j.attempt.Number != p.Attempt || j.machineName != m.Name {
			continue
		}
		if i := slices.Index(m.free, p.Core); i >= 0 {
			j.machine, j.core = m, p.Core
			m.used, m.free = append(m.used, p.Core), slices.Delete(m.free, i, i+1)
		}
	}
}

// gets reports whether a machine gets jobs.
func (m *machine) gets() bool { return m.Refused == "" && !m.Draining && !m.suspended }

// take takes a core for a job.
func (m *machine) take() (core int) {
	last := len(m.free) - 1
	core = m.free[last]
	m.free, m.used = m.free[:last], append(m.used, core)
	return core
}

// giveBack takes a core back from a job. It is free, if the machine still has it.
func (m *machine) giveBack(core int) {
	if i := slices.Index(m.used, core); i >= 0 {
		m.used = slices.Delete(m.used, i, i+1)
	}
	count := func(cores []int) (n int) {
		for _, c := range cores {
			if c == core {
				n++
			}
		}
		return n
	}
	if count(m.free)+count(m.used) < count(m.Cores) {
		m.free = append(m.free, core)
	}
}

// roomOf returns the memory that the matches of a machine share.
func (r *Runner) roomOf(m *machine) ladder.Room {
	room := r.Room
	if !m.Local {
		room.Total = m.Memory
	}
	return room
}

// localCores returns how many cores matches and submissions share in the server's machine.
func (r *Runner) localCores() int { return len(r.local.Cores) }

// dropHead forgets what waits for memory of a machine.
func (r *Runner) dropHead(m *machine) {
	if j := m.memory.head; j != nil {
		m.memory.drop()
		r.forgetFresh(j)
		r.letGo(j)
		r.costs.ended(j.ladder(), j.charged, 0)
	}
}

// heads returns what waits for memory.
func (r *Runner) heads() (list []*job) {
	for _, m := range r.machines {
		if m.memory.head != nil {
			list = append(list, m.memory.head)
		}
	}
	return list
}

// nobody is a fleet without machines.
type nobody struct{}

func (nobody) Machines() []fleet.Machine { return nil }
func (nobody) Changed() <-chan struct{}  { return nil }

func (nobody) Play(context.Context, string, fleet.Job, func(fleet.Result) error) error {
	return fleet.ErrLost
}

func (nobody) Adopt(context.Context, string, fleet.Job, referee.Hex, func(fleet.Result) error) error {
	return fleet.ErrLost
}

// await takes up the attempts that an earlier server has handed out. Those that it played itself have ended
// with it.
func (r *Runner) await(ctx context.Context, ended chan<- outcome) error {
	handed, err := r.Store.Running(ctx)
	if err != nil {
		return err
	}
	for _, h := range handed {
		if h.Machine == "" {
			continue // nobody plays it: the server has broken it off
		}
		if h.Machine == fleet.Local {
			if err := r.breakOff(ctx, h); err != nil {
				return err
			}
			continue
		}
		m, err := r.Store.Match(ctx, h.Match)
		if err != nil {
			return err
		}
		j := &job{match: &m, awaited: true, machineName: h.Machine, began: r.Now()}
		j.attempt = ladder.Attempt{Number: h.Attempt, Machine: h.Machine}
		for _, a := range m.Attempts {
			if a.Number == h.Attempt {
				j.attempt = a
			}
		}
		r.Log.Info("an attempt of an earlier server is awaited", "match", h.Match, "attempt", h.Attempt, "machine", h.Machine)
		r.launch(ctx, j, ended)
	}
	return nil
}

// breakOff ends an attempt that ended with an earlier server.
func (r *Runner) breakOff(ctx context.Context, h store.Handed) error {
	r.metrics.broken.WithLabelValues("stop").Inc()
	r.Log.Info("match interrupted", "match", h.Match, "attempt", h.Attempt, "why", serverStopped)
	_, err := r.Store.Break(ctx, h.Match, h.Attempt, serverStopped, false)
	return err
}
