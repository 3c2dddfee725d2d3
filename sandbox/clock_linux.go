package sandbox

import (
	"encoding/binary"
	"time"

	"golang.org/x/sys/unix"
)

// cpuClock counts the CPU time of a thread and of all that descends from it, of
// those that have ended, too, whether or not anybody waited for them: what the
// accounts of processes forget. -1 where the kernel gives no such clock, as it
// does not to ordinary users where kernel.perf_event_paranoid is above 2.
type cpuClock int

// newCPUClock starts a clock for this thread and what it starts from now on.
func newCPUClock() cpuClock {
	attr := unix.PerfEventAttr{
		Type:   unix.PERF_TYPE_SOFTWARE,
		Config: unix.PERF_COUNT_SW_TASK_CLOCK,
		Size:   unix.PERF_ATTR_SIZE_VER0,
		Bits:   unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv, // else it would take more rights; a clock counts both
	}
	fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return -1
	}
	return cpuClock(fd)
}

// read tells the time that was used so far.
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
