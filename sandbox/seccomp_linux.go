package sandbox

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/sandbox/internal/initproc"
)

// The filter is a list of denied system calls. Runtimes make too many other calls to list the allowed ones, and
// namespaces restrict most of what those can do. All bots of a level have the same filter, and so have all builds.

// attackCalls are system calls that no program needs except to escape from a sandbox. The filter kills a program
// that makes one.
var attackCalls = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT,
	unix.SYS_OPEN_TREE_ATTR, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_SETNS, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
	unix.SYS_BPF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
}

// refusedCalls are system calls that language runtimes may try but do not need. They fail with EPERM.
var refusedCalls = []uint32{
	unix.SYS_UNSHARE, unix.SYS_CHROOT, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_PROCESS_MADVISE, unix.SYS_PERF_EVENT_OPEN, unix.SYS_SYSLOG, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK,
	unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES, unix.SYS_VHANGUP, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
	// A program may change neither its core, which the referee has chosen for the game, nor its priority. With a
	// lower priority it would wait for all other programs and get credit for the time that they took.
	unix.SYS_SCHED_SETAFFINITY, unix.SYS_SETPRIORITY, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETSCHEDULER,
	unix.SYS_SCHED_SETATTR,
}

// absentCalls are system calls that fail with ENOSYS, as on a kernel that does not have them.
var absentCalls = []uint32{
	unix.SYS_CLONE3,                                                              // its flags are in memory, which a filter cannot read; libraries fall back to clone
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, // io_uring bypasses filters
	// These allow two programs to communicate, or allocate memory that belongs to no process.
	unix.SYS_SHMGET, unix.SYS_MSGGET, unix.SYS_SEMGET, unix.SYS_MQ_OPEN, unix.SYS_MEMFD_SECRET,
}

// covertCalls are system calls by which two programs that can read the same file could communicate: one program can
// notice that the other locks or opens the file. They are refused in all sandboxes except those in which bots are
// built.
var covertCalls = []uint32{unix.SYS_FLOCK, unix.SYS_INOTIFY_INIT1}

// covertFcntl are the commands of the system call fcntl that lock a file or report its changes. They are refused in
// the same sandboxes as covertCalls.
var covertFcntl = []uint32{unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_SETLK, unix.F_OFD_SETLKW, unix.F_SETLEASE, unix.F_NOTIFY}

// weakRefusedCalls are system calls that change files or other processes in ways that Landlock does not restrict.
// They are refused at LevelWeak, where only Landlock protects files.
var weakRefusedCalls = []uint32{
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
	unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR, unix.SYS_TRUNCATE, unix.SYS_IOPRIO_SET,
}

// signalCalls are system calls that send a signal to a process, or get a handle by which that is possible. Their
// first argument is the ID of the process.
var signalCalls = []uint32{unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_PIDFD_OPEN}

// lastCall is the highest system call number that was reviewed for the lists in this package. Calls with higher
// numbers fail with ENOSYS, as on an older kernel. CONTRIBUTING.md says how to raise lastCall.
const lastCall = 469

const cloneNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// addFilter adds the system call filter to the configuration c. It must be called after the sandbox's init process
// was started, because the filter may contain the PID of that process.
func (p *Process) addFilter(c *initproc.Config) error {
	if auditArch == 0 {
		return errors.New("the system calls of this architecture are not known")
	}
	pid := uint32(1)
	if !c.HasNamespaces {
		pid = uint32(p.firstProcess.Pid)
	}
	code, err := assembleFilter(filterRules(c, pid))
	if err != nil {
		return err
	}
	raw, err := bpf.Assemble(code)
	if err != nil {
		return fmt.Errorf("assembling the filter: %w", err)
	}
	for _, r := range raw {
		c.Filter = append(c.Filter, syscall.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K})
	}
	return nil
}

// filterRules returns the system call rules of a sandbox with the configuration c. pid is the process ID of the
// sandbox's init process, as the program in the sandbox sees it.
func filterRules(c *initproc.Config, pid uint32) []filterRule {
	rules := []filterRule{
		{calls: attackCalls, verdict: retKill},
		{calls: oldAttacks, verdict: retKill},
		{calls: refusedCalls, verdict: retErrno(unix.EPERM)},
		{calls: oldRefused, verdict: retErrno(unix.EPERM)},
		{calls: absentCalls, verdict: retErrno(unix.ENOSYS)},
	}
	if !c.HasCgroup {
		rules = append(rules, kernelMemoryRules...)
	}
	if !c.Build { // compilers lock their caches
		rules = append(rules,
			filterRule{calls: covertCalls, verdict: retErrno(unix.ENOSYS)},
			filterRule{calls: oldCovert, verdict: retErrno(unix.ENOSYS)},
			filterRule{calls: calls(unix.SYS_FCNTL), when: all(argument(1, covertFcntl...)), verdict: retErrno(unix.ENOLCK)})
	}
	if !c.HasCgroup {
		// This memory belongs to no process, so that init could not count it.
		const shared = unix.MAP_SHARED | unix.MAP_ANONYMOUS
		rules = append(rules,
			filterRule{calls: calls(unix.SYS_MEMFD_CREATE), verdict: retErrno(unix.ENOSYS)},
			filterRule{calls: calls(unix.SYS_MMAP), when: all(maskedArgument(3, shared, shared)), verdict: retErrno(unix.ENOMEM)})
	}
	if !c.HasNamespaces {
		rules = append(rules, weakRules(c.LandlockABI)...)
	}
	// Some limits of the program are soft limits below those of init, and the program must not raise them. prlimit64
	// cannot even be allowed for reading them: the pointer to the new limit has 64 bits, and a filter compares 32.
	soft := []uint32{uint32(initproc.SoftLimits[0]), uint32(initproc.SoftLimits[1])}
	rules = append(rules,
		filterRule{calls: calls(unix.SYS_SETRLIMIT), when: all(argument(0, soft...)), verdict: retErrno(unix.EPERM)},
		filterRule{calls: calls(unix.SYS_PRLIMIT64), when: all(argument(1, soft...)), verdict: retErrno(unix.EPERM)},
		filterRule{calls: calls(unix.SYS_CLONE), when: all(not(maskedArgument(0, cloneNamespaces, 0))), verdict: retErrno(unix.EPERM)})
	rules = append(rules, socketRules...)
	return append(rules,
		filterRule{calls: calls(unix.SYS_IOCTL), when: all(argument(1, unix.TIOCSTI, unix.TIOCLINUX, unix.TIOCSETD, unix.TIOCCONS)), verdict: retErrno(unix.EPERM)},
		// The program may signal neither init nor the thread of init that starts it, which has the same
		// restrictions as the program until it ends.
		filterRule{calls: signalCalls, when: all(argument(0, 1, pid, initproc.Thread)), verdict: retErrno(unix.EPERM)},
		filterRule{calls: calls(unix.SYS_PERSONALITY), when: all(not(argument(0, 0, readPersonality, fixedAddresses))), verdict: retErrno(unix.EPERM)})
}

// The arguments of the system call personality that are allowed in addition to 0.
const (
	readPersonality = 0xffffffff // returns the current personality
	fixedAddresses  = 0x0040000  // ADDR_NO_RANDOMIZE
)

// kernelMemoryRules limit how much memory the kernel uses for a program without a cgroup; initproc.PerFile relies on
// these limits. They refuse larger buffers of sockets and pipes, moving mapped pages into a pipe, threads with
// separate open files, and Landlock rules, whose number is not limited.
var kernelMemoryRules = []filterRule{
	{calls: calls(unix.SYS_VMSPLICE, unix.SYS_LANDLOCK_CREATE_RULESET), verdict: retErrno(unix.ENOSYS)},
	{calls: calls(unix.SYS_FCNTL), when: all(argument(1, unix.F_SETPIPE_SZ)), verdict: retErrno(unix.EPERM)},
	{calls: calls(unix.SYS_CLOSE_RANGE), when: all(not(maskedArgument(2, unix.CLOSE_RANGE_UNSHARE, 0))), verdict: retErrno(unix.EPERM)},
	{calls: calls(unix.SYS_SETSOCKOPT), when: all(argument(1, unix.SOL_SOCKET), argument(2, unix.SO_SNDBUF, unix.SO_SNDBUFFORCE)), verdict: retErrno(unix.EPERM)},
	{calls: calls(unix.SYS_CLONE), when: all(maskedArgument(0, unix.CLONE_THREAD|unix.CLONE_FILES, unix.CLONE_THREAD)), verdict: retErrno(unix.EPERM)},
}

// socketRules refuse all sockets except connected pairs of stream or packet sockets. They refuse pairs of datagram or
// raw sockets, too, because each socket of such a pair could send to any other socket, even to one in a read-only
// directory.
var socketRules = []filterRule{
	{calls: calls(unix.SYS_SOCKET), verdict: retErrno(unix.EAFNOSUPPORT)},
	{calls: calls(unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN), verdict: retErrno(unix.EPERM)},
	{calls: calls(unix.SYS_SOCKETPAIR), when: all(not(argument(0, unix.AF_UNIX))), verdict: retErrno(unix.EAFNOSUPPORT)},
	{calls: calls(unix.SYS_SOCKETPAIR), when: all(not(maskedArgument(1, socketTypes, unix.SOCK_STREAM, unix.SOCK_SEQPACKET))), verdict: retErrno(unix.EAFNOSUPPORT)},
}

// socketTypes is the mask of the type in the second argument of socketpair; the other bits are flags.
const socketTypes = 0xf

// weakRules returns the additional rules for a program at LevelWeak, which has no namespaces. landlock is the version
// of Landlock in the kernel.
func weakRules(landlock int) []filterRule {
	rules := []filterRule{
		{calls: weakRefusedCalls, verdict: retErrno(unix.EPERM)},
		{calls: oldWeakRefused, verdict: retErrno(unix.EPERM)},
		// A program may change its own limits, but not those of another process of the user.
		{calls: calls(unix.SYS_PRLIMIT64), when: all(not(argument(0, 0))), verdict: retErrno(unix.EPERM)},
	}
	if landlock < 6 { // this version does not restrict signals
		rules = append(rules,
			filterRule{calls: signalCalls, verdict: retErrno(unix.EPERM)},
			filterRule{calls: calls(unix.SYS_PIDFD_SEND_SIGNAL), verdict: retErrno(unix.EPERM)})
	}
	return rules
}
