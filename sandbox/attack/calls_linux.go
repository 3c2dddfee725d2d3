package main

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// call is a system call that a sandbox must refuse, with the results that are expected with and without a sandbox.
type call struct {
	name   string
	number uintptr
	args   args
	// want lists the results that a sandbox may give to the call.
	want results
	// freeErrors are errors for invalid arguments. The kernel returns them only after it has checked the caller's
	// rights. Therefore, without a sandbox, the call must succeed or return one of them.
	freeErrors results
	root       bool // some machines allow it only for root even without a sandbox
}

// args are the arguments of a system call. Each is an int, a string or a pointer.
type args []any

// results are possible results of a system call: 0, an error number, or signalled plus the number of the signal
// that ended the calling process.
type results []syscall.Errno

const signalled = syscall.Errno(1000)

var (
	killed    = results{signalled + syscall.Errno(unix.SIGSYS)}
	refused   = results{unix.EPERM}
	absent    = results{unix.ENOSYS}
	noFamily  = results{unix.EAFNOSUPPORT}
	noLock    = results{unix.ENOLCK}
	readOnly  = results{unix.EROFS, unix.EACCES, unix.EPERM}
	hidden    = results{unix.ENOENT, unix.EACCES, unix.EPERM}
	noProcess = results{unix.ESRCH, unix.EPERM}

	badFile  = results{unix.EBADF}
	badValue = results{unix.EINVAL}
	noEntry  = results{unix.ENOENT}
)

// int80 is a flag in call.number. If it is set, the call is made by int 0x80, as in a 32-bit program.
const int80 = 1 << 31

// calls returns the system calls to test, in the order in which they must be made. System calls that affect the
// parent process come first, because in a sandbox the parent may not have finished its preparations yet.
func calls(t *target) []call {
	self, parent, here := os.Getpid(), os.Getppid(), unix.AT_FDCWD
	file, _ := unix.Open(notes, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	open := func(name, path string, flags int, want results, root bool) call {
		return call{name, unix.SYS_OPENAT, args{here, path, flags | unix.O_NONBLOCK | unix.O_NOCTTY}, want, nil, root}
	}
	of := func(pid int, path string) string { return fmt.Sprintf("/proc/%d/%s", pid, path) }
	limit := func(name string, resource int, value uint64) call {
		return call{name, unix.SYS_PRLIMIT64, args{0, resource, &unix.Rlimit{Cur: value, Max: value}, 0}, refused, nil, false}
	}
	const read, write, list = unix.O_RDONLY, unix.O_WRONLY, unix.O_RDONLY | unix.O_DIRECTORY
	return []call{
		open("parent-memory", of(parent, "mem"), read, hidden, true),
		open("parent-command", of(parent, "cmdline"), read, noEntry, false),
		open("parent-environment", of(parent, "environ"), read, hidden, false),
		open("parent-file", of(parent, "fd/0"), read, hidden, false),
		open("parent-root", of(parent, "root")+t.secret(), read, hidden, false),
		open("parent-program", of(parent, "exe"), read, hidden, false),
		{"parent-kill", unix.SYS_KILL, args{parent, 0}, refused, nil, false},
		{"parent-tkill", unix.SYS_TKILL, args{parent, 0}, refused, nil, false},

		// Calls that concern another process of the same user outside the sandbox.
		open("victim-command", of(t.Victim, "cmdline"), read, noEntry, false),
		open("victim-environment", of(t.Victim, "environ"), read, hidden, false),
		open("victim-memory", of(t.Victim, "mem"), read, hidden, true),
		open("victim-file", of(t.Victim, "fd/0"), read, hidden, false),
		{"victim-kill", unix.SYS_KILL, args{t.Victim, 0}, noProcess, nil, false},
		{"victim-tgkill", unix.SYS_TGKILL, args{t.Victim, t.Victim, 0}, noProcess, nil, false},
		{"victim-limit", unix.SYS_PRLIMIT64, args{t.Victim, unix.RLIMIT_CORE, 0, &unix.Rlimit{}}, noProcess, nil, false},
		{"ptrace", unix.SYS_PTRACE, args{unix.PTRACE_TRACEME}, refused, nil, false},
		{"vm-read", unix.SYS_PROCESS_VM_READV, args{self, 0, 0, 0, 0, 0}, refused, nil, false},
		{"vm-write", unix.SYS_PROCESS_VM_WRITEV, args{self, 0, 0, 0, 0, 0}, killed, nil, false},
		{"pidfd-getfd", unix.SYS_PIDFD_GETFD, args{-1, 0, 0}, refused, badFile, false},
		{"kcmp", unix.SYS_KCMP, args{self, self, 1, 0, 0}, refused, nil, true},
		{"move-pages", unix.SYS_MOVE_PAGES, args{0, 0, 0, 0, 0, 0}, refused, nil, false},

		// Several ways to reach files outside the sandbox.
		open("secret", t.secret(), read, hidden, false),
		open("secret-dots", strings.Repeat("../", 40)+t.secret()[min(1, len(t.secret())):], read, hidden, false),
		open("secret-root", "/proc/self/root"+t.secret(), read, hidden, false),
		{"secret-handle", unix.SYS_OPEN_BY_HANDLE_AT, args{-1, &[3]uint32{4, 1, 0}, 0}, killed, badFile, true},
		{"secret-exists", unix.SYS_STATX, args{here, t.secret(), 0, 0, &unix.Statx_t{}}, noEntry, nil, false},
		open("other-bot", t.Base+"/bots/b/notes.txt", read, hidden, false),
		open("home", t.Base+"/home", list, hidden, false),
		open("fifo-outside", t.Base+"/fifo", write, hidden, false),
		open("root-home", "/root", list, hidden, true),
		open("shadow", "/etc/shadow", read, hidden, true),
		open("var", "/var", list, hidden, false),

		// The bot's own directory.
		open("append", notes, write, readOnly, false),
		{"truncate", unix.SYS_TRUNCATE, args{notes, len(notesText)}, readOnly, nil, false},
		{"rename", unix.SYS_RENAMEAT, args{here, notes, here, notes}, readOnly, nil, false},
		{"remove", unix.SYS_UNLINKAT, args{here, notes, unix.AT_REMOVEDIR}, readOnly, results{unix.ENOTDIR}, false},
		{"chmod", unix.SYS_FCHMODAT, args{here, notes, 0o644}, readOnly, nil, false},
		{"fchmod", unix.SYS_FCHMOD, args{file, 0o644}, readOnly, nil, false},
		{"chown", unix.SYS_FCHOWNAT, args{here, notes, -1, -1, 0}, readOnly, nil, false},
		{"utimes", unix.SYS_UTIMENSAT, args{here, notes, 0, 0}, readOnly, nil, false},
		{"setxattr", unix.SYS_SETXATTR, args{notes, "user.attack", "1", 1, 0}, readOnly, results{unix.EOPNOTSUPP}, false},
		open("fifo", "fifo", write, readOnly, false), // read-only mounts do not prevent it
		open("device", "device", unix.O_RDWR, hidden, true),

		// The machine's files in /proc, /sys and /dev.
		open("proc-sys", "/proc/sys/kernel/core_pattern", write, readOnly, true),
		open("proc-kmsg", "/proc/kmsg", read, hidden, true),
		open("oom-score", "/proc/self/oom_score_adj", write, readOnly, false),
		open("sys", "/sys/kernel/mm/transparent_hugepage/enabled", write, hidden, true),
		open("cgroup", "/sys/fs/cgroup/cgroup.procs", write, hidden, true),
		open("cgroup-v1", "/sys/fs/cgroup/pids/cgroup.procs", write, hidden, true),
		open("release-agent", "/sys/fs/cgroup/pids/release_agent", write, hidden, true),
		open("terminal", "/dev/tty", unix.O_RDWR, append(hidden, unix.ENXIO), false),
		open("terminals", "/dev/pts", list, hidden, false),
		{"tiocsti", unix.SYS_IOCTL, args{0, unix.TIOCSTI, "x"}, refused, results{unix.ENOTTY}, true},

		// Namespaces, mounts and identities.
		{"unshare", unix.SYS_UNSHARE, args{unix.CLONE_NEWUSER}, refused, nil, true},
		{"clone", unix.SYS_CLONE, args{unix.CLONE_NEWUSER | int(unix.SIGCHLD), 0, 0, 0, 0}, refused, nil, true},
		{"clone3", unix.SYS_CLONE3, args{&[8]uint64{unix.CLONE_NEWUSER, 0, 0, 0, uint64(unix.SIGCHLD)}, 64}, absent, nil, true},
		{"setns", unix.SYS_SETNS, args{-1, unix.CLONE_NEWNET}, killed, badFile, false},
		{"mount", unix.SYS_MOUNT, args{"none", ".", "tmpfs", 0, "size=bad"}, killed, badValue, true},
		{"umount", unix.SYS_UMOUNT2, args{".", unix.MNT_DETACH}, killed, badValue, true},
		{"fsopen", unix.SYS_FSOPEN, args{"tmpfs", unix.FSOPEN_CLOEXEC}, killed, nil, true},
		{"open-tree", unix.SYS_OPEN_TREE, args{here, ".", unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC}, killed, nil, true},
		{"mount-setattr", unix.SYS_MOUNT_SETATTR, args{here, ".", 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}, 32}, killed, badValue, true},
		{"pivot-root", unix.SYS_PIVOT_ROOT, args{".", "."}, killed, results{unix.EINVAL, unix.EBUSY}, true},
		{"chroot", unix.SYS_CHROOT, args{"/"}, refused, nil, true},
		{"setresuid", unix.SYS_SETRESUID, args{1, 1, 1}, results{unix.EPERM, unix.EINVAL}, nil, true},
		{"setgroups", unix.SYS_SETGROUPS, args{1, new(uint32)}, results{unix.EPERM, unix.EINVAL}, nil, true},

		// The machine.
		{"reboot", unix.SYS_REBOOT, args{0, 0, 0, 0}, killed, badValue, true},
		{"swapon", unix.SYS_SWAPON, args{"/proc/none", 0}, killed, noEntry, true},
		{"settimeofday", unix.SYS_SETTIMEOFDAY, args{0, 0}, killed, nil, true},
		{"adjtimex", unix.SYS_ADJTIMEX, args{&unix.Timex{}}, refused, nil, false},
		{"sethostname", unix.SYS_SETHOSTNAME, args{0, -1}, killed, badValue, true},
		{"acct", unix.SYS_ACCT, args{"/proc/none"}, killed, noEntry, true},
		{"kexec", unix.SYS_KEXEC_LOAD, args{0, 1 << 20, 0, 0}, killed, badValue, true},
		{"module", unix.SYS_FINIT_MODULE, args{-1, "", 0}, killed, badFile, true},

		// Calls that give access to large parts of the kernel.
		{"add-key", unix.SYS_ADD_KEY, args{"user", "attack", "data", 4, unix.KEY_SPEC_PROCESS_KEYRING}, refused, nil, false},
		{"keyctl", unix.SYS_KEYCTL, args{unix.KEYCTL_GET_KEYRING_ID, unix.KEY_SPEC_PROCESS_KEYRING, 1}, refused, nil, false},
		{"request-key", unix.SYS_REQUEST_KEY, args{"user", "attack-none", 0, 0}, refused, results{unix.ENOKEY}, false},
		{"io-uring", unix.SYS_IO_URING_SETUP, args{4, &[120]byte{}}, absent, nil, true},
		{"bpf", unix.SYS_BPF, args{unix.BPF_MAP_CREATE, &[5]uint32{unix.BPF_MAP_TYPE_ARRAY, 4, 4, 1, 0}, 20}, killed, nil, true},
		{"perf", unix.SYS_PERF_EVENT_OPEN, args{&unix.PerfEventAttr{
			Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_TASK_CLOCK, Size: unix.PERF_ATTR_SIZE_VER0,
		}, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC}, refused, nil, true},
		{"userfaultfd", unix.SYS_USERFAULTFD, args{unix.O_CLOEXEC | 1}, refused, nil, false}, // 1: UFFD_USER_MODE_ONLY
		{"memfd-secret", unix.SYS_MEMFD_SECRET, args{unix.O_CLOEXEC}, absent, nil, false},
		{"personality", unix.SYS_PERSONALITY, args{0x400000}, refused, nil, false}, // READ_IMPLIES_EXEC
		{"syslog", unix.SYS_SYSLOG, args{10, 0, 0}, refused, nil, true},            // the size of the buffer
		{"quotactl", unix.SYS_QUOTACTL, args{0x800001 << 8, 0, 0, 0}, killed, nil, false},
		{"fanotify", unix.SYS_FANOTIFY_INIT, args{unix.FAN_CLOEXEC | unix.FAN_REPORT_FID, 0}, refused, nil, true},
		{"32-bit", int80 | 20, nil, killed, nil, false}, // getpid
		{"x32", 1<<30 | unix.SYS_GETPID, nil, killed, nil, false},

		// Ways for two bots to communicate.
		{"shmget", unix.SYS_SHMGET, args{t.Harness, 4096, 0}, absent, noEntry, false},
		{"msgget", unix.SYS_MSGGET, args{t.Harness, 0}, absent, noEntry, false},
		{"semget", unix.SYS_SEMGET, args{t.Harness, 1, 0}, absent, noEntry, false},
		{"mq-open", unix.SYS_MQ_OPEN, args{t.prefix(), unix.O_RDONLY, 0, 0}, absent, noEntry, false},
		{"flock", unix.SYS_FLOCK, args{file, unix.LOCK_SH}, absent, nil, false},
		{"lock", unix.SYS_FCNTL, args{file, unix.F_SETLK, &unix.Flock_t{Type: unix.F_RDLCK}}, noLock, nil, false},
		{"lock-open-file", unix.SYS_FCNTL, args{file, unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_RDLCK}}, noLock, nil, false},
		{"lease", unix.SYS_FCNTL, args{file, unix.F_SETLEASE, unix.F_RDLCK}, noLock, nil, false},
		{"inotify", unix.SYS_INOTIFY_INIT1, args{unix.O_CLOEXEC}, absent, nil, false},
		{"socket", unix.SYS_SOCKET, args{unix.AF_UNIX, unix.SOCK_STREAM, 0}, noFamily, nil, false},
		{"socket-ip", unix.SYS_SOCKET, args{unix.AF_INET, unix.SOCK_DGRAM, 0}, noFamily, nil, false},
		{"socket-netlink", unix.SYS_SOCKET, args{unix.AF_NETLINK, unix.SOCK_RAW, 0}, noFamily, nil, false},
		{"socketpair", unix.SYS_SOCKETPAIR, args{unix.AF_UNIX, unix.SOCK_DGRAM, 0, &[2]int32{}}, noFamily, nil, false},
		{"connect", unix.SYS_CONNECT, args{-1, 0, 0}, refused, badFile, false},
		{"bind", unix.SYS_BIND, args{-1, 0, 0}, refused, badFile, false},
		{"listen", unix.SYS_LISTEN, args{-1, 0}, refused, badFile, false},

		// Priorities and limits. Each value is allowed without a sandbox, and exceeds what the sandbox allows.
		{"priority", unix.SYS_SETPRIORITY, args{unix.PRIO_PROCESS, 0, 19}, refused, nil, false},
		{"scheduler", unix.SYS_SCHED_SETATTR, args{0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0}, refused, nil, false},
		{"affinity", unix.SYS_SCHED_SETAFFINITY, args{0, 8, &[1]uint64{^uint64(0)}}, refused, nil, false},
		{"io-priority", unix.SYS_IOPRIO_SET, args{1, 0, 1 << 13}, refused, nil, true}, // real-time priority of a process
		limit("limit-processes", unix.RLIMIT_NPROC, 1),
		limit("limit-data", unix.RLIMIT_DATA, 1<<30),
		{"limit-setrlimit", unix.SYS_SETRLIMIT, args{unix.RLIMIT_DATA, &unix.Rlimit{Cur: 1 << 30, Max: 1 << 30}}, refused, nil, false},
		limit("limit-core", unix.RLIMIT_CORE, 2),
		limit("limit-file-size", unix.RLIMIT_FSIZE, outputSize+1),
		limit("limit-open-files", unix.RLIMIT_NOFILE, openFiles+1),
		limit("limit-locked-memory", unix.RLIMIT_MEMLOCK, 1<<20+1),
		limit("limit-message-queues", unix.RLIMIT_MSGQUEUE, 1),
		limit("limit-pending-signals", unix.RLIMIT_SIGPENDING, 1025),
	}
}

func makeCalls(t *target) {
	for _, c := range calls(t) {
		fmt.Println(c.name, uint(c.make()))
	}
}

// make makes the system call in a new process, because the call may change or end the process that makes it. It
// returns 0, an error number, or signalled plus the number of the signal that ended the process.
func (c *call) make() syscall.Errno {
	words := c.words()
	pid, errno := fork()
	if errno != 0 {
		fail("attack: fork: %v", errno)
	}
	if pid == 0 {
		if c.number&int80 != 0 {
			if got := int32(call80(uint32(c.number &^ int80))); got < 0 {
				errno = syscall.Errno(-got)
			}
		} else {
			_, _, errno = syscall.RawSyscall6(c.number, words[0], words[1], words[2], words[3], words[4], words[5])
		}
		exitFork(int(errno))
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		fail("attack: wait: %v", err)
	}
	if status.Signaled() {
		return signalled + syscall.Errno(status.Signal())
	}
	return syscall.Errno(status.ExitStatus())
}

// words returns the arguments as machine words, as the kernel expects them.
func (c *call) words() (words [6]uintptr) {
	for i, arg := range c.args {
		switch v := arg.(type) {
		case int:
			words[i] = uintptr(v)
		case string:
			text := append([]byte(v), 0)
			c.args[i] = &text[0] // keeps it from being garbage-collected
			words[i] = uintptr(unsafe.Pointer(&text[0]))
		default:
			words[i] = reflect.ValueOf(v).Pointer()
		}
	}
	return words
}

// freeFault judges got, the result of a system call that was made without a sandbox. root is true if the caller was
// root. fault describes an unexpected result. idle says why the call cannot succeed on this machine even without a
// sandbox. Both are "" if the result is as expected.
func (c *call) freeFault(got syscall.Errno, root bool) (fault, idle string) {
	switch {
	case got == 0 || slices.Contains(c.freeErrors, got):
		return "", ""
	case c.isUnsupported(got):
		return "", "this machine does not have it"
	case c.root && !root:
		return "", "only root may do it"
	}
	return fmt.Sprintf("it gave %s without a sandbox, too", describe(got)), ""
}

// isUnsupported reports whether got, the result of a call without a sandbox, means that this kernel or machine
// does not support the call.
func (c *call) isUnsupported(got syscall.Errno) bool {
	lacks := results{unix.ENOSYS, unix.ENOENT, signalled + syscall.Errno(unix.SIGSEGV)}
	return slices.Contains(lacks, got) && !slices.Contains(c.freeErrors, got)
}

// sandboxFault describes what is wrong with got, the result of a system call in a sandbox. It returns "" if nothing
// is wrong. free is the result of the same call without a sandbox.
func (c *call) sandboxFault(got, free syscall.Errno) string {
	if slices.Contains(c.want, got) || c.isUnsupported(free) && got == free {
		return ""
	}
	return fmt.Sprintf("it gave %s, want %v", describe(got), c.want)
}

func describe(got syscall.Errno) string {
	switch {
	case got == 0:
		return "success"
	case got > signalled:
		return syscall.Signal(got - signalled).String()
	}
	return got.Error()
}

func (r results) String() string {
	texts := make([]string, len(r))
	for i, got := range r {
		texts[i] = describe(got)
	}
	return strings.Join(texts, " or ")
}
