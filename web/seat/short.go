package seat

import (
	"bufio"
	"encoding/binary"
	"net"
	"net/http"

	"golang.org/x/time/rate"
)

// LimitShort returns a writer for a request that becomes a WebSocket, whose connection then fails
// with ErrTooFast when short frames come faster than a limiter allows. A WebSocket tells of whole messages only:
// fragments without content, and pongs, cost their sender nothing and would count for nothing.
// Longer frames are bounded by the size of a message.
func LimitShort(w http.ResponseWriter, frames *rate.Limiter) http.ResponseWriter {
	return shortLimit{w, frames}
}

type shortLimit struct {
	http.ResponseWriter
	frames *rate.Limiter
}

// Unwrap is for http.ResponseController.
func (w shortLimit) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack implements http.Hijacker.
func (w shortLimit) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	return &counted{Conn: conn, frames: w.frames}, rw, nil
}

// counted is a connection that counts short frames by their headers.
type counted struct {
	net.Conn
	frames  *rate.Limiter
	header  []byte // of the next frame, as far as it has come
	content uint64 // bytes of this frame that have not come
}

// Read implements net.Conn.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		if c.content > 0 {
			passed := min(c.content, uint64(len(rest)))
			c.content -= passed
			rest = rest[passed:]
			continue
		}
		c.header = append(c.header, rest[0])
		rest = rest[1:]
		size, short, whole := frameSize(c.header)
		if !whole {
			continue
		}
		c.header, c.content = c.header[:0], size
		if short && !c.frames.Allow() {
			return 0, ErrTooFast
		}
	}
	return n, err
}

// frameSize returns how many bytes of content follow the header of a frame, RFC 6455, section 5.2,
// and whether its size is in the short form, at most 125; whole is false for a part of a header.
func frameSize(header []byte) (size uint64, short, whole bool) {
	if len(header) < 2 {
		return 0, false, false
	}
	form, length := header[1]&0x7f, 0
	switch form {
	case 126:
		length = 2
	case 127:
		length = 8
	}
	mask := 0
	if header[1]&0x80 != 0 {
		mask = 4
	}
	if len(header) < 2+length+mask {
		return 0, false, false
	}
	switch length {
	case 2:
		return uint64(binary.BigEndian.Uint16(header[2:])), false, true
	case 8:
		return binary.BigEndian.Uint64(header[2:]), false, true
	}
	return uint64(form), true, true
}
