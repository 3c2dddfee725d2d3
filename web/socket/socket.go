// Package socket implements the WebSockets of the server and of its clients. A Conn is one WebSocket whose
// incoming frames are limited in size and rate. A Queue sends messages that are encoded once for many
// receivers, and disconnects a receiver that is too slow. A LineStream exchanges the lines of the bot
// protocol over connections that may break and be replaced.
package socket

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"github.com/timba-arena/timba/ladder"
)

// Limits bound a WebSocket. The zero value means DefaultLimits.
type Limits struct {
	Frame   int64         // largest frame, in bytes
	Frames  float64       // frames that may arrive in a second, on average
	Burst   int           // frames that may arrive at once
	Silence time.Duration // the connection is closed if nothing arrives for this long, not even an answer to a ping
	Send    time.Duration // longest time to send one frame
}

// DefaultLimits are enough for a LineStream whose lines are within the limits of the protocol.
var DefaultLimits = Limits{Frame: 128 << 10, Frames: 50, Burst: 200, Silence: 30 * time.Second, Send: 10 * time.Second}

// Close codes of a connection. A client must not connect again after CloseEnded, CloseReplaced or CloseRefused.
const (
	CloseEnded    = websocket.CloseNormalClosure
	CloseBroken   = websocket.ClosePolicyViolation
	CloseSlow     = 4000 // the other end reads too slowly
	CloseReplaced = 4001 // another connection has taken over
	CloseRefused  = 4002 // the person or the bot may no longer be connected
)

// Conn is a WebSocket whose frames are JSON documents, with Limits for incoming frames. At most one goroutine
// may read from it; any number may write. It implements Wire.
type Conn struct {
	Limits
	ws       *websocket.Conn
	mu       sync.Mutex // guards writes
	frames   *rate.Limiter
	shutOnce sync.Once
	closed   chan struct{}
}

// NewConn returns a Conn over ws, on a server or a client. It sends pings in the background until the
// connection closes.
func NewConn(ws *websocket.Conn, l Limits) *Conn {
	l = cmp.Or(l, DefaultLimits)
	c := &Conn{Limits: l, ws: ws, frames: l.limiter(), closed: make(chan struct{})}
	ws.SetReadLimit(l.Frame)
	ws.SetReadDeadline(time.Now().Add(l.Silence))
	alive := func(string) error { return ws.SetReadDeadline(time.Now().Add(l.Silence)) }
	ws.SetPongHandler(alive)
	ws.SetPingHandler(func(data string) error {
		if !c.frames.Allow() {
			return ErrTooFast
		}
		alive("")
		return ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(l.Send))
	})
	time.AfterFunc(l.Silence/3, c.ping)
	return c
}

func (l Limits) limiter() *rate.Limiter { return rate.NewLimiter(rate.Limit(l.Frames), l.Burst) }

// bufferSize is the size in bytes of the read buffer and of the write buffer of a connection. It is small because
// large frames are rare.
const bufferSize = 512

var buffers sync.Pool

// Upgrade turns a request into a WebSocket. The response has the cookies that are set in the header of w. If the
// request is not valid or comes from a page of another origin, Upgrade returns an error; then nothing has been sent,
// and the caller must answer. Requests without an origin, which programs send, are accepted. If the client has
// disconnected meanwhile, Upgrade panics with http.ErrAbortHandler.
func Upgrade(w http.ResponseWriter, r *http.Request, l Limits) (*Conn, error) {
	l = cmp.Or(l, DefaultLimits)
	var refused error
	up := websocket.Upgrader{
		ReadBufferSize: bufferSize, WriteBufferSize: bufferSize, WriteBufferPool: &buffers,
		Error: func(_ http.ResponseWriter, _ *http.Request, status int, reason error) {
			if status == http.StatusForbidden {
				refused = OriginError(r)
				return
			}
			refused = ladder.Errorf(ladder.Invalid, "connect a WebSocket from a page of this site", "%s", strings.TrimPrefix(reason.Error(), "websocket: "))
		},
	}
	ws, err := up.Upgrade(shortLimit{w, l.limiter()}, r, http.Header{"Set-Cookie": w.Header()["Set-Cookie"]})
	switch {
	case refused != nil:
		return nil, refused
	case err != nil:
		panic(http.ErrAbortHandler)
	}
	return NewConn(ws, l), nil
}

// OriginError returns the error for a request whose headers Origin and Host name different sites. The caller has
// compared them.
func OriginError(r *http.Request) *ladder.Error {
	return ladder.Errorf(ladder.Forbidden, "if both are this site, its proxy must pass the header Host, or site.url in timba.toml must name the site",
		"the request comes from a page of another site, %q, and is for %q", ladder.Clip(r.Header.Get("Origin")), ladder.Clip(r.Host))
}

// ping sends a ping, which the other end answers, and schedules the next ping.
func (c *Conn) ping() {
	if c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(c.Limits.Send)) != nil {
		c.Shut(CloseSlow, "slow")
		return
	}
	time.AfterFunc(c.Silence/3, c.ping)
}

// ErrTooFast is the error of a connection whose frames arrive faster than its Limits allow.
var ErrTooFast = errors.New("socket: frames come too fast")

// Read waits for the next frame and decodes its JSON into v. It returns ErrTooFast if frames arrive faster
// than the limits allow. After an error the connection cannot be read any more.
func (c *Conn) Read(v any) error {
	kind, data, err := c.ws.ReadMessage()
	if err != nil {
		return err
	}
	if kind != websocket.TextMessage {
		return errors.New("socket: the frame is not text")
	}
	if !c.frames.Allow() {
		return ErrTooFast
	}
	c.ws.SetReadDeadline(time.Now().Add(c.Silence))
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("socket: the frame cannot be read: %w", err)
	}
	return nil
}

// Write sends v as one JSON frame.
func (c *Conn) Write(v any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ws.SetWriteDeadline(time.Now().Add(c.Limits.Send))
	return c.ws.WriteJSON(v)
}

// Done returns a channel that is closed when Shut or Close is called at this end.
func (c *Conn) Done() <-chan struct{} { return c.closed }

// maxReason is the largest number of bytes of the reason in a close frame.
const maxReason = 120

// closeTime is the longest time that each step of closing a connection may take.
const closeTime = 5 * time.Second

// Shut closes the connection with a close code (RFC 6455, section 7.4). why is the text of the reason, which is cut
// to maxReason bytes. Only the first call has an effect.
func (c *Conn) Shut(code int, why string) {
	c.shutOnce.Do(func() {
		close(c.closed)
		if len(why) > maxReason {
			why = why[:maxReason]
		}
		c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, why), time.Now().Add(closeTime))
		go c.drain()
	})
}

// drain reads until the other end has closed the connection too, for at most closeTime, and then closes the TCP
// connection. If a TCP connection with unread data were closed, it would be reset, and the other end might not
// receive the close code.
func (c *Conn) drain() {
	defer c.ws.Close()
	raw := c.ws.NetConn()
	if s, ok := raw.(*limitedConn); ok {
		raw = s.Conn // below the count of frames
	}
	if s, ok := raw.(interface{ CloseWrite() error }); ok {
		s.CloseWrite()
		raw.SetReadDeadline(time.Now().Add(closeTime))
		io.CopyN(io.Discard, raw, c.Frame)
	}
}

// Send implements Wire.
func (c *Conn) Send(f Frame) error { return c.Write(f) }

// Receive implements Wire.
func (c *Conn) Receive() (f Frame, err error) {
	err = c.Read(&f)
	return f, err
}

// Close implements Wire.
func (c *Conn) Close(why string) {
	code := CloseBroken
	switch why {
	case "", ErrEnded.Error():
		code = CloseEnded
	case ErrReplaced.Error():
		code = CloseReplaced
	}
	c.Shut(code, why)
}
