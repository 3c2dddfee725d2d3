package main

import (
	"os/signal"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fork makes a copy of this process with one thread. The copy must do nothing
// but raw system calls and arithmetic: no allocation, no channel, no print.
//
//go:norace
func fork() (pid int, errno syscall.Errno) {
	r, _, e := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	return int(r), e
}

// leave ends a forked process.
func leave(code int) {
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, uintptr(code), 0, 0)
	}
}

// nap sleeps in a forked process.
func nap(d *unix.Timespec) { syscall.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(d)), 0, 0) }

// team is what forked processes have in common: pipes, since a sandbox may well
// refuse memory that is shared.
type team struct {
	parts  [2]int // a byte from each that did its part: 0 or an error number
	stop   [2]int // ends when all shall leave
	tokens [2]int // a byte for each that may be forked
	failed syscall.Errno
	did    int
}

func newTeam(tokens int) (*team, error) {
	t := &team{}
	for _, p := range []*[2]int{&t.parts, &t.stop, &t.tokens} {
		if err := unix.Pipe2(p[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
			return nil, err
		}
	}
	_, err := unix.Write(t.tokens[1], make([]byte, tokens))
	return t, err
}

// octet is the byte that forked processes read and write.
var octet [1]byte

// join is what a forked process does first.
func (t *team) join() { syscall.RawSyscall(unix.SYS_CLOSE, uintptr(t.stop[1]), 0, 0) }

// token takes one, if there are any.
func (t *team) token() bool {
	n, _, _ := syscall.RawSyscall(unix.SYS_READ, uintptr(t.tokens[0]), uintptr(unsafe.Pointer(&octet)), 1)
	return n == 1
}

// part tells that a forked process did its part, or its error.
func (t *team) part(errno syscall.Errno) {
	octet[0] = byte(errno)
	syscall.RawSyscall(unix.SYS_WRITE, uintptr(t.parts[1]), uintptr(unsafe.Pointer(&octet)), 1)
}

// rest waits for the stop, for a bounded time, and leaves.
func (t *team) rest(p *unix.PollFd, limit *unix.Timespec) {
	syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(p)), 1, uintptr(unsafe.Pointer(limit)), 0, 0, 0)
	leave(0)
}

// resting returns what rest needs; it has to be made before there are forks.
func (t *team) resting() (*unix.PollFd, *unix.Timespec) {
	return &unix.PollFd{Fd: int32(t.stop[0])}, &unix.Timespec{Sec: int64(bound / time.Second)}
}

// end lets all that rest leave.
func (t *team) end() { unix.Close(t.stop[1]) }

// close closes all pipes of a team that has ended.
func (t *team) close() {
	for _, fd := range []int{t.parts[0], t.parts[1], t.stop[0], t.stop[1], t.tokens[0], t.tokens[1]} {
		unix.Close(fd)
	}
}

// await waits until n processes did their part or one failed, and then for a
// while more: limits that are only looked at from time to time may take that
// long.
func (t *team) await(n int, patience, hold time.Duration) bool {
	data := make([]byte, 512)
	for t.did < n && t.failed == 0 && patience > 0 {
		got, err := unix.Read(t.parts[0], data)
		if err != nil || got <= 0 {
			patience -= doze()
			continue
		}
		for _, errno := range data[:got] {
			if errno == 0 {
				t.did++
			} else {
				t.failed = syscall.Errno(errno)
			}
		}
	}
	if t.did < n {
		return false
	}
	holdOn(hold)
	return true
}

// err returns what a process failed with.
func (t *team) err() error {
	if t.failed != 0 {
		return t.failed
	}
	return errNothing
}

// forkAll forks n processes, each of which does its part and rests. They must all
// be there in the end.
func forkAll(n int, part func() syscall.Errno, what string) (string, error) {
	t, err := newTeam(0)
	if err != nil {
		return "", err
	}
	p, limit := t.resting()
	for range n {
		pid, errno := fork()
		if errno != 0 {
			t.end()
			return "", errno
		}
		if pid == 0 {
			t.join()
			t.part(part())
			t.rest(p, limit)
		}
	}
	ok := t.await(n, enough, hold)
	ended, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
	t.end()
	reap()
	if !ok {
		return "", t.err()
	}
	if ended != 0 || err != nil {
		return "", errNothing
	}
	return what, nil
}

// enough is how long a step may take that takes milliseconds on an idle machine.
const enough = 10 * time.Second

// doze sleeps for a moment and returns how long it should have been. Who adds that up does not count
// the time in which a busy machine did nothing for this process, and nothing for others.
func doze() time.Duration {
	const moment = 2 * time.Millisecond
	time.Sleep(moment)
	return moment
}

// holdOn sleeps in many short steps. A machine that stands still, or gives this
// process no time, then does not shorten what others see of it.
func holdOn(d time.Duration) {
	const step = 10 * time.Millisecond
	for ; d > 0; d -= step {
		time.Sleep(step)
	}
}

// reap waits for children, who leave by themselves, until there are none.
func reap() {
	for {
		if _, err := unix.Wait4(-1, nil, 0, nil); err != nil && err != unix.EINTR {
			return
		}
	}
}

// deafen ignores every signal that can be.
func deafen() {
	for s := syscall.Signal(1); s < 65; s++ {
		if s != syscall.SIGKILL && s != syscall.SIGSTOP && s != syscall.SIGCHLD {
			signal.Ignore(s)
		}
	}
}
