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

// machinesMaxAge is the greatest age of a list of a running server. If the list is older, the server no
// longer runs.
const machinesMaxAge = 6 * machinesInterval

// machines returns a function that lists the connected machines, and those with credentials that are not
// connected. With an existing NATS cluster, the server does not know the valid credentials, and lists only
// connected machines.
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

// withoutRemoved omits machines whose credentials were removed, as their connections end some seconds later.
func withoutRemoved(list []ladder.Machine, added map[string]time.Time) []ladder.Machine {
	return slices.DeleteFunc(list, func(m ladder.Machine) bool { return !m.Local && added[m.Name].IsZero() })
}

// machineList is the content of the file Dir.Machines: the machines at a time, with the details for admins.
type machineList struct {
	WrittenAt time.Time      `json:"at"`
	Machines  []wire.Machine `json:"machines"`
}

// maintainMachineList writes the list of machines into the data directory until ctx ends, and then deletes
// it. Only timba admin workers reads it, so a failed write is logged and tried again.
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

// ReadMachines returns the machines of a data directory: the list that its running server has written, or, if
// no server runs, those with credentials. runs reports whether a server runs.
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
			return slices.DeleteFunc(written.Machines, func(m wire.Machine) bool { // removed since the list was written
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
