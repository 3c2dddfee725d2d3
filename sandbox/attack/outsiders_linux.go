package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

var outsiders = []attack{
	{Name: "kill", Help: "ends a process outside", Run: killVictim, Ends: endForbidden},
	{Name: "stop", Help: "stops a process outside by a signal to its thread (tgkill)", Run: stopVictim, Ends: endForbidden},
	{Name: "kill-parent", Help: "ends its parent, the sandbox's init, by any signal", Run: killParent, Setup: setup{Parent: true}, Ends: endForbidden | endSignal},
	{Name: "kill-parent-thread", Help: "ends its parent by signals to its threads", Run: killThreads, Setup: setup{Parent: true}, Ends: endForbidden | endSignal},
	{Name: "outlive-init", Help: "a grandchild ends the sandbox's init by its threads, and lives on", Run: outlive, Setup: setup{Parent: true, Judge: bySurvivor}, Ends: endSignal},
	{Name: "ptrace", Help: "traces a process outside", Run: ptraceVictim, Ends: endForbidden, Idle: mayTrace},
	{Name: "ptrace-parent", Help: "traces its parent", Run: ptraceParent, Setup: setup{Parent: true}, Ends: endForbidden, Idle: mayTrace},
	{Name: "vm-read", Help: "reads the memory of a process outside (process_vm_readv)", Run: vmRead, Ends: endForbidden, Idle: mayTrace},
	{Name: "vm-write", Help: "writes to the memory of a process outside", Run: vmWrite, Ends: endForbidden, Idle: mayTrace},
	{Name: "parent-memory", Help: "opens the memory of its parent's threads before that shuts it", Run: parentMemory, Setup: setup{Parent: true}, Ends: endForbidden, Idle: mayTrace},
	{Name: "pidfd-getfd", Help: "takes a descriptor of a process outside", Run: pidfdGet, Ends: endForbidden, Idle: mayTrace},
	{Name: "pidfd-parent", Help: "takes a descriptor of its parent", Run: pidfdParent, Setup: setup{Parent: true}, Ends: endForbidden, Idle: mayTrace},
	{Name: "pidfd-signal", Help: "ends a process outside by pidfd_send_signal", Run: pidfdSignal, Ends: endForbidden},
	{Name: "prlimit", Help: "sets a resource limit of a process outside", Run: prlimitVictim, Ends: endForbidden},
	{Name: "kcmp", Help: "compares itself with a process outside", Run: kcmp, Ends: endForbidden},
	{Name: "affinity", Help: "moves a process outside to another processor", Run: affinity, Ends: endForbidden},
	{Name: "proc-list", Help: "sees the processes of the machine", Run: procList},
	{Name: "proc-environ", Help: "reads the environment of a process outside", Run: func(t *target) (string, error) { return readMarked(t, proc(t.Victim, "environ")) }},
	{Name: "proc-memory", Help: "reads the memory of a process outside by /proc", Run: procMemory, Idle: mayTrace},
	{Name: "proc-fd", Help: "reads through a descriptor of a process outside by /proc", Run: func(t *target) (string, error) { return readMarked(t, proc(t.Victim, "fd", fmt.Sprint(t.FD))) }},
	{Name: "parent-environ", Help: "reads the environment of its parent", Run: func(t *target) (string, error) { return readMarked(t, proc(os.Getppid(), "environ")) }, Setup: setup{Parent: true}},
	{Name: "parent-fd", Help: "opens a descriptor of its parent", Run: parentFD, Setup: setup{Parent: true}},
	{Name: "parent-root", Help: "reads a file outside by its parent's root", Run: func(t *target) (string, error) { return readMarked(t, proc(os.Getppid(), "root", t.Secret)) }, Setup: setup{Parent: true}},
	{Name: "parent-cwd", Help: "reads a file outside by its parent's working directory", Run: parentCwd, Setup: setup{Parent: true}},
	{Name: "parent-program", Help: "opens the referee's program for writing by its parent's /proc/PID/exe", Run: parentProgram, Setup: setup{Parent: true}},
	{Name: "self-root", Help: "reads a file outside by /proc/self/root", Run: func(t *target) (string, error) { return readMarked(t, "/proc/self/root"+t.Secret) }},
	{Name: "self-task", Help: "reads a file outside by the root of a thread", Run: func(t *target) (string, error) {
		return readMarked(t, "/proc/thread-self/root"+t.Secret)
	}},
	{Name: "leaked", Help: "finds an open descriptor that it was not given", Run: leaked},
}

// mayTrace is a condition of all that the kernel takes for tracing.
var mayTrace = setting("kernel/yama/ptrace_scope", "0")

func proc(pid int, rest ...string) string {
	return filepath.Join(append([]string{"/proc", strconv.Itoa(pid)}, rest...)...)
}

func killVictim(t *target) (string, error) {
	return "killed", unix.Kill(t.Victim, unix.SIGKILL)
}

func stopVictim(t *target) (string, error) {
	return "stopped", unix.Tgkill(t.Victim, t.Victim, unix.SIGSTOP)
}

// killParent sends its parent every signal: to end by SIGKILL, to stop, and those
// that the Go runtime gives up on.
func killParent(*target) (string, error) {
	parent := os.Getppid()
	var err error
	for s := 64; s > 0; s-- {
		if e := unix.Kill(parent, unix.Signal(s)); e != nil {
			err = e
		}
	}
	return outlived(parent, err)
}

// killThreads does so by the numbers of its threads, which a filter may not know.
func killThreads(*target) (string, error) {
	parent := os.Getppid()
	var err error
	for _, tid := range threadsOf(parent) {
		for s := 64; s > 0; s-- {
			for _, e := range []error{unix.Kill(tid, unix.Signal(s)), call(unix.SYS_TKILL, uintptr(tid), uintptr(s))} {
				if e != nil {
					err = e
				}
			}
		}
	}
	return outlived(parent, err)
}

// threadsOf returns the numbers of the threads of a process. Those of an init whose
// directory cannot be read must be the first ones.
func threadsOf(pid int) (tids []int) {
	names, _ := os.ReadDir(proc(pid, "task"))
	for _, n := range names {
		if tid, err := strconv.Atoi(n.Name()); err == nil {
			tids = append(tids, tid)
		}
	}
	for tid := 2; pid == 1 && tid < os.Getpid(); tid++ {
		tids = append(tids, tid)
	}
	return tids
}

// outlive leaves it to a process of its own, which is not bound to init's life.
func outlive(t *target) (string, error) {
	arg, err := json.Marshal(target{Base: t.Base, Victim: os.Getppid()})
	if err != nil {
		return "", err
	}
	c := exec.Command("/proc/self/exe", "regicide", string(arg))
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	heard, err := c.StdinPipe()
	if err != nil {
		return "", err
	}
	acted, err := c.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := c.Start(); err != nil {
		return "", err
	}
	ready()
	heard.Close()
	io.ReadAll(acted)
	os.Exit(exitThrough)
	panic("unreachable")
}

// regicide ends a process by its threads, once the harness has been told.
func regicide(t *target, args []string) {
	deafen()
	io.ReadAll(os.Stdin)
	for _, tid := range threadsOf(t.Victim) {
		unix.Kill(tid, unix.SIGKILL)
	}
	os.Stdout.Close()
	linger(t, args)
}

// outlived reports whether a parent is gone. A parent that ends has its turns on the processor as
// this process has, which are counted, whatever the time.
func outlived(parent int, err error) (string, error) {
	for range 300 {
		if os.Getppid() != parent {
			return fmt.Sprint("process ", parent, " is gone"), nil
		}
		time.Sleep(time.Millisecond)
	}
	if err == nil {
		err = fmt.Errorf("process %d is still there", parent)
	}
	return "", err
}

func ptraceVictim(t *target) (string, error) { return seize(t.Victim) }

func ptraceParent(*target) (string, error) { return seize(os.Getppid()) }

func seize(pid int) (string, error) {
	runtime.LockOSThread()
	return fmt.Sprint("traces process ", pid), unix.PtraceSeize(pid)
}

func iovecs(t *target, local []byte) ([]unix.Iovec, []unix.RemoteIovec) {
	v := unix.Iovec{Base: &local[0]}
	v.SetLen(len(local))
	return []unix.Iovec{v}, []unix.RemoteIovec{{Base: uintptr(t.Address), Len: len(local)}}
}

func vmRead(t *target) (string, error) {
	data := make([]byte, len(t.Marker))
	local, remote := iovecs(t, data)
	if _, err := unix.ProcessVMReadv(t.Victim, local, remote, 0); err != nil {
		return "", err
	}
	return secretIn(t, data, "its memory")
}

func vmWrite(t *target) (string, error) {
	local, remote := iovecs(t, []byte(t.Marker))
	_, err := unix.ProcessVMWritev(t.Victim, local, remote, 0)
	return "wrote to its memory", err
}

// parentMemory is quick: a sandbox's init may not be ready yet.
func parentMemory(*target) (string, error) {
	err := errNothing
	for _, tid := range append(threadsOf(os.Getppid()), os.Getppid()) {
		path := proc(os.Getppid(), "task", strconv.Itoa(tid), "mem")
		if err = mayOpen(path, unix.O_RDWR); err == nil {
			return path, nil
		}
	}
	return "", err
}

func pidfdGet(t *target) (string, error) { return takeFD(t, t.Victim, t.FD) }

func pidfdParent(t *target) (string, error) {
	err := errNothing
	for fd := 3; fd < 64; fd++ {
		var got string
		if got, err = takeFD(nil, os.Getppid(), fd); err == nil {
			return got, nil
		}
	}
	return "", err
}

func takeFD(t *target, pid, fd int) (string, error) {
	p, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(p)
	got, err := unix.PidfdGetfd(p, fd, 0)
	if err != nil {
		return "", err
	}
	if t == nil {
		return fmt.Sprint("descriptor ", fd, " of process ", pid), nil
	}
	data := make([]byte, 4096)
	n, err := unix.Pread(got, data, 0)
	if err != nil {
		return "", err
	}
	return secretIn(t, data[:n], "a file that it had open")
}

func pidfdSignal(t *target) (string, error) {
	p, err := unix.PidfdOpen(t.Victim, 0)
	if err != nil {
		return "", err
	}
	return "killed", unix.PidfdSendSignal(p, unix.SIGKILL, nil, 0)
}

func prlimitVictim(t *target) (string, error) {
	var r unix.Rlimit
	if err := unix.Prlimit(t.Victim, unix.RLIMIT_CORE, nil, &r); err != nil {
		return "", err
	}
	return "its core limit", unix.Prlimit(t.Victim, unix.RLIMIT_CORE, &r, nil)
}

func kcmp(t *target) (string, error) {
	const kcmpVM = 1
	_, err := callFor(unix.SYS_KCMP, uintptr(os.Getpid()), uintptr(t.Victim), kcmpVM, 0, 0)
	return "compared", err
}

func affinity(t *target) (string, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(t.Victim, &set); err != nil {
		return "", err
	}
	return "its processors", unix.SchedSetaffinity(t.Victim, &set)
}

func procList(t *target) (string, error) {
	data, err := readSome(proc(t.Victim, "cmdline"))
	if err != nil {
		return "", err
	}
	if !strings.Contains(string(data), "victim") {
		return "", errNothing
	}
	return "the command of process " + strconv.Itoa(t.Victim), nil
}

func procMemory(t *target) (string, error) {
	fd, err := unix.Open(proc(t.Victim, "mem"), unix.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	data := make([]byte, len(t.Marker))
	if _, err := unix.Pread(fd, data, int64(t.Address)); err != nil {
		return "", err
	}
	return secretIn(t, data, "its memory")
}

func parentFD(t *target) (string, error) {
	dir := proc(os.Getppid(), "fd")
	names, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, n := range names {
		link := filepath.Join(dir, n.Name())
		to, _ := os.Readlink(link)
		if to == "/dev/null" {
			continue
		}
		if err = mayOpen(link, unix.O_RDONLY); err == nil {
			return to, nil
		}
	}
	return "", err
}

func parentCwd(t *target) (string, error) {
	return readMarked(t, proc(os.Getppid(), "cwd")+"/"+strings.Repeat("../", 40)+t.Secret[1:])
}

func parentProgram(*target) (string, error) {
	path := proc(os.Getppid(), "exe")
	return path, mayOpen(path, unix.O_WRONLY)
}

// leaked looks at all descriptors but those that the Go runtime makes for
// itself, which are neither files nor sockets.
func leaked(*target) (string, error) {
	for fd := 3; fd < 4096; fd++ {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT == 0 {
			continue
		}
		name := make([]byte, 256)
		n, _ := unix.Readlink(fmt.Sprint("/proc/self/fd/", fd), name)
		return fmt.Sprintf("descriptor %d, mode %o, %s", fd, st.Mode, name[:max(n, 0)]), nil
	}
	return "", errNothing
}
