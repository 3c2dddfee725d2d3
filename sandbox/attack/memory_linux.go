package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hoard is how much memory an attack has to get. It has to be held for a while, since
// without a control group memory is only looked at from time to time.
const (
	hoard = 256 << 20
	hold  = 400 * time.Millisecond
)

var memory = []attack{
	{Name: "mem-anon", Help: "256 MB in one process", Run: hoardOf(unix.MAP_PRIVATE), Ends: endMemory},
	{Name: "mem-many", Help: "256 MB in eight processes", Run: memMany, Ends: endMemory | endProcesses},
	{Name: "mem-shared", Help: "256 MB of anonymous shared memory", Run: hoardOf(unix.MAP_SHARED), Ends: endMemory},
	{Name: "mem-hidden", Help: "256 MB of anonymous shared memory that no resident set shows", Run: memHidden, Ends: endMemory},
	{Name: "mem-zero", Help: "256 MB of /dev/zero, mapped to be shared, that no resident set shows", Run: memZero, Ends: endMemory},
	{Name: "mem-tables", Help: "160 MB of page tables, for memory that is only looked at", Run: memTables, Ends: endMemory},
	{Name: "mem-memfd", Help: "256 MB in memfd_create files that are never mapped", Run: memFD, Ends: endMemory | endForbidden | endSignal},
	{Name: "mem-sysv", Help: "256 MB of System V shared memory", Run: memSysV, Ends: endMemory | endForbidden},
	{Name: "mem-file", Help: "256 MB of mapped files in the directory for temporary files", Run: memFile, Ends: endMemory | endSignal},
	{Name: "mem-sockets", Help: "140 MB of kernel memory in unread sockets of 32 processes", Run: memSockets, Ends: endMemory | endProcesses},
	{Name: "mem-pipes", Help: "160 MB of kernel memory in unread pipes of 16 processes", Run: memPipes, Ends: endMemory | endProcesses,
		Idle: rootOnly("the pipes of an ordinary user hold 64 MB at most")},
	{Name: "mem-lock", Help: "256 MB locked in memory", Run: memLock, Ends: endMemory, Idle: rootOnly("an ordinary user may lock 8 MB")},
	{Name: "mem-huge", Help: "64 MB of huge pages, which no cgroup of memory counts", Run: memHuge, Ends: endMemory,
		Idle: never("no huge pages are set aside here", hasHuge)},
	{Name: "fill-tmp", Help: "32 MB in the directory for temporary files, of 8 MB that it may", Run: func(t *target) (string, error) { return fill(t, scratch()) }, Ends: endMemory | endSignal | endCrash},
	{Name: "fill-shm", Help: "32 MB in /dev/shm", Run: func(t *target) (string, error) { return fill(t, "/dev/shm") }, Ends: endMemory | endSignal | endCrash},
	{Name: "inodes-tmp", Help: "2000 empty files in the directory for temporary files, of 512 that it may", Run: func(t *target) (string, error) { return litter(t, scratch()) }, Ends: endMemory},
	{Name: "inodes-shm", Help: "2000 empty files in /dev/shm", Run: func(t *target) (string, error) { return litter(t, "/dev/shm") }, Ends: endMemory},
	{Name: "stderr-file", Help: "12 MB into the file that standard error is, of 4 MB that it may", Run: bloat, Setup: setup{File: true}, Ends: endSignal | endCrash},
}

// touch writes to every page.
func touch(m []byte) {
	for i := 0; i < len(m); i += 4096 {
		m[i] = 1
	}
}

// take maps memory and touches it.
func take(n, flags int) ([]byte, error) {
	m, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, flags|unix.MAP_ANON)
	if err != nil {
		return nil, err
	}
	touch(m)
	return m, nil
}

// kept waits to see whether what was taken stays.
func kept(what string) (string, error) {
	holdOn(hold)
	return what, nil
}

// hoardOf takes anonymous memory, private or shared.
func hoardOf(flags int) func(*target) (string, error) {
	return func(*target) (string, error) {
		for n := 0; n < hoard; n += 16 << 20 {
			if _, err := take(16<<20, flags); err != nil {
				return "", err
			}
		}
		return kept("256 MB")
	}
}

func memMany(*target) (string, error) {
	const n = 8
	m, err := unix.Mmap(-1, 0, hoard/n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return "", err
	}
	return forkAll(n, func() syscall.Errno {
		touch(m)
		return 0
	}, "256 MB in 8 processes")
}

// memHidden gives touched pages of shared memory back: they leave the resident
// set of the process but not the memory.
func memHidden(*target) (string, error) {
	for n := 0; n < hoard; n += 16 << 20 {
		m, err := take(16<<20, unix.MAP_SHARED)
		if err != nil {
			return "", err
		}
		if err := unix.Madvise(m, unix.MADV_DONTNEED); err != nil {
			return "", err
		}
	}
	return kept("256 MB")
}

func memZero(*target) (string, error) {
	fd, err := unix.Open("/dev/zero", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	for n := 0; n < hoard; n += 16 << 20 {
		m, err := unix.Mmap(fd, 0, 16<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return "", err
		}
		touch(m)
		if err := unix.Madvise(m, unix.MADV_DONTNEED); err != nil {
			return "", err
		}
	}
	return kept("256 MB")
}

// memTables reads a byte of every 2 MB, which is all that one page of tables can
// map: the page of zeros that is there is nobody's memory.
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
	return kept(fmt.Sprint("160 MB of tables, ", sum))
}

func memFD(*target) (string, error) {
	chunk := make([]byte, 256<<10)
	for n := 0; n < hoard; n += 2 << 20 {
		fd, err := unix.MemfdCreate("x", 0)
		if err != nil {
			return "", err
		}
		for range 8 {
			if _, err := unix.Write(fd, chunk); err != nil {
				return "", err
			}
		}
		// Few descriptors, many files: a mapping keeps a file as well.
		if _, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ, unix.MAP_SHARED); err != nil {
			return "", err
		}
		unix.Close(fd)
	}
	return kept("256 MB")
}

func memSysV(*target) (string, error) {
	id, err := unix.SysvShmGet(0, hoard, unix.IPC_CREAT|0o600)
	if err != nil {
		return "", err
	}
	m, err := unix.SysvShmAttach(id, 0, 0)
	unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	if err != nil {
		return "", err
	}
	touch(m)
	return kept("256 MB")
}

func memFile(t *target) (string, error) {
	dir, err := os.MkdirTemp(scratch(), t.prefix())
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	const piece = 2 << 20
	for i := range hoard / piece {
		f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			return "", err
		}
		err = syscall.Fallocate(int(f.Fd()), 0, 0, piece)
		if err == nil {
			var m []byte
			if m, err = unix.Mmap(int(f.Fd()), 0, piece, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
				touch(m)
			}
		}
		f.Close()
		if err != nil {
			return "", err
		}
	}
	return kept("256 MB")
}

var stuffing [64 << 10]byte

// stuff writes to a descriptor until it takes no more.
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

func memLock(*target) (string, error) {
	m, err := unix.Mmap(-1, 0, hoard, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return "", err
	}
	if err := unix.Mlock(m); err != nil {
		return "", err
	}
	return kept("256 MB locked")
}

func memHuge(*target) (string, error) {
	if _, err := take(64<<20, unix.MAP_PRIVATE|unix.MAP_HUGETLB); err != nil {
		return "", err
	}
	return kept("64 MB of huge pages")
}

func hasHuge() bool {
	data, err := os.ReadFile("/proc/sys/vm/nr_hugepages")
	n := 0
	if err == nil {
		fmt.Sscan(string(data), &n)
	}
	return n >= 32
}

// fill writes 32 files of 1 MB.
func fill(t *target, parent string) (string, error) {
	dir, err := os.MkdirTemp(parent, t.prefix())
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	chunk := make([]byte, 1<<20)
	for i := range 32 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), chunk, 0o600); err != nil {
			return "", err
		}
	}
	return "32 MB in " + parent, nil
}

// litter makes 2000 empty files.
func litter(t *target, parent string) (string, error) {
	dir, err := os.MkdirTemp(parent, t.prefix())
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	for i := range 2000 {
		fd, err := unix.Open(filepath.Join(dir, fmt.Sprint(i)), unix.O_CREAT|unix.O_WRONLY|unix.O_EXCL, 0o600)
		if err != nil {
			return "", err
		}
		unix.Close(fd)
	}
	return "2000 files in " + parent, nil
}

func bloat(*target) (string, error) {
	chunk := make([]byte, 1<<20)
	for range 12 {
		if _, err := unix.Write(2, chunk); err != nil {
			return "", err
		}
	}
	return "12 MB in a log", nil
}
