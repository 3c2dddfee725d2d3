package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// swarm is how many processes or threads are a bite.
const swarm = 250

// greed is how much CPU time is a bite.
const greed = 900 * time.Millisecond

var processes = []attack{
	{Name: "fork-bomb", Help: "250 processes at once, each of which forks", Run: forkBomb, Ends: endProcesses | endCrash},
	{Name: "thread-bomb", Help: "250 threads at once", Run: threadBomb, Ends: endProcesses | endCrash},
	{Name: "daemon", Help: "a process in a session of its own lives on after the bot's end", Run: daemon, Setup: setup{Judge: bySurvivor}},
	{Name: "orphan-pipe", Help: "a process that keeps the bot's pipes open lives on after the bot's end", Run: orphan, Setup: setup{Judge: bySurvivor}},
	{Name: "runaway", Help: "a chain of processes, each of which forks and leaves, outruns being killed", Run: runaway, Setup: setup{Judge: byRunaway}},
	{Name: "ignore-term", Help: "spins and ignores all signals", Run: ignoreTerm, Setup: setup{Judge: byEnd}},
	{Name: "stop-self", Help: "stops itself, so that a signal to end does not reach it", Run: stopSelf, Setup: setup{Judge: byEnd}},
	{Name: "cpu-spin", Help: "uses 0.9 s of CPU time in two processes, of 0.3 s that it may", Run: cpuSpin, Setup: setup{CPU: true}, Ends: endCPU},
	{Name: "cpu-relay", Help: "uses as much in processes that live 50 ms each", Run: cpuRelay, Setup: setup{CPU: true}, Ends: endCPU},
	{Name: "nice", Help: "a better priority", Run: nice, Idle: rootOnly("a better priority needs CAP_SYS_NICE")},
	{Name: "sched-fifo", Help: "the real-time scheduler", Run: fifo, Idle: rootOnly("the real-time scheduler needs CAP_SYS_NICE")},
	{Name: "ioprio", Help: "real-time priority of input and output", Run: ioprio, Idle: rootOnly("it needs CAP_SYS_ADMIN")},
	{Name: "rlimit", Help: "raises a hard resource limit", Run: raise, Idle: needsCap(unix.CAP_SYS_RESOURCE, "it needs CAP_SYS_RESOURCE")},
	{Name: "oom-score", Help: "lets the kernel kill others first when memory runs out", Run: oomScore, Idle: needsCap(unix.CAP_SYS_RESOURCE, "a lower score needs CAP_SYS_RESOURCE")},
}

func forkBomb(*target) (string, error) {
	s, err := newShared()
	if err != nil {
		return "", err
	}
	limit := &unix.Timespec{Sec: 4}
	pid, errno := fork()
	if errno != 0 {
		return "", errno
	}
	if pid == 0 {
		multiply(s, limit)
	}
	ok := s.await(swarm, 3*time.Second, 50*time.Millisecond)
	s.end()
	reap(2 * time.Second)
	if ok && s.failed.Load() == 0 {
		return fmt.Sprint(swarm, " processes"), nil
	}
	return "", s.err()
}

// multiply forks in every process that it makes until there are enough.
func multiply(s *shared, limit *unix.Timespec) {
	for s.stop.Load() == 0 && s.count.Add(1) <= swarm {
		if _, errno := fork(); errno != 0 {
			s.failed.Store(int32(errno))
			break
		}
	}
	s.rest(limit)
}

func threadBomb(*target) (string, error) {
	s, err := newShared()
	if err != nil {
		return "", err
	}
	limit := &unix.Timespec{Sec: 4}
	for range swarm {
		go func() {
			runtime.LockOSThread()
			s.count.Add(1)
			unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&s.stop)), futexWait, 0, uintptr(unsafe.Pointer(limit)), 0, 0)
		}()
	}
	if s.await(swarm, 3*time.Second, 0) {
		var r unix.Rlimit
		unix.Getrlimit(unix.RLIMIT_NPROC, &r)
		return fmt.Sprint(swarm, " threads, of ", r.Cur), nil
	}
	return "", s.err()
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
	os.Exit(exitBite)
	panic("unreachable")
}

// runaway is a chain of processes: who kills one has to hurry for the next.
func runaway(t *target) (string, error) {
	s, err := newShared()
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
		chain(s, pause, &off[0])
	}
	if !s.await(3, 3*time.Second, 0) {
		return "", s.err()
	}
	ready()
	time.Sleep(bound)
	return "", errNothing
}

// chain forks the next link at once and goes a little later. Without a sandbox
// it can be switched off by a file.
func chain(s *shared, pause *unix.Timespec, off *byte) {
	syscall.RawSyscall(unix.SYS_SETSID, 0, 0, 0)
	at := unix.AT_FDCWD
	for range 1500 {
		if _, _, e := syscall.RawSyscall6(unix.SYS_FACCESSAT, uintptr(at), uintptr(unsafe.Pointer(off)), 0, 0, 0, 0); e == 0 {
			break
		}
		s.count.Add(1)
		pid, errno := fork()
		syscall.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(pause)), 0, 0)
		if errno == 0 && pid != 0 {
			for range 8 {
				syscall.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(pause)), 0, 0)
			}
			break
		}
	}
	leave(0)
}

func ignoreTerm(*target) (string, error) {
	deafen()
	ready()
	for end := time.Now().Add(4 * time.Second); time.Now().Before(end); {
	}
	return "", errNothing
}

func stopSelf(*target) (string, error) {
	deafen()
	ready()
	return "", unix.Kill(os.Getpid(), unix.SIGSTOP)
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

// burn uses CPU time in n processes, each that much.
func burn(n int, each time.Duration) (string, error) {
	s, err := newShared()
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
			s.count.Add(1)
			leave(0)
		}
	}
	ok := s.await(int32(n), 6*time.Second, 0)
	reap(time.Second)
	if !ok {
		return "", errNothing
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

func ioprio(*target) (string, error) {
	const whoProcess, realTime = 1, 1 << 13
	return "ioprio real-time", call(unix.SYS_IOPRIO_SET, whoProcess, 0, realTime)
}

func raise(*target) (string, error) {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return "", err
	}
	r.Max++
	return fmt.Sprint(r.Max, " open files"), unix.Setrlimit(unix.RLIMIT_NOFILE, &r)
}

func oomScore(*target) (string, error) {
	return "oom_score_adj -500", writeExisting("/proc/self/oom_score_adj", "-500")
}
