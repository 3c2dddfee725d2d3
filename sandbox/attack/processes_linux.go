package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// swarmSize is how many processes or threads an attack must get to succeed.
const swarmSize = 250

// cpuGoal is how much CPU time an attack must get to succeed.
const cpuGoal = 900 * time.Millisecond

var processes = []attack{
	{name: "fork-bomb", help: "250 processes at once, each of which forks", run: forkBomb, ends: endProcesses | endMemory | endCrash},
	{name: "thread-bomb", help: "250 threads at once", run: threadBomb, ends: endProcesses | endCrash},
	{name: "daemon", help: "processes in sessions of their own, one of which keeps the bot's pipes open, live on after the bot's end", run: daemon, criterion: bySurvivor},
	{name: "subreaper", help: "takes the orphans of the sandbox's init", run: subreaper, criterion: bySurvivor},
	{name: "runaway", help: "a chain of processes, each of which forks and exits, outruns being killed", run: runaway, criterion: byKill},
	{name: "ignore-term", help: "spins and ignores all signals", run: ignoreTerm, criterion: byKill},
	{name: "stop-self", help: "stops itself, so that a signal to end does not reach it", run: stopSelf, criterion: byKill},
	{name: "close-pipes", help: "closes its pipes and goes on", run: closePipes, criterion: byKill},
	{name: "flood", help: "writes lines without end, also when nobody reads them", run: flood, criterion: byKill},
	{name: "cpu-spin", help: "uses 0.9 s of CPU time in two processes, of 0.3 s that it may", run: cpuSpin, cpu: true, ends: endCPU},
	{name: "cpu-relay", help: "uses as much in processes that live 50 ms each", run: cpuRelay, cpu: true, ends: endCPU},
	{name: "cpu-forget", help: "uses as much in processes that nobody waits for", run: cpuForget, cpu: true, ends: endCPU},
}

func forkBomb(*target) (string, error) {
	t, err := newTeam(swarmSize)
	if err != nil {
		return "", err
	}
	p, limit := t.waitArguments()
	pid, errno := fork()
	if errno != 0 {
		return "", errno
	}
	if pid == 0 {
		t.join()
		multiply(t, p, limit)
	}
	ok := t.await(swarmSize, stepTimeout, 50*time.Millisecond)
	t.stopAll()
	reap()
	if ok {
		return fmt.Sprint(swarmSize, " processes"), nil
	}
	return "", t.err()
}

// multiply forks as long as tokens (rights to fork) are left, and then waits in waitForStop. All forked processes do
// the same. p and limit are passed to waitForStop.
func multiply(t *team, p *unix.PollFd, limit *unix.Timespec) {
	for t.takeToken() {
		pid, errno := fork()
		if errno != 0 {
			t.report(errno)
			break
		}
		if pid == 0 {
			t.report(0)
		}
	}
	t.waitForStop(p, limit)
}

func threadBomb(*target) (string, error) {
	var count atomic.Int32
	for range swarmSize {
		go func() {
			runtime.LockOSThread()
			count.Add(1)
			unix.Nanosleep(&unix.Timespec{Sec: int64(bound / time.Second)}, nil)
		}()
	}
	for patience := stepTimeout; count.Load() < swarmSize; patience -= doze() {
		if patience <= 0 {
			return "", errNothing
		}
	}
	// The threads must stay alive for holdTime, because the process limit may only be checked at intervals.
	holdOn(holdTime)
	return fmt.Sprint(swarmSize, " threads"), nil
}

// daemon exits and leaves two processes behind: one in a session of its own, one in a process group of its own.
func daemon(t *target) (string, error) {
	for _, pipes := range []bool{true, false} {
		c := exec.Command("/proc/self/exe", "linger", fmt.Sprintf(`{"Base":%q}`, t.Base))
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: pipes, Setpgid: !pipes}
		if pipes {
			c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
		}
		if err := c.Start(); err != nil {
			return "", err
		}
	}
	time.Sleep(20 * time.Millisecond)
	ready()
	os.Exit(exitThrough)
	panic("unreachable")
}

func subreaper(t *target) (string, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return "", err
	}
	return daemon(t)
}

// linger ignores all signals and sleeps. It is the process that daemon leaves behind.
func linger(*target) {
	ignoreSignals()
	time.Sleep(bound)
}

// runaway starts a chain of processes, each of which forks the next and exits, so that killing one of them comes
// too late.
func runaway(t *target) (string, error) {
	links, err := newTeam(1500)
	if err != nil {
		return "", err
	}
	pause := &unix.Timespec{Nsec: 1e6}
	off := append([]byte(t.Base), "/off\x00"...)
	pid, errno := fork()
	if errno != 0 {
		return "", errno
	}
	if pid == 0 {
		chain(links, pause, &off[0])
	}
	if !links.await(3, stepTimeout, 0) {
		return "", links.err()
	}
	ready()
	time.Sleep(bound)
	return "", errNothing
}

// chain forks the next process of a chain, which calls chain too. The forking process sleeps for some pauses and
// exits. links counts the processes. The chain ends when a file at the path off exists; the tests create the file if
// there is no sandbox.
func chain(links *team, pause *unix.Timespec, off *byte) {
	syscall.RawSyscall(unix.SYS_SETSID, 0, 0, 0)
	at := unix.AT_FDCWD
	for links.takeToken() {
		if _, _, e := syscall.RawSyscall6(unix.SYS_FACCESSAT, uintptr(at), uintptr(unsafe.Pointer(off)), 0, 0, 0, 0); e == 0 {
			break
		}
		links.report(0)
		pid, errno := fork()
		nap(pause)
		if errno == 0 && pid != 0 {
			for range 8 {
				nap(pause)
			}
			break
		}
	}
	exitFork(0)
}

func ignoreTerm(*target) (string, error) {
	ignoreSignals()
	ready()
	for spins := uint64(0); ; spins++ {
	}
}

func stopSelf(*target) (string, error) {
	ignoreSignals()
	c := exec.Command("/proc/self/exe", "stop-parent")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Start(); err != nil {
		return "", err
	}
	time.Sleep(bound) // another thread may handle the signal, so this one continues until then
	return "", errNothing
}

// stopParent sends SIGSTOP to its parent process. Then it prints a line by which the tests know that it has done so.
func stopParent(*target) {
	if err := unix.Kill(os.Getppid(), unix.SIGSTOP); err != nil {
		exitWithError(err)
	}
	fmt.Println("READY", os.Getppid())
}

func closePipes(*target) (string, error) {
	ignoreSignals()
	ready()
	for fd := range 3 {
		unix.Close(fd)
	}
	time.Sleep(bound)
	return "", errNothing
}

func flood(*target) (string, error) {
	ignoreSignals()
	ready()
	for lines := strings.Repeat("move 1o\n", 8<<10); ; {
		if _, err := os.Stdout.WriteString(lines); err != nil {
			time.Sleep(bound)
		}
	}
}

func cpuSpin(*target) (string, error) { return burn(2, cpuGoal/2) }

func cpuRelay(*target) (string, error) {
	for used := time.Duration(0); used < cpuGoal; used += 50 * time.Millisecond {
		if got, err := burn(1, 50*time.Millisecond); err != nil {
			return got, err
		}
	}
	return cpuGoal.String() + " of CPU time", nil
}

// cpuForget uses CPU time in child processes in such a way that the kernel does not add that time to the CPU time of
// this process.
func cpuForget(t *target) (string, error) {
	signal.Ignore(syscall.SIGCHLD)
	return cpuRelay(t)
}

// burn starts n child processes and waits until each of them has used CPU time for the duration each.
func burn(n int, each time.Duration) (string, error) {
	t, err := newTeam(0)
	if err != nil {
		return "", err
	}
	var ts unix.Timespec
	for range n {
		pid, errno := fork()
		if errno != 0 {
			return "", errno
		}
		if pid == 0 {
			for ts.Nano() < int64(each) {
				syscall.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_PROCESS_CPUTIME_ID, uintptr(unsafe.Pointer(&ts)), 0)
			}
			t.report(0)
			exitFork(0)
		}
	}
	ok := t.await(n, 2*stepTimeout, 0)
	reap()
	t.close()
	if !ok {
		return "", t.err()
	}
	return fmt.Sprint(n, " processes used ", each, " of CPU time each"), nil
}
