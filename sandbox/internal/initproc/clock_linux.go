package initproc

import (
	"syscall"
	"time"
	"unsafe"

	"github.com/timba-arena/timba/sandbox/internal/sys"
)

// cpuClock counts the CPU time of a thread and its descendants, including ended ones
// that nobody waited for, which the counters of processes miss. It is -1 if the kernel
// refuses such a clock, as for ordinary users if kernel.perf_event_paranoid is above 2.
type cpuClock int

// newCPUClock starts a clock for this thread and what it starts from now on.
func newCPUClock() cpuClock {
	attr := sys.PerfEventAttr{
		Type:   sys.PERF_TYPE_SOFTWARE,
		Config: sys.PERF_COUNT_SW_TASK_CLOCK,
		Size:   sys.PERF_ATTR_SIZE_VER0,
		Bits:   sys.PerfBitInherit | sys.PerfBitExcludeKernel | sys.PerfBitExcludeHv, // including them would need more rights; a clock counts both anyway
	}
	fd, err := sys.PerfEventOpen(&attr, 0, -1, -1, sys.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return -1
	}
	return cpuClock(fd)
}

// read returns the time used so far.
func (c cpuClock) read() (time.Duration, bool) {
	var n uint64
	buf := (*[8]byte)(unsafe.Pointer(&n))[:]
	if c < 0 {
		return 0, false
	}
	if got, err := syscall.Read(int(c), buf); err != nil || got != len(buf) {
		return 0, false
	}
	return time.Duration(n), true
}
