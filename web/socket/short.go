package socket

import (
	"bufio"
	"encoding/binary"
	"net"
	"net/http"

	"golang.org/x/time/rate"
)

// shortLimit wraps the http.ResponseWriter of a request that becomes a WebSocket, to limit the rate of short frames.
// If frames of at most maxShort bytes arrive faster than the limiter frames allows, reading from the connection fails
// with ErrTooFast. A limit on messages would not suffice: the WebSocket library reports only whole messages, and so
// hides empty fragments and pongs.
type shortLimit struct {
	http.ResponseWriter
	frames *rate.Limiter
}

// Unwrap is used by http.ResponseController.
func (w shortLimit) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack implements http.Hijacker.
func (w shortLimit) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	return &limitedConn{Conn: conn, frames: w.frames}, rw, nil
}

// maxShort is the largest payload of a short frame, in bytes.
const maxShort = 125

// limitedConn is a connection that counts short frames by their headers.
type limitedConn struct {
	net.Conn
	frames      *rate.Limiter
	header      []byte // the bytes of the next frame's header that have arrived
	contentLeft uint64 // payload bytes of the current frame that have not arrived
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

// frameSize returns the length of a frame's payload, which it reads from the frame's header (RFC 6455, section 5.2).
// If header is incomplete, whole is false.
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
