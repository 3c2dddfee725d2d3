// Package socket has the WebSockets of the server and of its clients. A Conn is one of them, with
// bounds of what comes. A Queue sends messages that are encoded once for all who watch, and ends
// who is too slow for them. A Stream carries the lines of the bot protocol over connections that
// may break.
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

// Limits bound a WebSocket. Zero values stand for the defaults.
type Limits struct {
	Frame   int64         // bytes of a frame
	Frames  float64       // a second, on average
	Burst   int           // frames at once
	Silence time.Duration // without any sign of the other end
	Send    time.Duration // for a frame to be sent
}

// DefaultLimits are enough for a stream whose lines are within the limits of the protocol.
var DefaultLimits = Limits{Frame: 128 << 10, Frames: 50, Burst: 200, Silence: 30 * time.Second, Send: 10 * time.Second}

// The codes with which a connection closes, for the other end: CloseEnded, CloseTaken and CloseRefused
// mean that it is not to come back.
const (
	CloseEnded    = websocket.CloseNormalClosure
	CloseBroken   = websocket.ClosePolicyViolation
	CloseSlow     = 4000 // it has not taken what was sent
	CloseReplaced = 4001
	CloseRefused  = 4002 // who connected may be connected no longer
)

// Conn is a WebSocket for frames of JSON, with bounds. One goroutine may read, and any may write.
// It is a Wire, too.
type Conn struct {
	Limits
	ws       *websocket.Conn
	mu       sync.Mutex // of writes
	frames   *rate.Limiter
	shutOnce sync.Once
	closed   chan struct{}
}

// NewConn returns a connection, of a server or a client, and keeps it alive.
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

// bufferSize is that of the buffers of a connection: large frames are rare.
const bufferSize = 512

// buffers are for what is written.
var buffers sync.Pool

// Upgrade makes a request a WebSocket, and sets the cookies of w. An error has not been answered; where the client is gone
// meanwhile, Upgrade panics with http.ErrAbortHandler. Requests of pages of other origins are
// refused; those of programs have no origin.
func Upgrade(w http.ResponseWriter, r *http.Request, l Limits) (*Conn, error) {
	l = cmp.Or(l, DefaultLimits)
	var refused error
	up := websocket.Upgrader{
		ReadBufferSize: bufferSize, WriteBufferSize: bufferSize, WriteBufferPool: &buffers,
		Error: func(_ http.ResponseWriter, _ *http.Request, status int, reason error) {
			code := ladder.Invalid
			if status == http.StatusForbidden {
				code = ladder.Forbidden
			}
			refused = ladder.Errorf(code, "connect a WebSocket from a page of this site", "%s", strings.TrimPrefix(reason.Error(), "websocket: "))
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

// ping shows that this end is alive, and asks the other one to.
func (c *Conn) ping() {
	if c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(c.Limits.Send)) != nil {
		c.Shut(CloseSlow, "slow")
		return
	}
	time.AfterFunc(c.Silence/3, c.ping)
}

// ErrTooFast is the error of a connection whose frames come faster than they may.
var ErrTooFast = errors.New("socket: frames come too fast")

// Read reads a frame into v.
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

// Write writes v as a frame.
func (c *Conn) Write(v any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ws.SetWriteDeadline(time.Now().Add(c.Limits.Send))
	return c.ws.WriteJSON(v)
}

// Done returns a channel that is closed when the connection is closed at this end.
func (c *Conn) Done() <-chan struct{} { return c.closed }

// maxReason is how many bytes of a reason a close frame can have.
const maxReason = 120

// endTime is how long a connection may take to end.
const endTime = 5 * time.Second

// Shut closes the connection, with a code of RFC 6455, section 7.4, and a reason.
func (c *Conn) Shut(code int, why string) {
	c.shutOnce.Do(func() {
		close(c.closed)
		if len(why) > maxReason {
			why = why[:maxReason]
		}
		c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, why), time.Now().Add(endTime))
		go c.drain()
	})
}

// drain reads what the other end has sent until it has closed, too, and closes the connection. Closed with
// something unread, it would be reset, and the other end might not see the code.
func (c *Conn) drain() {
	defer c.ws.Close()
	raw := c.ws.NetConn()
	if s, ok := raw.(*limitedConn); ok {
		raw = s.Conn // beside who reads frames
	}
	if s, ok := raw.(interface{ CloseWrite() error }); ok {
		s.CloseWrite()
		raw.SetReadDeadline(time.Now().Add(endTime))
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
