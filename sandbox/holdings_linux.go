package sandbox

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Memory that the kernel holds for a program is no process's, and only a cgroup
// counts it. Without one, what the program has opened counts as much as the kernel
// may hold for it; a filter of system calls keeps it from having that raised.

// weights are the bytes that the kernel may hold for one open file of a kind.
type weights struct{ Socket, Pipe, Poll, Other int64 }

// mappingWeight is what the kernel holds for one mapping of memory.
const mappingWeight = 256

// weigh gives the weights on this machine.
func weigh(l Limit) weights {
	buffer := number("/proc/sys/net/core/wmem_default")
	if buffer == 0 {
		buffer = 212992
	}
	return weights{
		Socket: buffer + buffer/2, // the last packet may go beyond the buffer, by half of it
		Pipe:   16 * int64(os.Getpagesize()),
		Poll:   int64(l.OpenFiles) * 200, // one entry for each file
		Other:  512,
	}
}

// holdings add up what is held for processes. Files that they share count once.
type holdings struct {
	weights weights
	seen    map[string]bool
	bytes   int64
}

// add adds a process, by its folder in /proc. One that hides what it has opened
// counts as if it were all that it may open, and the heaviest.
func (h *holdings) add(folder string, most int) {
	d, err := os.Open(folder + "/fd")
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
		n, err := unix.Readlinkat(int(d.Fd()), name, link[:])
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
	case strings.HasPrefix(link, "socket:["):
		weight = h.weights.Socket
	case strings.HasPrefix(link, "pipe:["):
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

// mappingsOf counts a process's mappings of memory; 0 when it is gone.
func mappingsOf(folder string) (n int64) {
	f, err := os.Open(folder + "/maps")
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
