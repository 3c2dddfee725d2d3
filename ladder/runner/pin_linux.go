package runner

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/referee/cores"
)

// pinThread binds the calling goroutine, and the programs that it starts, to a
// core. The thread ends with the goroutine.
func pinThread(core int) error {
	if core == cores.Any {
		return nil
	}
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(core)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("runner: binding a submission to core %d: %w", core, err)
	}
	return nil
}

// lowPriority makes the calling goroutine run only when the cores have nothing else
// to do.
func lowPriority() {
	runtime.LockOSThread() // for good: the thread ends with the goroutine
	unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 10)
}
