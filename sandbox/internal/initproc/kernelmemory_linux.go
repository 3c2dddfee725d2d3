package initproc

import (
	"bytes"
	"errors"
	"io/fs"
	"os"

	"github.com/timba-arena/timba/sandbox/internal/sys"
)

// Memory that the kernel uses for a program belongs to no process, and only a cgroup
// counts it. Without one, every open file counts with the largest size that the kernel
// may use for it; the filter of system calls denies raising that.

// PerFile is how many bytes the kernel may use for one open file, by kind.
type PerFile struct{ Socket, Pipe, Poll, Other int64 }

// perMapping is how many bytes the kernel uses for one mapping of memory.
const perMapping = 256

// kernelMemory adds up what the kernel uses for processes. Files that they share count once.
type kernelMemory struct {
	perFile PerFile
	seen    map[string]bool
	bytes   int64
}

// add adds a process, by its directory in /proc. If its open files are hidden, it counts
// as if it had opened as many as allowed, all of the heaviest kind.
func (k *kernelMemory) add(dir string, most int) {
	d, err := os.Open(dir + "/fd")
	if errors.Is(err, fs.ErrPermission) {
		k.bytes += int64(most) * k.perFile.Socket
	}
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	var link [64]byte
	for _, name := range names {
		n, err := sys.Readlinkat(int(d.Fd()), name, link[:])
		if err != nil {
			continue
		}
		k.file(string(link[:n]))
	}
}

func (k *kernelMemory) file(link string) {
	bytes := k.perFile.Other
	switch {
	case link == "anon_inode:[eventpoll]": // all have the same name
		k.bytes += k.perFile.Poll
		return
	case hasPrefix(link, "socket:["):
		bytes = k.perFile.Socket
	case hasPrefix(link, "pipe:["):
		bytes = k.perFile.Pipe
	default:
		k.bytes += bytes
		return
	}
	if !k.seen[link] {
		k.seen[link] = true
		k.bytes += bytes
	}
}

// mappingsOf counts a process's mappings of memory; 0 if it has ended.
func mappingsOf(dir string) (n int64) {
	f, err := os.Open(dir + "/maps")
	if err != nil {
		return 0
	}
	defer f.Close()
	var buf [1 << 14]byte
	for {
		m, err := f.Read(buf[:])
		n += int64(bytes.Count(buf[:m], []byte("\n")))
		if err != nil || m == 0 {
			return n
		}
	}
}
