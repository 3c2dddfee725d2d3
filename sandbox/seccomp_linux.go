package sandbox

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/sandbox/internal/initproc"
)

// The filter of system calls is a list of denied calls: runtimes make too many others to
// list those, and namespaces restrict most of what they can do. It is the same for all
// programs of a level.

// Offsets of the data that a filter reads.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16 // low words first: all supported architectures are little-endian
)

func argument(i uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offArgs + 8*i, Size: 4} }

// attacks are calls that only a program trying to escape makes. They end it.
var attacks = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_SETNS, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
	unix.SYS_BPF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
}

// refused are calls that runtimes may try but do not need.
var refused = []struct {
	errno unix.Errno
	calls []uint32
}{
	{unix.EPERM, []uint32{
		unix.SYS_UNSHARE, unix.SYS_CHROOT, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
		unix.SYS_PROCESS_MADVISE, unix.SYS_PERF_EVENT_OPEN, unix.SYS_SYSLOG, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL,
		unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK,
		unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES, unix.SYS_VHANGUP, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
		// A program stays on the core that the referee has chosen for its game, and with its priority:
		// with a lower one it would wait for every other program, and get credit for that.
		unix.SYS_SCHED_SETAFFINITY, unix.SYS_SETPRIORITY, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETSCHEDULER,
		unix.SYS_SCHED_SETATTR,
	}},
	{unix.ENOSYS, []uint32{
		unix.SYS_CLONE3,                                                              // its flags are in memory, which a filter cannot read; libraries fall back to clone
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, // bypasses every filter
		// Memory that belongs to no process, and ways for two programs to communicate.
		unix.SYS_SHMGET, unix.SYS_MSGGET, unix.SYS_SEMGET, unix.SYS_MQ_OPEN, unix.SYS_MEMFD_SECRET,
	}},
}

// covert are calls by which two programs that see the same files could communicate: they tell who
// locks or opens a file.
var covert = []uint32{unix.SYS_FLOCK, unix.SYS_INOTIFY_INIT1}

// covertFcntl are the commands of fcntl for that: 36 to 38 lock open files.
var covertFcntl = []uint32{unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_SETLK, unix.F_OFD_SETLKW, unix.F_SETLEASE, unix.F_NOTIFY}

// weakRefused are calls that Landlock does not cover, denied if only Landlock protects
// files. Some of them could affect the user's other processes.
var weakRefused = []uint32{
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
	unix.SYS_TRUNCATE, unix.SYS_IOPRIO_SET,
}

// signals are the calls that send one, with a process as their first argument.
var signals = []uint32{unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_PIDFD_OPEN}

// lastCall is the newest call that this list covers: newer calls fail as if they did not
// exist.
const lastCall = 462

const cloneNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// filterProgram builds a filter.
type filterProgram struct{ code []bpf.Instruction }

func (p *filterProgram) add(code ...bpf.Instruction) { p.code = append(p.code, code...) }

var (
	retKill  = bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS}
	retAllow = bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
)

func retErrno(errno unix.Errno) bpf.Instruction {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(errno)}
}

// on decides a call by its number.
func (p *filterProgram) on(call uint32, ret bpf.Instruction) {
	p.add(bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: call, SkipTrue: 1}, ret)
}

// onArgument decides a call if a test holds for an argument; otherwise the call is
// allowed.
func (p *filterProgram) onArgument(call, i uint32, tests []bpf.JumpIf, ret bpf.Instruction) {
	body := []bpf.Instruction{argument(i)}
	for _, t := range tests {
		t.SkipTrue, t.SkipFalse = 0, 1
		body = append(body, t, ret)
	}
	body = append(body, retAllow)
	p.add(bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: call, SkipTrue: uint8(len(body))})
	p.add(body...)
}

func equal(values ...uint32) (tests []bpf.JumpIf) {
	for _, v := range values {
		tests = append(tests, bpf.JumpIf{Cond: bpf.JumpEqual, Val: v})
	}
	return tests
}

// filter adds the filter to a configuration for an init that has started.
func (p *Process) filter(c *initproc.Config) error {
	if auditArch == 0 {
		return errors.New("the system calls of this architecture are not known")
	}
	pid := uint32(1)
	if !c.Spaces {
		pid = uint32(p.first.Pid)
	}
	raw, err := bpf.Assemble(filter(c, pid))
	if err != nil {
		return fmt.Errorf("assembling the filter: %w", err)
	}
	for _, r := range raw {
		c.Filter = append(c.Filter, syscall.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K})
	}
	return nil
}

// filter returns the filter for a configuration; pid is the number of init.
func filter(c *initproc.Config, pid uint32) []bpf.Instruction {
	var p filterProgram
	// First, because the numbers below are those of one architecture: calls of another,
	// as by int 0x80, would pass the list.
	p.add(bpf.LoadAbsolute{Off: offArch, Size: 4}, bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1}, retKill,
		bpf.LoadAbsolute{Off: offNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: 0x40000000, SkipTrue: 1}, retKill, // x32
		bpf.JumpIf{Cond: bpf.JumpLessOrEqual, Val: lastCall, SkipTrue: 1}, retErrno(unix.ENOSYS))
	for _, call := range append(attacks, oldAttacks...) {
		p.on(call, retKill)
	}
	for _, group := range refused {
		for _, call := range group.calls {
			p.on(call, retErrno(group.errno))
		}
	}
	for _, call := range oldRefused {
		p.on(call, retErrno(unix.EPERM))
	}
	if !c.Group {
		p.filterKernelMemory()
	}
	if !c.Build { // compilers lock their caches
		for _, call := range append(covert, oldCovert...) {
			p.on(call, retErrno(unix.ENOSYS))
		}
		p.onArgument(unix.SYS_FCNTL, 1, equal(covertFcntl...), retErrno(unix.ENOLCK))
	}
	if !c.Group {
		// Memory that belongs to no process, so that poll does not see it.
		p.on(unix.SYS_MEMFD_CREATE, retErrno(unix.ENOSYS))
		const shared = unix.MAP_SHARED | unix.MAP_ANONYMOUS
		p.add(bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_MMAP, SkipTrue: 5}, argument(3),
			bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: shared},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: shared, SkipTrue: 1}, retErrno(unix.ENOMEM), retAllow)
	}
	// The program's limits that are lower than init's are soft limits.
	soft := equal(uint32(initproc.SoftLimits[0]), uint32(initproc.SoftLimits[1]))
	p.onArgument(unix.SYS_SETRLIMIT, 0, soft, retErrno(unix.EPERM))
	if !c.Spaces {
		p.filterWeak(c.ABI)
	}
	p.onArgument(unix.SYS_PRLIMIT64, 1, soft, retErrno(unix.EPERM)) // even to read: the pointer of the new limit is two words
	p.onArgument(unix.SYS_CLONE, 0, []bpf.JumpIf{{Cond: bpf.JumpBitsSet, Val: cloneNamespaces}}, retErrno(unix.EPERM))
	p.filterSockets()
	p.onArgument(unix.SYS_IOCTL, 1, equal(unix.TIOCSTI, unix.TIOCLINUX, unix.TIOCSETD, unix.TIOCCONS), retErrno(unix.EPERM))
	// Not to init, nor to this thread of it, which has the same restrictions as the
	// program until it ends.
	init := equal(1, pid, initproc.Thread)
	for _, call := range signals {
		p.onArgument(call, 0, init, retErrno(unix.EPERM))
	}
	p.add(bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_PERSONALITY, SkipTrue: 6}, argument(0),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 3},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0xffffffff, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0x0040000, SkipTrue: 1}, // addresses that do not change
		retErrno(unix.EPERM), retAllow)
	p.add(retAllow)
	return p.code
}

// filterKernelMemory keeps the memory that the kernel uses for the program within what
// kernelMemory counts. It denies enlarging buffers of sockets and pipes, moving mapped pages
// into a pipe, separate open files for a thread, and Landlock rules, whose number is
// unlimited.
func (p *filterProgram) filterKernelMemory() {
	for _, call := range []uint32{unix.SYS_VMSPLICE, unix.SYS_LANDLOCK_CREATE_RULESET} {
		p.on(call, retErrno(unix.ENOSYS))
	}
	p.add(bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_FCNTL, SkipTrue: 4}, argument(1),
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.F_SETPIPE_SZ, SkipTrue: 1}, retErrno(unix.EPERM),
		bpf.LoadAbsolute{Off: offNumber, Size: 4})
	p.onArgument(unix.SYS_CLOSE_RANGE, 2, []bpf.JumpIf{{Cond: bpf.JumpBitsSet, Val: unix.CLOSE_RANGE_UNSHARE}}, retErrno(unix.EPERM))
	p.add(bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_SETSOCKOPT, SkipTrue: 7}, argument(1),
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SOL_SOCKET, SkipTrue: 4}, argument(2),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SO_SNDBUF, SkipTrue: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SO_SNDBUFFORCE, SkipTrue: 1}, retErrno(unix.EPERM), retAllow)
	const own = unix.CLONE_THREAD | unix.CLONE_FILES
	p.add(bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_CLONE, SkipTrue: 5}, argument(0),
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: own},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.CLONE_THREAD, SkipTrue: 1}, retErrno(unix.EPERM),
		bpf.LoadAbsolute{Off: offNumber, Size: 4})
}

// filterSockets allows only connected pairs of stream or packet sockets. A pair of
// datagram sockets (which raw ones are, too) could still send to any other socket, even
// one in a read-only directory.
func (p *filterProgram) filterSockets() {
	p.on(unix.SYS_SOCKET, retErrno(unix.EAFNOSUPPORT))
	for _, call := range []uint32{unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN} {
		p.on(call, retErrno(unix.EPERM))
	}
	p.add(bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_SOCKETPAIR, SkipTrue: 8}, argument(0),
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.AF_UNIX, SkipTrue: 5}, argument(1),
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0xf}, // flags are above
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SOCK_STREAM, SkipTrue: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SOCK_SEQPACKET, SkipTrue: 1}, retAllow, retErrno(unix.EAFNOSUPPORT))
}

func (p *filterProgram) filterWeak(abi int) {
	for _, call := range append(weakRefused, oldWeakRefused...) {
		p.on(call, retErrno(unix.EPERM))
	}
	// Its own limits, not those of another process of the user.
	p.add(bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_PRLIMIT64, SkipTrue: 3}, argument(0),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 1}, retErrno(unix.EPERM), bpf.LoadAbsolute{Off: offNumber, Size: 4})
	if abi < 6 { // Landlock does not restrict signals yet
		for _, call := range append(signals, unix.SYS_PIDFD_SEND_SIGNAL) {
			p.on(call, retErrno(unix.EPERM))
		}
	}
}
