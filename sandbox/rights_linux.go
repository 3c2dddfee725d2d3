package sandbox

import (
	"errors"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// initThreads is how many processes and threads of init the program's limit must include
// where both are the same user's.
const initThreads = 8

// starter is the thread of init that becomes the program's own user and starts it: the
// limits of that user and, in version 1, of the cgroup must include it.
const starter = 1

// setLimits sets the kernel's limits for processes and users. The program inherits them,
// so they apply to init, too.
func (c *config) setLimits() error {
	l := c.Limit
	own := initThreads
	if c.UID >= 0 {
		own = starter
	}
	processes := uint64(l.Processes + own)
	if c.Group {
		processes += uint64(own) // so that the cgroup's limit applies first: only that can be reported
	}
	limits := []struct {
		resource int
		value    uint64
	}{
		// With 0 a core_pattern that is a pipe would still get the core.
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
		// This limit counts all processes of the user, which change constantly: init
		// counts the program's own, and this limits what it starts between two checks.
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

// room is how many more threads, and gigabytes of data, init may have than the program:
// the Go runtime ends if it cannot get a thread or its stack, which would happen just
// when the program reaches its limits. So the program has soft limits, and the filter
// of system calls denies raising them.
const room = 64

// unusedData is how much of its data a process may leave unused: one arena of Go is
// 64 MiB.
const unusedData = 256 << 20

// softLimits are the limits that init raises for itself after the program has started.
var softLimits = []int{unix.RLIMIT_NPROC, unix.RLIMIT_DATA}

func raiseLimits() {
	for _, resource := range softLimits {
		var l syscall.Rlimit
		if syscall.Getrlimit(resource, &l) == nil {
			syscall.Setrlimit(resource, &syscall.Rlimit{Cur: l.Max, Max: l.Max})
		}
	}
}

// lowerLimit lowers the limits of a resource; it keeps lower ones.
func lowerLimit(resource int, soft, hard uint64) error {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(resource, &old); err != nil {
		return err
	}
	hard = min(hard, old.Max)
	// By package syscall, which would otherwise restore its own limit of open files.
	return syscall.Setrlimit(resource, &syscall.Rlimit{Cur: min(soft, hard), Max: hard})
}

// dropRights permanently gives up all of root's rights, for this thread only: package
// syscall would do it for all threads. capable is whether there are any to give up.
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
		// Make user 0 an ordinary user, forever.
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
			return errors.New("root's rights could be regained")
		}
	}
	return nil
}
