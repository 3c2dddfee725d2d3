package sandbox

import (
	"errors"
	"math"
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
	const none = math.MaxUint64
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
	if c.Level > Weak || c.UID >= 0 {
		limits = append(limits, struct {
			resource int
			value    uint64
		}{unix.RLIMIT_NPROC, processes})
	}
	for _, r := range limits {
		if err := lowerLimit(r.resource, r.value); err != nil {
			return err
		}
	}
	if c.Level == Weak && c.UID < 0 {
		// The number is that of all processes of the user, and a soft limit is all
		// that can be counted on.
		if err := lowerLimit(unix.RLIMIT_NPROC, processes+uint64(userThreads())); err != nil {
			return err
		}
	}
	if !c.Group {
		// Never RLIMIT_AS: java, Go and node reserve gigabytes to start.
		if err := lowerLimit(unix.RLIMIT_DATA, uint64(l.Memory)); err != nil {
			return err
		}
	}
	if l.CPU > 0 {
		return lowerLimit(unix.RLIMIT_CPU, uint64(l.CPU.Seconds())+2)
	}
	return nil
}

// lowerLimit sets both limits of a resource, or leaves what is lower already.
func lowerLimit(resource int, value uint64) error {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(resource, &old); err != nil {
		return err
	}
	value = min(value, old.Max)
	// By package syscall, which would else restore its own idea of open files.
	return syscall.Setrlimit(resource, &syscall.Rlimit{Cur: value, Max: value})
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
