package sandbox

import (
	"errors"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// initThreads is how many processes and threads more than the program's own its
// limit must have room for: those of init.
const initThreads = 8

// setLimits sets what the kernel holds by process or by user. What the program
// inherits, init lives under too.
func (c *config) setLimits() error {
	l := c.Limit
	processes := uint64(l.Processes + initThreads)
	if c.Group {
		processes += initThreads // the cgroup comes first: it tells
	}
	limits := []struct {
		resource int
		value    uint64
	}{
		// 0 would still feed a core_pattern that is a pipe.
		{unix.RLIMIT_CORE, 1},
		{unix.RLIMIT_FSIZE, uint64(l.Output)},
		{unix.RLIMIT_NOFILE, uint64(l.OpenFiles)},
		{unix.RLIMIT_MEMLOCK, 1 << 20},
		{unix.RLIMIT_MSGQUEUE, 0},
		{unix.RLIMIT_SIGPENDING, 1024},
		{unix.RLIMIT_NICE, 0},
		{unix.RLIMIT_RTPRIO, 0},
	}
	for _, r := range limits {
		if err := lowerLimit(r.resource, r.value, r.value); err != nil {
			return err
		}
	}
	if c.Level == Weak && c.UID < 0 {
		// The number is that of all processes of the user, which come and go: init
		// counts the program's own, and this is for what it starts between two looks.
		processes = uint64(userThreads() + 4*l.Processes)
	}
	if err := lowerLimit(unix.RLIMIT_NPROC, processes, processes+room); err != nil {
		return err
	}
	if !c.Group {
		// Never RLIMIT_AS: java, Go and node reserve gigabytes to start. What they
		// may write to is more than what they use, too; what is used is polled.
		data := uint64(l.Memory) + unusedData
		if err := lowerLimit(unix.RLIMIT_DATA, data, data+room<<30); err != nil {
			return err
		}
	}
	if l.CPU > 0 {
		seconds := uint64(l.CPU.Seconds()) + 2
		return lowerLimit(unix.RLIMIT_CPU, seconds, seconds)
	}
	return nil
}

// room is how many threads, and gigabytes of data, init may have more than the
// program: the Go runtime ends when it is refused a thread or its stack, as it
// would be just when the program is at its limits. So the program's are soft
// limits that the filter of system calls keeps it from raising.
const room = 64

// unusedData is how much of its data a process may leave unused: an arena of Go
// alone is 64 MiB.
const unusedData = 256 << 20

// softLimits are those that init raises for itself when the program has started.
var softLimits = []int{unix.RLIMIT_NPROC, unix.RLIMIT_DATA}

func raiseLimits() {
	for _, resource := range softLimits {
		var l syscall.Rlimit
		if syscall.Getrlimit(resource, &l) == nil {
			syscall.Setrlimit(resource, &syscall.Rlimit{Cur: l.Max, Max: l.Max})
		}
	}
}

// lowerLimit sets the limits of a resource, or leaves what is lower already.
func lowerLimit(resource int, soft, hard uint64) error {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(resource, &old); err != nil {
		return err
	}
	hard = min(hard, old.Max)
	// By package syscall, which would else restore its own idea of open files.
	return syscall.Setrlimit(resource, &syscall.Rlimit{Cur: min(soft, hard), Max: hard})
}

// dropRights gives up for good, for this thread alone, all that root has more
// than others: package syscall would do it for all threads. capable tells
// whether there is anything to give up.
func dropRights(uid int, capable bool) error {
	capable = capable || uid >= 0
	if capable {
		for c := uintptr(0); c < 64; c++ {
			if _, _, errno := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0, 0, 0, 0); errno == unix.EINVAL {
				break
			} else if errno != 0 {
				return errno
			}
		}
		// A user 0 that is none: nothing is gained by being it, ever.
		const bits = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<5 | 1<<6 | 1<<7 // noroot, no setuid fixup, no keep caps, no ambient; locked
		if _, _, errno := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_SECUREBITS, bits, 0, 0, 0, 0); errno != 0 {
			return errno
		}
	}
	if uid >= 0 {
		id := uintptr(uid)
		if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
			return errno
		}
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, id, id, id); errno != 0 {
			return errno
		}
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, id, id, id); errno != 0 {
			return errno
		}
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if _, _, errno := unix.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&none[0])), 0); errno != 0 {
		return errno
	}
	if _, _, errno := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	if uid > 0 {
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, 0, 0, 0); errno == 0 {
			return errors.New("root's rights come back")
		}
	}
	return nil
}
