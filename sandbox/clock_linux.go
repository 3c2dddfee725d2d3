package sandbox

import (
	"encoding/binary"
	"time"

	"golang.org/x/sys/unix"
)

// cpuClock counts the CPU time of a thread and its descendants, including ended ones
// that nobody waited for, which the counters of processes miss. It is -1 if the kernel
// refuses such a clock, as for ordinary users if kernel.perf_event_paranoid is above 2.
type cpuClock int

// newCPUClock starts a clock for this thread and what it starts from now on.
func newCPUClock() cpuClock {
	attr := unix.PerfEventAttr{
		Type:   unix.PERF_TYPE_SOFTWARE,
		Config: unix.PERF_COUNT_SW_TASK_CLOCK,
		Size:   unix.PERF_ATTR_SIZE_VER0,
		Bits:   unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv, // including them would need more rights; a clock counts both anyway
	}
	fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return -1
	}
	return cpuClock(fd)
}

// read returns the time used so far.
func (c cpuClock) read() (time.Duration, bool) {
	var buf [8]byte
	if c < 0 {
		return 0, false
	}
	if n, err := unix.Read(int(c), buf[:]); err != nil || n != len(buf) {
		return 0, false
	}
	return time.Duration(binary.NativeEndian.Uint64(buf[:])), true
}
