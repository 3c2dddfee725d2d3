package main

import (
	"os/signal"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fork makes a copy of this process with one thread. The copy may only compute and make raw system calls. It
// must not allocate, use channels or print.
//
//go:norace
func fork() (pid int, errno syscall.Errno) {
	r, _, e := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	return int(r), e
}

func exitFork(code int) {
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, uintptr(code), 0, 0)
	}
}

func nap(d *unix.Timespec) { syscall.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(d)), 0, 0) }

// team is a group of processes, made by fork, that communicate through pipes, because a sandbox may refuse shared
// memory.
type team struct {
	reports   [2]int        // pipe: each process writes a byte, 0 or an error number
	stop      [2]int        // pipe: when its write end closes, all processes exit
	tokens    [2]int        // pipe: a byte for each process that may still be forked
	failure   syscall.Errno // error of a process that has failed
	successes int           // number of processes that have reported 0
}

func newTeam(tokens int) (*team, error) {
	t := &team{}
	for _, p := range []*[2]int{&t.reports, &t.stop, &t.tokens} {
		if err := unix.Pipe2(p[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
			return nil, err
		}
	}
	_, err := unix.Write(t.tokens[1], make([]byte, tokens))
	return t, err
}

// octet is the buffer for reading and writing in forked processes, which must not allocate.
var octet [1]byte

// join closes this process's copy of the write end of the pipe t.stop, so that only the first process has it open.
// Every forked process must call join first.
func (t *team) join() { syscall.RawSyscall(unix.SYS_CLOSE, uintptr(t.stop[1]), 0, 0) }

// takeToken takes a token from the team, and reports whether one was left. Each token is the right to fork once.
func (t *team) takeToken() bool {
	n, _, _ := syscall.RawSyscall(unix.SYS_READ, uintptr(t.tokens[0]), uintptr(unsafe.Pointer(&octet)), 1)
	return n == 1
}

func (t *team) report(errno syscall.Errno) {
	octet[0] = byte(errno)
	syscall.RawSyscall(unix.SYS_WRITE, uintptr(t.reports[1]), uintptr(unsafe.Pointer(&octet)), 1)
}

// waitForStop waits until stopAll is called or the time limit is over, and then exits this process. p and limit come
// from waitArguments.
func (t *team) waitForStop(p *unix.PollFd, limit *unix.Timespec) {
	syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(p)), 1, uintptr(unsafe.Pointer(limit)), 0, 0, 0)
	exitFork(0)
}

// waitArguments returns the arguments of waitForStop. It must be called before the first fork, because it allocates.
func (t *team) waitArguments() (*unix.PollFd, *unix.Timespec) {
	return &unix.PollFd{Fd: int32(t.stop[0])}, &unix.Timespec{Sec: int64(bound / time.Second)}
}

// stopAll makes all processes that wait in waitForStop exit.
func (t *team) stopAll() { unix.Close(t.stop[1]) }

func (t *team) close() {
	for _, fd := range []int{t.reports[0], t.reports[1], t.stop[0], t.stop[1], t.tokens[0], t.tokens[1]} {
		unix.Close(fd)
	}
}

// await waits until n processes have reported success or one has failed, but not longer than patience. After n
// successes it waits for the additional time hold, because some limits are checked only at intervals. It reports
// whether n processes have succeeded.
func (t *team) await(n int, patience, hold time.Duration) bool {
	data := make([]byte, 512)
	for t.successes < n && t.failure == 0 && patience > 0 {
		got, err := unix.Read(t.reports[0], data)
		if err != nil || got <= 0 {
			patience -= doze()
			continue
		}
		for _, errno := range data[:got] {
			if errno == 0 {
				t.successes++
			} else {
				t.failure = syscall.Errno(errno)
			}
		}
	}
	if t.successes < n {
		return false
	}
	holdOn(hold)
	return true
}

func (t *team) err() error {
	if t.failure != 0 {
		return t.failure
	}
	return errNothing
}

// forkAll forks n processes, each of which calls part and then waits. If all still run after holdTime, the attack has
// succeeded, and forkAll returns what, a text that describes the success. Otherwise it returns an error.
func forkAll(n int, part func() syscall.Errno, what string) (string, error) {
	t, err := newTeam(0)
	if err != nil {
		return "", err
	}
	p, limit := t.waitArguments()
	for range n {
		pid, errno := fork()
		if errno != 0 {
			t.stopAll()
			return "", errno
		}
		if pid == 0 {
			t.join()
			t.report(part())
			t.waitForStop(p, limit)
		}
	}
	ok := t.await(n, stepTimeout, holdTime)
	ended, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
	t.stopAll()
	reap()
	if !ok {
		return "", t.err()
	}
	if ended != 0 || err != nil {
		return "", errNothing
	}
	return what, nil
}

// stepTimeout is the time limit for a step of an attack. The step takes milliseconds on an idle machine.
const stepTimeout = 10 * time.Second

// doze sleeps for two milliseconds and returns that duration. To wait for a longer time, callers add up the results
// instead of reading a clock, because a busy machine may not run this process for a while.
func doze() time.Duration {
	const moment = 2 * time.Millisecond
	time.Sleep(moment)
	return moment
}

// holdOn sleeps for the duration d in short steps, so that this process runs for that long even if the machine
// stops for a while.
func holdOn(d time.Duration) {
	const step = 10 * time.Millisecond
	for ; d > 0; d -= step {
		time.Sleep(step)
	}
}

// reap waits until all children of this process have exited.
func reap() {
	for {
		if _, err := unix.Wait4(-1, nil, 0, nil); err != nil && err != unix.EINTR {
			return
		}
	}
}

// ignoreSignals ignores every signal that can be ignored.
func ignoreSignals() {
	for s := syscall.Signal(1); s < 65; s++ {
		if s != syscall.SIGKILL && s != syscall.SIGSTOP && s != syscall.SIGCHLD {
			signal.Ignore(s)
		}
	}
}
