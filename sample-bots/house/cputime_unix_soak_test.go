//go:build soak && unix

package house

import (
	"syscall"
	"time"
)

// cpuTime returns the CPU time of this process, which other load of the machine does not change.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
