package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

var kernel = []attack{
	{Name: "add-key", Help: "puts a key into a keyring, where others of its user see it", Run: addKey, Ends: endForbidden},
	{Name: "keyctl", Help: "opens a keyring", Run: keyring, Ends: endForbidden},
	{Name: "request-key", Help: "has the kernel look for a key, by a program of root's", Run: requestKey, Ends: endForbidden},
	{Name: "io-uring", Help: "makes system calls where no filter sees them", Run: ioURing, Ends: endForbidden,
		Idle: setting("kernel/io_uring_disabled", "0")},
	{Name: "bpf", Help: "loads a map into the kernel", Run: bpf, Ends: endForbidden,
		Idle: setting("kernel/unprivileged_bpf_disabled", "0")},
	{Name: "perf", Help: "measures itself by perf_event_open", Run: perf, Ends: endForbidden,
		Idle: setting("kernel/perf_event_paranoid", "-1", "0", "1", "2")},
	{Name: "userfaultfd", Help: "handles its own page faults, which holds the kernel up", Run: userfaultfd, Ends: endForbidden},
	{Name: "int80", Help: "makes a 32-bit system call, whose numbers differ", Run: int80, Ends: endForbidden | endSignal | endCrash,
		Idle: both(amd64Only, never("this kernel has no 32-bit system calls", hasInt80))},
	{Name: "x32", Help: "makes an x32 system call", Run: x32, Ends: endForbidden,
		Idle: both(amd64Only, never("this kernel has no x32 system calls", hasX32))},
	{Name: "memfd-secret", Help: "memory that not even the kernel reads (memfd_secret)", Run: memfdSecret, Ends: endForbidden,
		Idle: never("this kernel has no memfd_secret", func() bool { return call(unix.SYS_MEMFD_SECRET, 0) == nil })},
	{Name: "personality", Help: "makes all memory that can be read a program", Run: personality, Ends: endForbidden},
	{Name: "syslog", Help: "reads the kernel's log", Run: syslog, Ends: endForbidden,
		Idle: setting("kernel/dmesg_restrict", "0")},
	{Name: "quotactl", Help: "asks for disk quotas", Run: quotactl, Ends: endForbidden},
	{Name: "move-pages", Help: "asks where the memory of a process outside lies", Run: movePages, Ends: endForbidden},
	{Name: "subreaper", Help: "takes the orphans of the sandbox's init", Run: subreaper, Setup: setup{Judge: bySurvivor}},
	{Name: "core-dump", Help: "dumps core", Run: coreDump,
		Idle: never("cores are not files here", coresAreFiles)},
}

const userKeyring = ^uintptr(3) // KEY_SPEC_USER_KEYRING, -4

func addKey(*target) (string, error) {
	kind, _ := unix.BytePtrFromString("user")
	name, _ := unix.BytePtrFromString("attack")
	id, err := callFor(unix.SYS_ADD_KEY, uintptr(unsafe.Pointer(kind)), uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(kind)), 4, userKeyring)
	if err != nil {
		return "", err
	}
	unix.KeyctlInt(unix.KEYCTL_INVALIDATE, id, 0, 0, 0)
	return fmt.Sprint("key ", id), nil
}

func keyring(*target) (string, error) {
	id, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, true)
	return fmt.Sprint("keyring ", id), err
}

// requestKey asks for a key that is not there, without having it made.
func requestKey(*target) (string, error) {
	kind, _ := unix.BytePtrFromString("user")
	name, _ := unix.BytePtrFromString("attack-none")
	err := call(unix.SYS_REQUEST_KEY, uintptr(unsafe.Pointer(kind)), uintptr(unsafe.Pointer(name)), 0, 0)
	return "searched", obeyed(err, unix.ENOKEY)
}

func ioURing(*target) (string, error) {
	var params [120]byte
	fd, err := callFor(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&params)))
	if err != nil {
		return "", err
	}
	return "a ring", unix.Close(fd)
}

func bpf(*target) (string, error) {
	const mapCreate, array = 0, 2
	attr := struct{ kind, key, value, entries, flags uint32 }{array, 4, 4, 1, 0}
	fd, err := callFor(unix.SYS_BPF, mapCreate, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	if err != nil {
		return "", err
	}
	return "a map", unix.Close(fd)
}

func perf(*target) (string, error) {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_TASK_CLOCK,
		Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return "", err
	}
	return "a counter", unix.Close(fd)
}

func userfaultfd(*target) (string, error) {
	const userModeOnly = 1
	fd, err := callFor(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|userModeOnly)
	if err != nil {
		return "", err
	}
	return "a descriptor", unix.Close(fd)
}

func int80(*target) (string, error) {
	const getpid = 20
	got := int(int32(call80(getpid)))
	if got == os.Getpid() {
		return fmt.Sprint("getpid gave ", got), nil
	}
	if got < 0 {
		return "", syscall.Errno(-got)
	}
	return "", errNothing
}

// hasInt80 runs it in a process of its own: where there is none it crashes.
func hasInt80() bool { return runWith(nil, "int80") == nil }

func x32(*target) (string, error) {
	pid, err := callFor(unix.SYS_GETPID | 1<<30)
	return fmt.Sprint("getpid gave ", pid), err
}

func hasX32() bool {
	_, err := x32(nil)
	return err == nil
}

func memfdSecret(*target) (string, error) {
	fd, err := callFor(unix.SYS_MEMFD_SECRET, unix.O_CLOEXEC)
	if err != nil {
		return "", err
	}
	return "secret memory", unix.Close(fd)
}

func personality(*target) (string, error) {
	const readImpliesExec = 0x400000
	return "READ_IMPLIES_EXEC", call(unix.SYS_PERSONALITY, readImpliesExec)
}

func syslog(*target) (string, error) {
	const sizeBuffer = 10
	n, err := unix.Klogctl(sizeBuffer, nil)
	return fmt.Sprint("a log of ", n, " bytes"), err
}

// quotactl asks to write quotas out, which all may.
func quotactl(*target) (string, error) {
	const sync = 0x800001 << 8
	return "wrote quotas", call(unix.SYS_QUOTACTL, sync, 0, 0, 0)
}

func movePages(t *target) (string, error) {
	page := uintptr(t.Address)
	var status int32
	err := call(unix.SYS_MOVE_PAGES, uintptr(t.Victim), 1, uintptr(unsafe.Pointer(&page)), 0, uintptr(unsafe.Pointer(&status)), 0)
	return "the node of its memory", err
}

// subreaper keeps a daemon as its own and leaves.
func subreaper(t *target) (string, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return "", err
	}
	return daemon(t)
}

func coresAreFiles() bool {
	data, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	var r unix.Rlimit
	return err == nil && len(data) > 0 && data[0] != '|' && data[0] != '/' && unix.Getrlimit(unix.RLIMIT_CORE, &r) == nil && r.Max > 1<<20
}

// coreDump has a child of its own crash in each directory that may be writable.
func coreDump(t *target) (string, error) {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &r); err != nil {
		return "", err
	}
	r.Cur = min(r.Max, 64<<20)
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &r); err != nil {
		return "", err
	}
	return firstOf([]string{".", t.Home, scratch()}, func(dir string) error {
		c := exec.Command("/proc/self/exe", "crash")
		c.Dir = dir
		c.Run()
		cores, _ := filepath.Glob(filepath.Join(dir, "core*"))
		if len(cores) == 0 {
			return errNothing
		}
		for _, core := range cores {
			os.Remove(core)
		}
		return nil
	})
}
