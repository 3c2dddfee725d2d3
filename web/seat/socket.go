package seat

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"
)

// SocketLimits bound a WebSocket. Zero values stand for the defaults.
type SocketLimits struct {
	Frame  int64         // bytes of a frame
	Frames float64       // a second, on average
	Burst  int           // frames at once
	Alive  time.Duration // without any sign of the other end
	Send   time.Duration // for a frame to be sent
}

// DefaultSocketLimits are enough for a seat whose lines are within the limits of the protocol.
var DefaultSocketLimits = SocketLimits{Frame: 128 << 10, Frames: 50, Burst: 200, Alive: 30 * time.Second, Send: 10 * time.Second}

// Socket is a WebSocket for frames of JSON, with bounds. One goroutine may read, and any may write.
type Socket struct {
	SocketLimits
	ws     *websocket.Conn
	mu     sync.Mutex // of writes
	frames *rate.Limiter
	once   sync.Once
	closed chan struct{}
}

// NewSocket returns the socket of a connection, of a server or a client, and keeps it alive.
func NewSocket(ws *websocket.Conn, l SocketLimits) *Socket {
	if l == (SocketLimits{}) {
		l = DefaultSocketLimits
	}
	s := &Socket{SocketLimits: l, ws: ws, frames: rate.NewLimiter(rate.Limit(l.Frames), l.Burst), closed: make(chan struct{})}
	ws.SetReadLimit(l.Frame)
	ws.SetReadDeadline(time.Now().Add(l.Alive))
	alive := func(string) error { return ws.SetReadDeadline(time.Now().Add(l.Alive)) }
	ws.SetPongHandler(alive)
	ws.SetPingHandler(func(data string) error {
		if !s.frames.Allow() {
			return ErrTooFast
		}
		alive("")
		return ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(l.Send))
	})
	go s.ping()
	return s
}

// Upgrade makes a request to a WebSocket. The error has been answered. Requests of pages of other
// origins are refused; those of programs have no origin.
func Upgrade(w http.ResponseWriter, r *http.Request, l SocketLimits) (*Socket, error) {
	if l == (SocketLimits{}) {
		l = DefaultSocketLimits
	}
	w = LimitShort(w, rate.NewLimiter(rate.Limit(l.Frames), l.Burst))
	ws, err := (&websocket.Upgrader{EnableCompression: false}).Upgrade(w, r, nil)
	if err != nil {
		return nil, err
	}
	return NewSocket(ws, l), nil
}

func (s *Socket) ping() {
	ticker := time.NewTicker(s.Alive / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if s.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(s.Send)) != nil {
				return
			}
		case <-s.closed:
			return
		}
	}
}

// ErrTooFast is the error of a connection whose frames come faster than they may.
var ErrTooFast = errors.New("seat: frames come too fast")

// Read reads a frame into v.
func (s *Socket) Read(v any) error {
	kind, data, err := s.ws.ReadMessage()
	if err != nil {
		return err
	}
	if kind != websocket.TextMessage {
		return errors.New("seat: the frame is not text")
	}
	if !s.frames.Allow() {
		return ErrTooFast
	}
	s.ws.SetReadDeadline(time.Now().Add(s.Alive))
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("seat: the frame cannot be read: %w", err)
	}
	return nil
}

// Write writes v as a frame.
func (s *Socket) Write(v any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ws.SetWriteDeadline(time.Now().Add(s.SocketLimits.Send))
	return s.ws.WriteJSON(v)
}

// maxReason is how many bytes of a reason a close frame can have.
const maxReason = 120

// Shut closes the socket, with a code of RFC 6455, section 7.4, and a reason.
func (s *Socket) Shut(code int, why string) {
	s.once.Do(func() {
		close(s.closed)
		if len(why) > maxReason {
			why = why[:maxReason]
		}
		s.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, why), time.Now().Add(time.Second))
		s.ws.Close()
	})
}

// Wire is a socket that carries one seat.
type Wire struct{ *Socket }

// The codes with which a wire closes, for the other end: CloseEnded and CloseTaken mean that it is
// not to come back.
const (
	CloseEnded  = websocket.CloseNormalClosure
	CloseTaken  = 4001
	CloseBroken = websocket.ClosePolicyViolation
)

// Send implements Conn.
func (w Wire) Send(f Frame) error { return w.Write(f) }

// Receive implements Conn.
func (w Wire) Receive() (f Frame, err error) {
	err = w.Read(&f)
	return f, err
}

// Close implements Conn.
func (w Wire) Close(why string) {
	code := CloseBroken
	switch why {
	case "", ErrEnded.Error():
		code = CloseEnded
	case ErrTaken.Error():
		code = CloseTaken
	}
	w.Shut(code, why)
}
