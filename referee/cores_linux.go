package referee

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Cores returns the cores that this process may use.
func Cores() []int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil
	}
	var cores []int
	for c := range len(set) * 64 {
		if set.IsSet(c) {
			cores = append(cores, c)
		}
	}
	return cores
}

// pin binds the calling thread, and the processes that it starts later, to a core.
func pin(core int) error {
	if core == AnyCore {
		return nil
	}
	var set unix.CPUSet
	set.Set(core)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("referee: binding a match to core %d: %w: try --affinity=off", core, err)
	}
	return nil
}

// lowest is the nice value of the least priority.
const lowest = 19

// lower gives the calling thread, and the processes that it starts later, the lowest priority.
func lower() error {
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, lowest); err != nil {
		return fmt.Errorf("referee: lowering the priority of a match: %w", err)
	}
	return nil
}
