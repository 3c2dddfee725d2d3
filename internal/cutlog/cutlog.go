// Package cutlog bounds the logs of bots and builds. Of a long log it keeps the beginning and the end, because a
// program that fails says why at the end.
package cutlog

import (
	"bytes"
	"fmt"
	"slices"
)

// MaxNote is the maximal length, in bytes, of the note in a shortened log on how much was left out.
const MaxNote = 64

// Buffer is a log of at most Limit bytes. If more is written to it, it drops bytes from the middle and keeps the
// beginning and the end.
type Buffer struct {
	Limit        int
	head, tail   []byte
	droppedBytes int // number of bytes between head and tail
}

// Write appends to the log. It never fails.
func (l *Buffer) Write(p []byte) (int, error) {
	room := max(0, min(l.Limit/2-len(l.head), len(p)))
	l.head = append(l.head, p[:room]...)
	l.tail = append(l.tail, p[room:]...)
	// The tail may grow to twice its size, so that it is not moved at every write.
	if size := l.Limit - l.Limit/2; len(l.tail) > 2*size {
		l.dropTo(size)
	}
	return len(p), nil
}

func (l *Buffer) dropTo(size int) {
	if over := len(l.tail) - size; over > 0 {
		l.droppedBytes += over
		l.tail = append(l.tail[:0], l.tail[over:]...)
	}
}

// EndsLine reports whether the log is empty or its last byte is a line feed.
func (l *Buffer) EndsLine() bool {
	end := l.tail
	if len(end) == 0 {
		end = l.head
	}
	return len(end) == 0 || end[len(end)-1] == '\n'
}

// Bytes returns the log, which the caller must not change. If bytes were dropped, a line in their place says how
// many. The lines before and after that line are complete, unless they are longer than half of the limit. The result
// has at most Limit+MaxNote bytes. It is nil if the log is empty.
func (l *Buffer) Bytes() []byte {
	l.dropTo(l.Limit - l.Limit/2)
	if l.droppedBytes == 0 {
		return append(slices.Clip(l.head), l.tail...)
	}
	return join(l.head, l.tail, l.droppedBytes)
}

// Take returns the same as Bytes and empties the log.
func (l *Buffer) Take() []byte {
	log := l.Bytes()
	l.head, l.tail, l.droppedBytes = nil, nil, 0
	return log
}

// Cut shortens log to about limit bytes. It drops bytes from the middle and inserts a line of at most MaxNote bytes
// that says how many. A log of at most limit+MaxNote bytes is returned unchanged.
func Cut(log []byte, limit int) []byte {
	if len(log) <= limit+MaxNote {
		return log
	}
	return join(log[:limit/2], log[len(log)-(limit-limit/2):], len(log)-limit)
}

// join returns head and tail with a line between them that says how many bytes were left out. These are the dropped
// bytes and the incomplete lines at the end of head and at the beginning of tail, which join also leaves out.
func join(head, tail []byte, dropped int) []byte {
	total := dropped + len(head) + len(tail)
	if i := bytes.LastIndexByte(head, '\n'); i >= 0 {
		head = head[:i+1]
	}
	if i := bytes.IndexByte(tail, '\n'); i >= 0 && i < len(tail)-1 {
		tail = tail[i+1:]
	}
	note := fmt.Sprintf("\n[%d bytes are left out here]\n", total-len(head)-len(tail))
	return slices.Concat(head, []byte(note), tail)
}
