package sandbox

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/sandbox/internal/initproc"
)

// systemCall is a call as a filter sees it.
type systemCall struct {
	architecture, number uint32
	arguments            [6]uint32
}

// verdictOf returns the verdict of a configuration's filter on a call. Init has PID 77.
func verdictOf(t *testing.T, c *initproc.Config, call systemCall) uint32 {
	t.Helper()
	vm := kit.Get[*bpf.VM](t)(bpf.NewVM(kit.Get[[]bpf.Instruction](t)(assembleFilter(filterRules(c, 77)))))
	data := binary.BigEndian.AppendUint32(nil, call.number) // the VM reads big-endian words, as in packets
	data = binary.BigEndian.AppendUint32(data, call.architecture)
	data = append(data, make([]byte, 8)...) // the instruction pointer
	for _, a := range call.arguments {
		data = binary.BigEndian.AppendUint32(data, a)
		data = append(data, 0, 0, 0, 0)
	}
	return uint32(kit.Get[int](t)(vm.Run(data)))
}

// TestFilter checks the verdicts on calls at each level.
func TestFilter(t *testing.T) {
	allow, kill := retAllow.Val, retKill.Val
	fails := func(errno unix.Errno) uint32 { return retErrno(errno).Val }
	full := &initproc.Config{HasNamespaces: true, HasCgroup: true}
	build := &initproc.Config{HasNamespaces: true, HasCgroup: true, Build: true}
	reduced := &initproc.Config{HasNamespaces: true}
	weak := &initproc.Config{LandlockABI: 5}
	weakNew := &initproc.Config{LandlockABI: 6}
	const cloneThread = unix.CLONE_THREAD | unix.CLONE_VM
	for _, c := range []struct {
		config *initproc.Config
		number uint32
		args   [6]uint32
		want   uint32
	}{
		{full, unix.SYS_READ, [6]uint32{}, allow},
		{full, lastCall, [6]uint32{}, allow},
		{full, lastCall + 1, [6]uint32{}, fails(unix.ENOSYS)},
		{full, x32Bit | unix.SYS_READ, [6]uint32{}, kill},
		{full, unix.SYS_MOUNT, [6]uint32{}, kill},
		{full, unix.SYS_BPF, [6]uint32{}, kill},
		{full, unix.SYS_OPEN_TREE_ATTR, [6]uint32{}, kill},
		{full, unix.SYS_PTRACE, [6]uint32{}, fails(unix.EPERM)},
		{full, unix.SYS_CLONE3, [6]uint32{}, fails(unix.ENOSYS)},
		{full, unix.SYS_IO_URING_SETUP, [6]uint32{}, fails(unix.ENOSYS)},

		{full, unix.SYS_FLOCK, [6]uint32{}, fails(unix.ENOSYS)},
		{build, unix.SYS_FLOCK, [6]uint32{}, allow},
		{full, unix.SYS_FCNTL, [6]uint32{0, unix.F_SETLK}, fails(unix.ENOLCK)},
		{full, unix.SYS_FCNTL, [6]uint32{0, unix.F_GETFL}, allow},
		{full, unix.SYS_FCNTL, [6]uint32{unix.F_SETLK, unix.F_GETFL}, allow},
		{build, unix.SYS_FCNTL, [6]uint32{0, unix.F_SETLK}, allow},
		{full, unix.SYS_FCNTL, [6]uint32{0, unix.F_SETPIPE_SZ}, allow},
		{reduced, unix.SYS_FCNTL, [6]uint32{0, unix.F_SETPIPE_SZ}, fails(unix.EPERM)},
		{reduced, unix.SYS_FCNTL, [6]uint32{0, unix.F_SETLEASE}, fails(unix.ENOLCK)},

		{full, unix.SYS_MEMFD_CREATE, [6]uint32{}, allow},
		{reduced, unix.SYS_MEMFD_CREATE, [6]uint32{}, fails(unix.ENOSYS)},
		{full, unix.SYS_MMAP, [6]uint32{3: unix.MAP_SHARED | unix.MAP_ANONYMOUS}, allow},
		{reduced, unix.SYS_MMAP, [6]uint32{3: unix.MAP_SHARED | unix.MAP_ANONYMOUS}, fails(unix.ENOMEM)},
		{reduced, unix.SYS_MMAP, [6]uint32{3: unix.MAP_PRIVATE | unix.MAP_ANONYMOUS}, allow},
		{reduced, unix.SYS_MMAP, [6]uint32{3: unix.MAP_SHARED}, allow},
		{reduced, unix.SYS_VMSPLICE, [6]uint32{}, fails(unix.ENOSYS)},
		{reduced, unix.SYS_CLOSE_RANGE, [6]uint32{2: unix.CLOSE_RANGE_UNSHARE | unix.CLOSE_RANGE_CLOEXEC}, fails(unix.EPERM)},
		{reduced, unix.SYS_CLOSE_RANGE, [6]uint32{2: unix.CLOSE_RANGE_CLOEXEC}, allow},
		{reduced, unix.SYS_SETSOCKOPT, [6]uint32{0, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE}, fails(unix.EPERM)},
		{reduced, unix.SYS_SETSOCKOPT, [6]uint32{0, unix.SOL_SOCKET, unix.SO_REUSEADDR}, allow},
		{reduced, unix.SYS_SETSOCKOPT, [6]uint32{0, unix.SOL_TCP, unix.SO_SNDBUF}, allow},

		{full, unix.SYS_SETRLIMIT, [6]uint32{unix.RLIMIT_NPROC}, fails(unix.EPERM)},
		{full, unix.SYS_SETRLIMIT, [6]uint32{unix.RLIMIT_CORE}, allow},
		{full, unix.SYS_PRLIMIT64, [6]uint32{0, unix.RLIMIT_DATA}, fails(unix.EPERM)},
		{full, unix.SYS_PRLIMIT64, [6]uint32{5, unix.RLIMIT_STACK}, allow},
		{weak, unix.SYS_PRLIMIT64, [6]uint32{5, unix.RLIMIT_STACK}, fails(unix.EPERM)},
		{weak, unix.SYS_PRLIMIT64, [6]uint32{0, unix.RLIMIT_STACK}, allow},
		{weak, unix.SYS_PRLIMIT64, [6]uint32{0, unix.RLIMIT_NPROC}, fails(unix.EPERM)},

		{full, unix.SYS_CLONE, [6]uint32{unix.CLONE_NEWUSER | cloneThread}, fails(unix.EPERM)},
		{full, unix.SYS_CLONE, [6]uint32{cloneThread}, allow},
		{reduced, unix.SYS_CLONE, [6]uint32{cloneThread}, fails(unix.EPERM)},
		{reduced, unix.SYS_CLONE, [6]uint32{cloneThread | unix.CLONE_FILES}, allow},
		{reduced, unix.SYS_CLONE, [6]uint32{uint32(unix.SIGCHLD)}, allow},
		{reduced, unix.SYS_CLONE, [6]uint32{unix.CLONE_NEWNET | unix.CLONE_FILES}, fails(unix.EPERM)},

		{full, unix.SYS_SOCKET, [6]uint32{unix.AF_UNIX, unix.SOCK_STREAM}, fails(unix.EAFNOSUPPORT)},
		{full, unix.SYS_SOCKETPAIR, [6]uint32{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, allow},
		{full, unix.SYS_SOCKETPAIR, [6]uint32{unix.AF_UNIX, unix.SOCK_SEQPACKET}, allow},
		{full, unix.SYS_SOCKETPAIR, [6]uint32{unix.AF_UNIX, unix.SOCK_DGRAM}, fails(unix.EAFNOSUPPORT)},
		{full, unix.SYS_SOCKETPAIR, [6]uint32{unix.AF_INET, unix.SOCK_STREAM}, fails(unix.EAFNOSUPPORT)},
		{full, unix.SYS_CONNECT, [6]uint32{}, fails(unix.EPERM)},
		{full, unix.SYS_IOCTL, [6]uint32{0, unix.TIOCSTI}, fails(unix.EPERM)},
		{full, unix.SYS_IOCTL, [6]uint32{0, unix.TCGETS}, allow},

		{full, unix.SYS_KILL, [6]uint32{77}, fails(unix.EPERM)},
		{full, unix.SYS_KILL, [6]uint32{1}, fails(unix.EPERM)},
		{full, unix.SYS_KILL, [6]uint32{78}, allow},
		{weak, unix.SYS_KILL, [6]uint32{78}, fails(unix.EPERM)},
		{weak, unix.SYS_PIDFD_SEND_SIGNAL, [6]uint32{}, fails(unix.EPERM)},
		{weakNew, unix.SYS_KILL, [6]uint32{78}, allow},
		{weakNew, unix.SYS_KILL, [6]uint32{77}, fails(unix.EPERM)},

		{full, unix.SYS_PERSONALITY, [6]uint32{readPersonality}, allow},
		{full, unix.SYS_PERSONALITY, [6]uint32{fixedAddresses}, allow},
		{full, unix.SYS_PERSONALITY, [6]uint32{}, allow},
		{full, unix.SYS_PERSONALITY, [6]uint32{0x0400000}, fails(unix.EPERM)}, // READ_IMPLIES_EXEC

		{full, unix.SYS_FILE_SETATTR, [6]uint32{}, allow}, // a program can write only to its own files
		{weak, unix.SYS_FILE_SETATTR, [6]uint32{}, fails(unix.EPERM)},
		{weak, unix.SYS_SETXATTRAT, [6]uint32{}, fails(unix.EPERM)},
	} {
		if got := verdictOf(t, c.config, systemCall{auditArch, c.number, c.args}); got != c.want {
			t.Errorf("call %d with %v, %+v: verdict %#x, want %#x", c.number, c.args, *c.config, got, c.want)
		}
	}
	if got := verdictOf(t, full, systemCall{unix.AUDIT_ARCH_I386, unix.SYS_READ, [6]uint32{}}); got != kill {
		t.Errorf("a call of another architecture: verdict %#x, want %#x", got, kill)
	}
}

// TestLongJump checks that a jump over too many instructions is an error.
func TestLongJump(t *testing.T) {
	values := make([]uint32, 300)
	_, err := assembleFilter([]filterRule{{calls: calls(unix.SYS_READ), when: all(argument(0, values...)), verdict: retKill}})
	if err == nil || !strings.Contains(err.Error(), "255 is the limit") {
		t.Errorf("the error is %v", err)
	}
}

// TestKernelCalls checks that the kernel of this machine has no system calls after lastCall. If it fails, add
// the new calls to the lists of seccomp_linux.go where they fit, and raise lastCall.
func TestKernelCalls(t *testing.T) {
	var newer []string
	for number := uintptr(lastCall + 1); number <= lastCall+64; number++ {
		const invalid = ^uintptr(0) // so that no call can have an effect
		if _, _, errno := unix.Syscall6(number, invalid, invalid, invalid, invalid, invalid, invalid); errno != unix.ENOSYS {
			newer = append(newer, fmt.Sprint(number))
		}
	}
	if newer != nil {
		t.Errorf("this kernel has the calls %v, and the filter knows none after %d: CONTRIBUTING.md says what to do", newer, lastCall)
	}
}
