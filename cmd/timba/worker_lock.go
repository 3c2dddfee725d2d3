package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// workerLock returns the path of the file that a worker locks. It has its process ID.
func workerLock(data string) string { return filepath.Join(data, "lock") }

// lockWorker keeps a directory for one worker.
func lockWorker(data string) (unlock func(), err error) {
	if err := os.MkdirAll(data, 0o755); err != nil {
		return nil, fmt.Errorf("data: %q cannot be made: name a directory that you own with --data DIR", data)
	}
	l := flock.New(workerLock(data))
	free, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("data: %q cannot be locked: name a directory that you own with --data DIR", data)
	}
	if !free {
		return nil, fmt.Errorf("data: another worker uses %s: name another directory with --data DIR", data)
	}
	if err := os.WriteFile(workerLock(data), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("data: %q cannot be written: name a directory that you own with --data DIR", data)
	}
	return func() { l.Close() }, nil
}

// drainWorker lets the worker that uses a directory finish, and waits until it has left.
func drainWorker(ctx context.Context, data string) error {
	text, err := os.ReadFile(workerLock(data))
	if err != nil {
		return fmt.Errorf("drain: no worker uses %s: name its directory with --data DIR", data)
	}
	l := flock.New(workerLock(data))
	free, err := l.TryLock()
	if err != nil {
		return fmt.Errorf("drain: %q cannot be locked: run it as the user of the worker", data)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if free || err != nil {
		l.Close()
		return fmt.Errorf("drain: no worker uses %s: name its directory with --data DIR", data)
	}
	worker, err := os.FindProcess(pid)
	if err == nil {
		err = worker.Signal(syscall.SIGTERM)
	}
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("drain: the worker with process ID %d is another user's: run it as that user", pid)
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("drain: the worker with process ID %d cannot be told: send it SIGTERM", pid)
	}
	if _, err := l.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return err
	}
	return l.Close()
}
