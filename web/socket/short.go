package socket

import (
	"bufio"
	"encoding/binary"
	"net"
	"net/http"

	"golang.org/x/time/rate"
)

// shortLimit is the writer for a request that becomes a WebSocket, whose connection then fails with
// ErrTooFast when short frames come faster than a limiter allows. A WebSocket tells of whole messages
// only: fragments without content, and pongs, cost their sender nothing and would count for nothing.
// Longer frames are bounded by the size of a message.
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
	return &limitedConn{Conn: conn, frames: w.frames}, rw, nil
}

// maxShort is the largest number of bytes of content of a short frame.
const maxShort = 125

// limitedConn is a connection that counts short frames by their headers.
type limitedConn struct {
	net.Conn
	frames      *rate.Limiter
	header      []byte // of the next frame, as far as it has come
	contentLeft uint64 // bytes of this frame that have not come
}

// Read implements net.Conn.
func (c *limitedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		if c.contentLeft > 0 {
			passed := min(c.contentLeft, uint64(len(rest)))
			c.contentLeft -= passed
			rest = rest[passed:]
			continue
		}
		c.header = append(c.header, rest[0])
		rest = rest[1:]
		size, whole := frameSize(c.header)
		if !whole {
			continue
		}
		c.header, c.contentLeft = c.header[:0], size
		if size <= maxShort && !c.frames.Allow() {
			return 0, ErrTooFast
		}
	}
	return n, err
}

// frameSize returns how many bytes of content follow the header of a frame, RFC 6455, section 5.2;
// whole is false for a part of a header.
func frameSize(header []byte) (size uint64, whole bool) {
	if len(header) < 2 {
		return 0, false
	}
	size = uint64(header[1] & 0x7f)
	end := 2
	switch size {
	case 126:
		end += 2
	case 127:
		end += 8
	}
	length := header[2:min(end, len(header))]
	if header[1]&0x80 != 0 {
		end += 4 // the mask
	}
	if len(header) < end {
		return 0, false
	}
	switch len(length) {
	case 2:
		size = uint64(binary.BigEndian.Uint16(length))
	case 8:
		size = binary.BigEndian.Uint64(length)
	}
	return size, true
}
