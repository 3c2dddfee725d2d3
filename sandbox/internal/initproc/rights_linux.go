package initproc

import (
	"errors"
	"syscall"
	"unsafe"

	"github.com/timba-arena/timba/sandbox/internal/sys"
)

// InitThreads is the largest number of processes and threads that init itself uses. Add it to the program's process
// limit where the kernel also counts init.
const InitThreads = 8

// StarterThreads is the number of threads of init that the kernel counts for the program's user or cgroup: only the
// thread that starts the program. Add it to the program's process limit where the kernel limits the user or the
// cgroup.
const StarterThreads = 1

// setLimits sets the resource limits of this process, which the program inherits.
func (c *Config) setLimits() error {
	l := c.Limit
	own := InitThreads
	if c.UID >= 0 {
		own = StarterThreads
	}
	processes := uint64(l.Processes + own)
	if c.HasCgroup {
		processes += uint64(own) // so that the cgroup's limit is reached first, the only one that can be reported
	}
	limits := []struct {
		resource int
		value    uint64
	}{
		// With a limit of 0, a core_pattern that is a pipe would still get the core dump.
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
		// This limit counts all processes of the user, whose number changes all the time. Init counts the
		// program's own processes; this limits how many can start between two checks.
		processes = uint64(userThreads() + 4*l.Processes)
	}
	if err := lowerLimit(sys.RLIMIT_NPROC, processes, processes+headroom); err != nil {
		return err
	}
	if !c.HasCgroup {
		// This is not RLIMIT_AS, because Java, Go and Node reserve gigabytes of addresses at the start.
		// Even writable memory is more than the memory in use, which init polls.
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

// headroom is how many more threads, and how many more gigabytes of data, init may have than the program. The Go
// runtime exits if it cannot start a thread or allocate a stack. With equal limits, init would therefore exit just
// when the program reaches them. The program has lower soft limits, and its system call filter keeps it from raising
// them.
const headroom = 64

// unusedData is how many bytes of writable memory a process may have without using them. An arena of Go alone is
// 64 MiB.
const unusedData = 256 << 20

// SoftLimits are the resources whose soft limits are low while init starts the program. Afterwards init raises them
// again for itself.
var SoftLimits = []int{sys.RLIMIT_NPROC, syscall.RLIMIT_DATA}

func raiseLimits() {
	for _, resource := range SoftLimits {
		var l syscall.Rlimit
		if syscall.Getrlimit(resource, &l) == nil {
			syscall.Setrlimit(resource, &syscall.Rlimit{Cur: l.Max, Max: l.Max})
		}
	}
}

// lowerLimit sets the soft and the hard limit of a resource. It does not raise the hard limit: if that is lower
// already, it stays, and also bounds the soft limit.
func lowerLimit(resource int, soft, hard uint64) error {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(resource, &old); err != nil {
		return err
	}
	hard = min(hard, old.Max)
	// Package syscall must make this call. Otherwise it would restore its own limit of open files.
	return syscall.Setrlimit(resource, &syscall.Rlimit{Cur: min(soft, hard), Max: hard})
}

// dropRights gives up all rights of root for this thread, permanently. Unless uid is -1, the thread changes to that
// user. capable says that the thread may have Linux capabilities even if uid is -1. Package syscall is not used,
// because it would change all threads.
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
		// This makes user 0 an ordinary user, permanently.
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
