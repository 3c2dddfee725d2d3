package cores

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// All returns the numbers of the cores that this process may use, in increasing order. It returns nil if they are
// unknown.
func All() []int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil
	}
	var all []int
	for c := range len(set) * 64 {
		if set.IsSet(c) {
			all = append(all, c)
		}
	}
	return all
}

// Bind binds the calling thread, and the processes that it starts later, to a core. It does nothing if core is Any.
func Bind(core int) error {
	if core == Any {
		return nil
	}
	var set unix.CPUSet
	set.Set(core)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("binding to core %d: %w", core, err)
	}
	return nil
}

// Lower sets the priority of the calling thread, and of the processes that it starts later, to a nice value; 19 is
// the lowest priority.
func Lower(nice int) error {
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, nice); err != nil {
		return fmt.Errorf("lowering the priority: %w", err)
	}
	return nil
}
