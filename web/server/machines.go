package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	renameio "github.com/google/renameio/v2/maybe"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/cluster"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/runner"
	"github.com/timba-arena/timba/web/api"
	"github.com/timba-arena/timba/web/wire"
)

// machinesInterval is how often a server writes its list of machines.
const machinesInterval = 5 * time.Second

// machinesMaxAge is the age of a list that no server keeps up any more.
const machinesMaxAge = 6 * machinesInterval

// machines returns the machines that are there, and those with credentials that are not. Of a NATS cluster that
// exists the server does not know whose are valid.
func (s *Server) machines(r *runner.Runner) func() ([]ladder.Machine, error) {
	return func() ([]ladder.Machine, error) {
		if s.Cluster.URL != "" {
			return r.Machines(nil), nil
		}
		added, err := cluster.ReadAddTimes(s.Dir.Fleet())
		if err != nil {
			return nil, err
		}
		return withoutRemoved(r.Machines(added), added), nil
	}
}

// withoutRemoved leaves out the machines whose credentials were removed: their connections end some seconds later.
func withoutRemoved(list []ladder.Machine, added map[string]time.Time) []ladder.Machine {
	return slices.DeleteFunc(list, func(m ladder.Machine) bool { return !m.Local && added[m.Name].IsZero() })
}

// machineList is what Dir.Machines has: the machines at a time, with all that admins see.
type machineList struct {
	WrittenAt time.Time      `json:"at"`
	Machines  []wire.Machine `json:"machines"`
}

// maintainMachineList writes the list of machines into the data directory until the context ends, and
// deletes it then. It is for timba admin workers alone: what fails is tried again.
func (s *Server) maintainMachineList(ctx context.Context, machines func() ([]ladder.Machine, error)) error {
	runEvery(ctx, time.Tick(machinesInterval), func() {
		if err := writeMachines(s.Dir, time.Now(), machines); err != nil {
			s.Log.Debug("the list of machines cannot be written", "err", err)
		}
	})
	if err := os.Remove(s.Dir.Machines()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.Log.Debug("the list of machines cannot be deleted", "err", err)
	}
	return nil
}

// writeMachines writes the list of machines into a data directory, completely or not at all.
func writeMachines(dir datadir.Dir, now time.Time, machines func() ([]ladder.Machine, error)) error {
	all, err := machines()
	if err != nil {
		return err
	}
	list := machineList{WrittenAt: now, Machines: []wire.Machine{}}
	for _, m := range all {
		list.Machines = append(list.Machines, api.MachineDoc(m, true))
	}
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return renameio.WriteFile(dir.Machines(), data, 0o600)
}

// ReadMachines returns the machines of a data directory: those that its server has written, or, while
// none runs, those that have credentials. runs reports whether one does.
func ReadMachines(dir datadir.Dir, now time.Time) (list []wire.Machine, runs bool, err error) {
	added, err := cluster.ReadAddTimes(dir.Fleet())
	if err != nil {
		return nil, false, err
	}
	data, err := os.ReadFile(dir.Machines())
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, false, fmt.Errorf("data: %w", err)
	default:
		var written machineList
		if err := json.Unmarshal(data, &written); err != nil {
			return nil, false, fmt.Errorf("data: %s is not a list of machines: a server writes it again", dir.Machines())
		}
		if now.Sub(written.WrittenAt) < machinesMaxAge {
			return slices.DeleteFunc(written.Machines, func(m wire.Machine) bool { // removed since then
				return m.Operator != nil && !m.Operator.AddedAt.IsZero() && added[m.Name].IsZero()
			}), true, nil
		}
	}
	list = []wire.Machine{}
	for _, name := range slices.Sorted(maps.Keys(added)) {
		list = append(list, api.MachineDoc(ladder.Machine{Name: name, State: ladder.MachineAway, AddedAt: added[name]}, true))
	}
	return list, false, nil
}
