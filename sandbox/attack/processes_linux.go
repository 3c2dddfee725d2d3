package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// swarm is how many processes or threads an attack has to get.
const swarm = 250

// greed is how much CPU time an attack has to get.
const greed = 900 * time.Millisecond

var processes = []attack{
	{Name: "fork-bomb", Help: "250 processes at once, each of which forks", Run: forkBomb, Ends: endProcesses | endMemory | endCrash},
	{Name: "thread-bomb", Help: "250 threads at once", Run: threadBomb, Ends: endProcesses | endCrash},
	{Name: "daemon", Help: "a process in a session of its own lives on after the bot's end", Run: daemon, Setup: setup{Judge: bySurvivor}},
	{Name: "orphan-pipe", Help: "a process that keeps the bot's pipes open lives on after the bot's end", Run: orphan, Setup: setup{Judge: bySurvivor}},
	{Name: "runaway", Help: "a chain of processes, each of which forks and leaves, outruns being killed", Run: runaway, Setup: setup{Judge: byRunaway}},
	{Name: "ignore-term", Help: "spins and ignores all signals", Run: ignoreTerm, Setup: setup{Judge: byEnd}},
	{Name: "stop-self", Help: "stops itself, so that a signal to end does not reach it", Run: stopSelf, Setup: setup{Judge: byEnd}},
	{Name: "cpu-spin", Help: "uses 0.9 s of CPU time in two processes, of 0.3 s that it may", Run: cpuSpin, Setup: setup{CPU: true}, Ends: endCPU},
	{Name: "cpu-relay", Help: "uses as much in processes that live 50 ms each", Run: cpuRelay, Setup: setup{CPU: true}, Ends: endCPU},
	{Name: "cpu-forget", Help: "uses as much in processes that nobody waits for", Run: cpuForget, Setup: setup{CPU: true}, Ends: endCPU},
	{Name: "nice", Help: "a better priority", Run: nice, Idle: rootOnly("a better priority needs CAP_SYS_NICE")},
	{Name: "nice-least", Help: "the least priority, to get time credit for waiting", Run: niceLeast},
	{Name: "sched-idle", Help: "the scheduler for what runs when nothing else does, for the same", Run: schedIdle},
	{Name: "sched-fifo", Help: "the real-time scheduler", Run: fifo, Idle: rootOnly("the real-time scheduler needs CAP_SYS_NICE")},
	{Name: "ioprio", Help: "real-time priority of input and output", Run: ioprio, Idle: rootOnly("it needs CAP_SYS_ADMIN")},
	{Name: "rlimit", Help: "raises a hard resource limit", Run: raise, Idle: needsCap(unix.CAP_SYS_RESOURCE, "it needs CAP_SYS_RESOURCE")},
	{Name: "rlimit-soft", Help: "raises the soft limits of its processes and memory", Run: raiseSoft},
	{Name: "oom-score", Help: "lets the kernel kill others first when memory runs out", Run: oomScore, Idle: needsCap(unix.CAP_SYS_RESOURCE, "a lower score needs CAP_SYS_RESOURCE")},
}

func forkBomb(*target) (string, error) {
	t, err := newTeam(swarm)
	if err != nil {
		return "", err
	}
	p, limit := t.resting()
	pid, errno := fork()
	if errno != 0 {
		return "", errno
	}
	if pid == 0 {
		t.join()
		multiply(t, p, limit)
	}
	ok := t.await(swarm, enough, 50*time.Millisecond)
	t.end()
	reap()
	if ok {
		return fmt.Sprint(swarm, " processes"), nil
	}
	return "", t.err()
}

// multiply forks in every process that it makes until there are enough.
func multiply(t *team, p *unix.PollFd, limit *unix.Timespec) {
	for t.token() {
		pid, errno := fork()
		if errno != 0 {
			t.part(errno)
			break
		}
		if pid == 0 {
			t.part(0)
		}
	}
	t.rest(p, limit)
}

func threadBomb(*target) (string, error) {
	var count atomic.Int32
	for range swarm {
		go func() {
			runtime.LockOSThread()
			count.Add(1)
			unix.Nanosleep(&unix.Timespec{Sec: int64(bound / time.Second)}, nil)
		}()
	}
	for patience := enough; count.Load() < swarm; patience -= doze() {
		if patience <= 0 {
			return "", errNothing
		}
	}
	// All of them are there, if the limit is only looked at from time to time.
	holdOn(hold)
	return fmt.Sprint(swarm, " threads"), nil
}

// daemon leaves a process behind by two forks and a session of its own.
func daemon(t *target) (string, error) { return leaveBehind(t, false) }

// orphan does so with the bot's pipes open.
func orphan(t *target) (string, error) { return leaveBehind(t, true) }

func leaveBehind(t *target, pipes bool) (string, error) {
	for _, setsid := range []bool{true, false} {
		c := exec.Command("/proc/self/exe", "linger", fmt.Sprintf(`{"Base":%q}`, t.Base))
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: setsid, Setpgid: !setsid}
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

// runaway returns a chain of processes: who kills one has to hurry for the next.
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
	if !links.await(3, enough, 0) {
		return "", links.err()
	}
	ready()
	time.Sleep(bound)
	return "", errNothing
}

// chain forks the next link at once and goes a little later. Without a sandbox
// it can be switched off by a file.
func chain(links *team, pause *unix.Timespec, off *byte) {
	syscall.RawSyscall(unix.SYS_SETSID, 0, 0, 0)
	at := unix.AT_FDCWD
	for links.token() {
		if _, _, e := syscall.RawSyscall6(unix.SYS_FACCESSAT, uintptr(at), uintptr(unsafe.Pointer(off)), 0, 0, 0, 0); e == 0 {
			break
		}
		links.part(0)
		pid, errno := fork()
		nap(pause)
		if errno == 0 && pid != 0 {
			for range 8 {
				nap(pause)
			}
			break
		}
	}
	leave(0)
}

func ignoreTerm(*target) (string, error) {
	deafen()
	ready()
	for spins := uint64(0); ; spins++ {
	}
}

func stopSelf(*target) (string, error) {
	deafen()
	c := exec.Command("/proc/self/exe", "stop-parent", "{}")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Start(); err != nil {
		return "", err
	}
	time.Sleep(bound) // another thread may take the signal: this one goes on until then
	return "", errNothing
}

func cpuSpin(*target) (string, error) { return burn(2, greed/2) }

func cpuRelay(*target) (string, error) {
	for used := time.Duration(0); used < greed; used += 50 * time.Millisecond {
		if got, err := burn(1, 50*time.Millisecond); err != nil {
			return got, err
		}
	}
	return greed.String() + " of CPU time", nil
}

// cpuForget has the kernel forget what its children used.
func cpuForget(t *target) (string, error) {
	signal.Ignore(syscall.SIGCHLD)
	return cpuRelay(t)
}

// burn uses CPU time in n processes, each that much.
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
			t.part(0)
			leave(0)
		}
	}
	ok := t.await(n, 2*enough, 0)
	reap()
	t.close()
	if !ok {
		return "", t.err()
	}
	return fmt.Sprint(n, " processes used ", each, " of CPU time each"), nil
}

func nice(*target) (string, error) {
	return "nice -5", unix.Setpriority(unix.PRIO_PROCESS, 0, -5)
}

func fifo(*target) (string, error) {
	runtime.LockOSThread()
	err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}, 0)
	return "SCHED_FIFO", err
}

func niceLeast(*target) (string, error) {
	return "nice 19", unix.Setpriority(unix.PRIO_PROCESS, 0, 19)
}

func schedIdle(*target) (string, error) {
	runtime.LockOSThread()
	return "SCHED_IDLE", unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0)
}

func ioprio(*target) (string, error) {
	const whoProcess, realTime = 1, 1 << 13
	return "ioprio real-time", call(unix.SYS_IOPRIO_SET, whoProcess, 0, realTime)
}

func raise(*target) (string, error) {
	// That of message queues: others have a bound that not even root may pass.
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MSGQUEUE, &r); err != nil {
		return "", err
	}
	r.Max++
	return fmt.Sprint(r.Max, " bytes of message queues"), unix.Setrlimit(unix.RLIMIT_MSGQUEUE, &r)
}

// raiseSoft raises what is below its hard limit.
func raiseSoft(*target) (string, error) {
	err := errNothing
	for _, resource := range []int{unix.RLIMIT_NPROC, unix.RLIMIT_DATA, unix.RLIMIT_AS, unix.RLIMIT_NOFILE, unix.RLIMIT_CORE, unix.RLIMIT_FSIZE} {
		var r unix.Rlimit
		if e := unix.Getrlimit(resource, &r); e != nil || r.Cur == r.Max {
			continue
		}
		r.Cur = r.Max
		for _, try := range []func() error{
			func() error { return unix.Setrlimit(resource, &r) },
			func() error { return call(unix.SYS_SETRLIMIT, uintptr(resource), uintptr(unsafe.Pointer(&r))) },
			func() error { return unix.Prlimit(os.Getpid(), resource, &r, nil) },
		} {
			if err = try(); err == nil {
				return fmt.Sprint("limit ", resource, " is ", r.Max), nil
			}
		}
	}
	return "", err
}

func oomScore(*target) (string, error) {
	return "oom_score_adj -500", writeExisting("/proc/self/oom_score_adj", "-500")
}
