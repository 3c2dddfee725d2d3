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

// Weights is how many bytes the kernel may use for one open file, by kind.
type Weights struct{ Socket, Pipe, Poll, Other int64 }

// mappingWeight is how many bytes the kernel uses for one mapping of memory.
const mappingWeight = 256

// holdings adds up what the kernel uses for processes. Files that they share count once.
type holdings struct {
	weights Weights
	seen    map[string]bool
	bytes   int64
}

// add adds a process, by its directory in /proc. If its open files are hidden, it counts
// as if it had opened as many as allowed, all of the heaviest kind.
func (h *holdings) add(dir string, most int) {
	d, err := os.Open(dir + "/fd")
	if errors.Is(err, fs.ErrPermission) {
		h.bytes += int64(most) * h.weights.Socket
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
		h.file(string(link[:n]))
	}
}

func (h *holdings) file(link string) {
	weight := h.weights.Other
	switch {
	case link == "anon_inode:[eventpoll]": // all have the same name
		h.bytes += h.weights.Poll
		return
	case hasPrefix(link, "socket:["):
		weight = h.weights.Socket
	case hasPrefix(link, "pipe:["):
		weight = h.weights.Pipe
	default:
		h.bytes += weight
		return
	}
	if !h.seen[link] {
		h.seen[link] = true
		h.bytes += weight
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
