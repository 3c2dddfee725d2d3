package initproc

import (
	"errors"
	"syscall"
	"unsafe"

	"github.com/timba-arena/timba/sandbox/internal/sys"
)

// InitThreads is how many processes and threads of init the program's limit must include
// where both are the same user's.
const InitThreads = 8

// StarterThreads is the thread of init that becomes the program's own user and starts it: the
// limits of that user and, in version 1, of the cgroup must include it.
const StarterThreads = 1

// setLimits sets the kernel's limits for processes and users. The program inherits them,
// so they apply to init, too.
func (c *Config) setLimits() error {
	l := c.Limit
	own := InitThreads
	if c.UID >= 0 {
		own = StarterThreads
	}
	processes := uint64(l.Processes + own)
	if c.HasCgroup {
		processes += uint64(own) // so that the cgroup's limit applies first: only that can be reported
	}
	limits := []struct {
		resource int
		value    uint64
	}{
		// With 0 a core_pattern that is a pipe would still get the core.
		{syscall.RLIMIT_CORE, 1},
		{syscall.RLIMIT_FSIZE, uint64(l.Output)},
		{syscall.RLIMIT_NOFILE, uint64(l.OpenFiles)},
		{sys.RLIMIT_MEMLOCK, 1 << 20},
		{sys.RLIMIT_MSGQUEUE, 0},
		{sys.RLIMIT_SIGPENDING, 1024},
		{sys.RLIMIT_NICE, 0},
		{sys.RLIMIT_RTPRIO, 0},
	}
	for _, r := range limits {
		if err := lowerLimit(r.resource, r.value, r.value); err != nil {
			return err
		}
	}
	if !c.HasNamespaces && c.UID < 0 {
		// This limit counts all processes of the user, which change constantly: init
		// counts the program's own, and this limits what it starts between two checks.
		processes = uint64(userThreads() + 4*l.Processes)
	}
	if err := lowerLimit(sys.RLIMIT_NPROC, processes, processes+headroom); err != nil {
		return err
	}
	if !c.HasCgroup {
		// Never RLIMIT_AS: java, Go and node reserve gigabytes to start. What they
		// may write to is more than what they use, too; what is used is polled.
		data := uint64(l.Memory) + unusedData
		if err := lowerLimit(syscall.RLIMIT_DATA, data, data+headroom<<30); err != nil {
			return err
		}
	}
	if l.CPU > 0 {
		seconds := uint64(l.CPU.Seconds()) + 2
		return lowerLimit(syscall.RLIMIT_CPU, seconds, seconds)
	}
	return nil
}

// headroom is how many more threads, and gigabytes of data, init may have than the program:
// the Go runtime ends if it cannot get a thread or its stack, which would happen just
// when the program reaches its limits. So the program has soft limits, and the filter
// of system calls denies raising them.
const headroom = 64

// unusedData is how much of its data a process may leave unused: one arena of Go is
// 64 MiB.
const unusedData = 256 << 20

// SoftLimits are the limits that init raises for itself after the program has started.
var SoftLimits = []int{sys.RLIMIT_NPROC, syscall.RLIMIT_DATA}

func raiseLimits() {
	for _, resource := range SoftLimits {
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
			if err := sys.Prctl(syscall.PR_CAPBSET_DROP, c); err == syscall.EINVAL {
				break
			} else if err != nil {
				return err
			}
		}
		// Make user 0 an ordinary user, forever.
		const bits = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<5 | 1<<6 | 1<<7 // noroot, no setuid fixup, no keep caps, no ambient; locked
		if err := sys.Prctl(syscall.PR_SET_SECUREBITS, bits); err != nil {
			return err
		}
	}
	if uid >= 0 {
		id := uintptr(uid)
		for _, c := range [][4]uintptr{{syscall.SYS_SETGROUPS}, {syscall.SYS_SETRESGID, id, id, id}, {syscall.SYS_SETRESUID, id, id, id}} {
			if _, _, errno := syscall.RawSyscall(c[0], c[1], c[2], c[3]); errno != 0 {
				return errno
			}
		}
	}
	head := sys.CapUserHeader{Version: sys.LINUX_CAPABILITY_VERSION_3}
	var none [2]sys.CapUserData
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&none[0])), 0); errno != 0 {
		return errno
	}
	if err := sys.Prctl(sys.PR_SET_NO_NEW_PRIVS, 1); err != nil {
		return err
	}
	if uid > 0 {
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, 0, 0, 0); errno == 0 {
			return errors.New("root's rights could be regained")
		}
	}
	return nil
}
