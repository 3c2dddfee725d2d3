package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// call makes a system call.
func call(nr uintptr, a ...uintptr) error {
	_, err := callFor(nr, a...)
	return err
}

// callFor makes a system call for its result.
func callFor(nr uintptr, a ...uintptr) (int, error) {
	var p [6]uintptr
	copy(p[:], a)
	r, _, e := unix.Syscall6(nr, p[0], p[1], p[2], p[3], p[4], p[5])
	if e != 0 {
		return -1, e
	}
	return int(r), nil
}

// obeyed is for calls that look at the caller's rights first and at what they are
// asked second: asked for nonsense, they answer with one of the errors of
// nonsense only if they would have obeyed sense.
func obeyed(err error, nonsense ...error) error {
	for _, n := range nonsense {
		if err == n {
			return nil
		}
	}
	return err
}

// writeExisting writes to a file that is there.
func writeExisting(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(text)
	return err
}

// mayOpen opens a file and closes it. The file of a running program cannot be
// written to by anybody, which the kernel says before it says that a mount is
// read-only; there a file beside it tells.
func mayOpen(path string, flags int) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err == unix.ETXTBSY {
		real, err := os.Readlink(path)
		if err != nil {
			return err
		}
		return mayOpen(filepath.Join(filepath.Dir(real), "setuid"), flags)
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	return unix.Close(fd)
}

// firstOf runs tries until one works, and gives the error of the last one else.
func firstOf(paths []string, try func(string) error) (string, error) {
	var last error
	for _, p := range paths {
		err := try(p)
		if err == nil {
			return p, nil
		}
		if last == nil || errors.Is(last, fs.ErrNotExist) {
			last = err
		}
	}
	return "", last
}

// scratch returns the directory for temporary files.
func scratch() string {
	if dir := os.TempDir(); mayOpen(dir, unix.O_RDONLY) == nil {
		return dir
	}
	return "/tmp"
}

// readSome reads at most 64 kB of a file.
func readSome(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 64<<10))
}
