package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// hoardSize is how many bytes of memory an attack must get to succeed.
	hoardSize = 256 << 20
	// holdTime is how long an attack must hold what it got. It is needed because limits are only checked at intervals
	// if there is no cgroup.
	holdTime = 400 * time.Millisecond
	// pieceSize is how many bytes of memory an attack takes at a time.
	pieceSize = 16 << 20
)

var memory = []attack{
	{name: "mem-anon", help: "256 MB in one process", run: memAnon, ends: endMemory},
	{name: "mem-many", help: "256 MB in eight processes", run: memMany, ends: endMemory | endProcesses},
	{name: "mem-hidden", help: "256 MB of anonymous shared memory that no resident set shows", run: memHidden, ends: endMemory},
	{name: "mem-zero", help: "256 MB of /dev/zero, mapped to be shared, that no resident set shows", run: memZero, ends: endMemory},
	{name: "mem-tables", help: "160 MB of page tables", run: memTables, ends: endMemory},
	{name: "mem-memfd", help: "256 MB in memfd_create files that are never mapped", run: memFD, ends: endMemory | endSignal},
	{name: "mem-sockets", help: "140 MB of kernel memory in unread sockets of 32 processes", run: memSockets, ends: endMemory | endProcesses},
	{name: "mem-pipes", help: "160 MB of kernel memory in unread pipes of 16 processes", run: memPipes, ends: endMemory | endProcesses,
		obstacle: rootOnly("the pipes of an ordinary user hold 64 MB at most")},
	{name: "mem-huge", help: "64 MB of huge pages, which no cgroup of memory counts", run: memHuge, ends: endMemory, obstacle: hasHuge},
	{name: "fill-tmp", help: "32 MB in the directory for temporary files", run: fillTmp, ends: endMemory | endSignal | endCrash},
	{name: "fill-shm", help: "32 MB in /dev/shm", run: fillShm, ends: endMemory | endSignal | endCrash},
	{name: "inodes", help: "2000 empty files in the directory for temporary files", run: litter, ends: endMemory},
	{name: "output", help: "12 MB into the file that standard error is", run: bloat, ends: endSignal | endCrash},
}

// touch writes to every page of m, so that the kernel provides memory for it.
func touch(m []byte) {
	for i := 0; i < len(m); i += 4096 {
		m[i] = 1
	}
}

// mapShared maps pieceSize bytes as shared memory and writes to every page. The memory belongs to the file fd, or is
// anonymous if fd is -1. Then mapShared removes the pages from the resident set of this process; they still use
// memory.
func mapShared(fd, flags int) error {
	m, err := unix.Mmap(fd, 0, pieceSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|flags)
	if err != nil {
		return err
	}
	touch(m)
	return unix.Madvise(m, unix.MADV_DONTNEED)
}

// hoardBy calls take until it has got hoardSize bytes of memory; each call allocates pieceSize bytes. Then it waits
// for holdTime without freeing them. It returns the first error of take.
func hoardBy(take func() error) (string, error) {
	for range hoardSize / pieceSize {
		if err := take(); err != nil {
			return "", err
		}
	}
	holdOn(holdTime)
	return "256 MB", nil
}

// takePrivate maps size bytes of private anonymous memory, with additional flags of mmap, and writes to every page.
func takePrivate(size, flags int) error {
	m, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|flags)
	if err == nil {
		touch(m)
	}
	return err
}

func memAnon(*target) (string, error) {
	return hoardBy(func() error { return takePrivate(pieceSize, 0) })
}

func memMany(*target) (string, error) {
	const n = 8
	m, err := unix.Mmap(-1, 0, hoardSize/n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return "", err
	}
	return forkAll(n, func() syscall.Errno {
		touch(m)
		return 0
	}, "256 MB in 8 processes")
}

func memHidden(*target) (string, error) {
	return hoardBy(func() error { return mapShared(-1, unix.MAP_ANON) })
}

func memZero(*target) (string, error) {
	fd, err := unix.Open("/dev/zero", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	return hoardBy(func() error { return mapShared(fd, 0) })
}

// memTables reads one byte of every 2 MB, so that each needs a page table of its own. All bytes are in the same
// page of zeros, which counts for no process.
func memTables(*target) (string, error) {
	const reach = 2 << 20
	m, err := unix.Mmap(-1, 0, 40<<10*reach, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return "", err
	}
	if err := unix.Madvise(m, unix.MADV_NOHUGEPAGE); err != nil {
		return "", err
	}
	sum := byte(0)
	for i := 0; i < len(m); i += reach {
		sum += m[i]
	}
	holdOn(holdTime)
	return fmt.Sprint("160 MB of tables, ", sum), nil
}

func memFD(*target) (string, error) {
	chunk := make([]byte, 2<<20)
	return hoardBy(func() error {
		for range pieceSize / len(chunk) {
			fd, err := unix.MemfdCreate("x", 0)
			if err != nil {
				return err
			}
			if n, err := unix.Write(fd, chunk); err != nil || n < len(chunk) {
				return cmp.Or(err, error(unix.ENOSPC))
			}
			// A mapping keeps the file after its descriptor is closed.
			if _, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ, unix.MAP_SHARED); err != nil {
				return err
			}
			unix.Close(fd)
		}
		return nil
	})
}

var stuffing [64 << 10]byte

// stuff writes to a pipe or socket until its buffer is full, and returns the number of bytes.
func stuff(fd int32) (bytes int) {
	for {
		n, _, e := syscall.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&stuffing)), uintptr(len(stuffing)))
		if e != 0 || n == 0 {
			return bytes
		}
		bytes += int(n)
	}
}

func memSockets(*target) (string, error) {
	var fds [2]int32
	return forkAll(32, func() syscall.Errno {
		for range 22 {
			_, _, e := syscall.RawSyscall6(unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0, uintptr(unsafe.Pointer(&fds)), 0, 0)
			if e != 0 {
				return e
			}
			if stuff(fds[0]) < 128<<10 {
				return unix.ENOBUFS
			}
		}
		return 0
	}, "140 MB in sockets")
}

func memPipes(*target) (string, error) {
	var fds [2]int32
	return forkAll(16, func() syscall.Errno {
		for range 10 {
			_, _, e := syscall.RawSyscall(unix.SYS_PIPE2, uintptr(unsafe.Pointer(&fds)), unix.O_NONBLOCK, 0)
			if e != 0 {
				return e
			}
			if _, _, e = syscall.RawSyscall(unix.SYS_FCNTL, uintptr(fds[1]), unix.F_SETPIPE_SZ, 1<<20); e != 0 {
				return e
			}
			if stuff(fds[1]) < 1<<20 {
				return unix.ENOBUFS
			}
		}
		return 0
	}, "160 MB in pipes")
}

func memHuge(*target) (string, error) {
	err := takePrivate(64<<20, unix.MAP_HUGETLB)
	holdOn(holdTime)
	return "64 MB of huge pages", err
}

func hasHuge() string {
	data, _ := os.ReadFile("/proc/sys/vm/nr_hugepages") // if the file is missing, there are no huge pages
	if n, _ := strconv.Atoi(strings.TrimSpace(string(data))); n < 32 {
		return "no huge pages are set aside here"
	}
	return ""
}

// makeFiles makes n files of size bytes each in a new directory below parent. It removes the files again before it
// returns.
func makeFiles(t *target, parent string, n, size int) (string, error) {
	dir, err := os.MkdirTemp(parent, t.prefix())
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	data := make([]byte, size)
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), data, 0o600); err != nil {
			return "", err
		}
	}
	return fmt.Sprint(n, " files in ", parent), nil
}

func fillTmp(t *target) (string, error) { return makeFiles(t, os.TempDir(), 32, 1<<20) }

func fillShm(t *target) (string, error) { return makeFiles(t, "/dev/shm", 32, 1<<20) }

func litter(t *target) (string, error) { return makeFiles(t, os.TempDir(), 2000, 0) }

func bloat(*target) (string, error) {
	chunk := make([]byte, 1<<20)
	for range 3 * outputSize / len(chunk) {
		if _, err := unix.Write(2, chunk); err != nil {
			return "", err
		}
	}
	return "12 MB in a log", nil
}
