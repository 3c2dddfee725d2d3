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

// machinesInterval is how often a server writes the file with its list of machines.
const machinesInterval = 5 * time.Second

// machinesMaxAge is the largest age of the file with the list of machines while a server runs. An older file
// is from a server that has stopped without deleting it.
const machinesMaxAge = 6 * machinesInterval

// machines returns a function that lists the machines that are connected or have credentials. A server that uses an
// existing NATS cluster does not know who has credentials, so the function then lists only connected machines.
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

// withoutRemoved returns list without the machines whose credentials have been removed. A machine may stay connected
// for some seconds after that. added has, by name, the times when machines got credentials.
func withoutRemoved(list []ladder.Machine, added map[string]time.Time) []ladder.Machine {
	return slices.DeleteFunc(list, func(m ladder.Machine) bool { return !m.Local && added[m.Name].IsZero() })
}

// machineList is the content of the file in which a running server writes its machines, with the details for
// admins.
type machineList struct {
	WrittenAt time.Time      `json:"at"`
	Machines  []wire.Machine `json:"machines"`
}

// maintainMachineList writes the list of machines into the data directory until ctx ends, and then deletes it.
// Only "timba admin workers" reads it, so a failed write is only logged and tried again.
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

// writeMachines writes the list that the function machines returns into a file in the data directory dir. now is the
// current time, which is stored with the list. The file is replaced as a whole or not at all.
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

// ReadMachines returns the machines of the competition in the data directory dir. runs is true if its server runs;
// list then has the machines that the server listed last. Otherwise list has the machines with credentials. now is
// the current time.
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
