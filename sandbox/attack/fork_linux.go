package main

import (
	"os/signal"
	"sync/atomic"
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

// shared is memory that forked processes have in common.
type shared struct {
	count  atomic.Int32 // processes that did their part
	failed atomic.Int32 // the last error of one
	stop   atomic.Int32 // all go when it is not 0
}

func newShared() (*shared, error) {
	m, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
	if err != nil {
		return nil, err
	}
	return (*shared)(unsafe.Pointer(&m[0])), nil
}

const (
	futexWait = 0
	futexWake = 1
)

// rest waits for stop, at most that long, and leaves.
func (s *shared) rest(limit *unix.Timespec) {
	syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&s.stop)), futexWait, 0, uintptr(unsafe.Pointer(limit)), 0, 0)
	leave(0)
}

// end lets all that rest leave.
func (s *shared) end() {
	s.stop.Store(1)
	syscall.RawSyscall(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&s.stop)), futexWake, 1<<30)
}

// await waits until n processes did their part or one failed, then looks whether
// it stays so for a while: limits that are only looked at from time to time may
// take that long.
func (s *shared) await(n int32, patience, hold time.Duration) bool {
	for end := time.Now().Add(patience); s.count.Load() < n && s.failed.Load() == 0 && time.Now().Before(end); {
		time.Sleep(2 * time.Millisecond)
	}
	if s.count.Load() < n {
		return false
	}
	time.Sleep(hold)
	return true
}

// err is what a process failed with.
func (s *shared) err() error {
	if e := s.failed.Load(); e != 0 {
		return syscall.Errno(e)
	}
	return errNothing
}

// reap waits for children until there are none, at most that long.
func reap(limit time.Duration) {
	for end := time.Now().Add(limit); time.Now().Before(end); {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if err == unix.ECHILD {
			return
		}
		if pid <= 0 {
			time.Sleep(2 * time.Millisecond)
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
