package server

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/cluster"
	"github.com/timba-arena/timba/ladder/datadir"
)

// The list of machines in the data directory counts while a server updates it. Without a list, the workers
// with credentials are away, and reading creates no keys.
func TestReadMachines(t *testing.T) {
	dir, now := datadir.Dir(t.TempDir()), time.Unix(1_800_000_000, 0)
	list, runs, err := ReadMachines(dir, now)
	if kit.Must(t, err); runs || len(list) != 0 {
		t.Errorf("in an empty directory: %v, a server runs: %t", list, runs)
	}
	if _, err := os.Stat(dir.Fleet()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading has made %s: %v", dir.Fleet(), err)
	}
	keys, err := cluster.OpenKeys(dir.Fleet())
	kit.Must(t, err)
	for _, name := range []string{"lab-1", "lab-2"} {
		_, err := keys.Add(name)
		kit.Must(t, err)
	}
	kit.Must(t, keys.Remove("lab-2"))
	kit.Must(t, writeMachines(dir, now, func() ([]ladder.Machine, error) {
		return []ladder.Machine{{Name: "local", State: ladder.MachineReady, Cores: 2, Memory: 5}, {Name: "lab-2", State: ladder.MachineReady, AddedAt: now}}, nil
	}))
	list, runs, err = ReadMachines(dir, now.Add(machinesMaxAge-1))
	if kit.Must(t, err); !runs || len(list) != 1 || list[0].Name != "local" || list[0].Operator.Memory != 5 {
		t.Errorf("while a server runs: %+v, %t", list, runs)
	}
	list, runs, err = ReadMachines(dir, now.Add(machinesMaxAge))
	if kit.Must(t, err); runs || len(list) != 1 || list[0].Name != "lab-1" || list[0].State != "away" || list[0].Operator.AddedAt.IsZero() {
		t.Errorf("after a server was killed: %+v, %t", list, runs)
	}
	there := withoutRemoved([]ladder.Machine{{Name: "local", Local: true}, {Name: "lab-1"}, {Name: "lab-2"}}, kit.Get[map[string]time.Time](t)(cluster.ReadAddTimes(dir.Fleet())))
	if len(there) != 2 || there[1].Name != "lab-1" {
		t.Errorf("after the removal of lab-2: %+v", there)
	}
	kit.Must(t, os.WriteFile(dir.Machines(), []byte("{"), 0o600))
	if _, _, err := ReadMachines(dir, now); err == nil {
		t.Error("half a list is read")
	}
}
