// Package remote plays bots that run on their owner's machine. Hub is the server's end: it takes
// their connections, and is the program of their versions for the runner. Client is the other
// end: it starts a process for each session.
//
// A bot has one WebSocket, which carries any number of sessions. A session is one process of a
// match: its lines are those of a socket.Stream at each end, so that they go on where they broke off
// when the connection comes back.
package remote

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/timba-arena/timba/web/socket"
)

// Path is the address of the WebSocket on a server.
const Path = "/ws/remote"

// The parameters of the address.
const (
	paramBot      = "bot"
	paramLabel    = "label"
	paramGames    = "games" // separated by commas
	paramNew      = "new"   // "1": a new version
	paramInstance = "instance"
)

// A client connects to Path with "Authorization: Bearer TOKEN" and at least the parameters bot and
// instance: 16 to 64 letters and digits, chosen when it starts. Errors before the upgrade are problem
// documents; a page of another origin is refused. Frames are text. On a new connection each end of a
// session first sends a seat frame with nothing but an ack, and then its lines from the number that
// the other end has told. After a break a result may come twice.

// frame is one message. It has one of its members, or a Session with one of Seat and Shut.
type frame struct {
	Hello   *hello        `json:"hello,omitempty"`   // the client's first
	Welcome *Welcome      `json:"welcome,omitempty"` // the server's first
	Open    *Opening      `json:"open,omitempty"`    // by the server: a session begins
	Result  *Result       `json:"result,omitempty"`  // by the server: a match has ended
	Leave   bool          `json:"leave,omitempty"`   // by the client: no more matches
	Left    bool          `json:"left,omitempty"`    // by the server, after Leave: no match of the bot is left
	Session int64         `json:"session,omitempty"`
	Seat    *socket.Frame `json:"seat,omitempty"`
	Shut    bool          `json:"shut,omitempty"` // that end of the session carries no more frames
}

// hello is what a client tells of itself.
type hello struct {
	Sessions []int64 `json:"sessions"`          // that it still has processes for
	Matches  []int64 `json:"matches,omitempty"` // that it has begun, and awaits the results of
}

// Welcome is what the server tells a bot that has connected.
type Welcome struct {
	Bot       string  `json:"bot"`
	Version   int     `json:"version"`
	Allowance int64   `json:"allowance"` // milliseconds
	Comeback  int64   `json:"comeback"`  // seconds
	Frames    float64 `json:"frames"`    // a second, that the client may send
	Sessions  []int64 `json:"sessions"`  // that go on
}

// Opening is a session that begins: the client is to start a process for it.
type Opening struct {
	Session int64    `json:"session"`
	Match   int64    `json:"match"`
	Ladder  string   `json:"ladder,omitempty"` // none: an unrated match
	Game    string   `json:"game"`
	Bots    []string `json:"bots"` // of the match, by slot
}

// Result is how a match has ended.
type Result struct {
	Match  int64   `json:"match"`
	Ladder string  `json:"ladder,omitempty"`
	Text   string  `json:"text,omitempty"` // why it has no result; "" where it has one
	Score  float64 `json:"score"`          // of a rated match, from 0 to 1
	Before float64 `json:"before"`         // Elo
	After  float64 `json:"after"`
}

// The bounds of a connection.
const (
	maxSessions = 16 // of one bot: more than a match has rotations
	helloTime   = 10 * time.Second
	sendTime    = 10 * time.Second // for a frame to be sent
	aliveTime   = 15 * time.Second // without a sign of the other end
	maxFrame    = 128 << 10
	maxFrames   = 2000 // a second that a bot may send on average, and as many at once
	// clientShare is the part of the frames that a bot may send which its client sends, so that it is
	// never too fast by a difference of clocks.
	clientShare = 0.9
)

// socketLimits are those of a bot's connection.
var socketLimits = socket.Limits{Frame: maxFrame, Frames: maxFrames, Burst: maxFrames, Silence: aliveTime, Send: sendTime}

// link is one connection with its sessions.
type link struct {
	*socket.Conn
	limiter  *rate.Limiter // of what is sent; nil: none
	admitted bool          // it has been its bot's link; of the hub's lock, as open
	ready    bool          // the Welcome is on its way

	mu    sync.Mutex
	conns map[int64]*conn
}

func newLink(s *socket.Conn) *link {
	return &link{Conn: s, conns: map[int64]*conn{}}
}

func (l *link) send(f frame) error {
	if l.limiter != nil {
		if err := l.limiter.Wait(context.Background()); err != nil {
			return err
		}
	}
	return l.Write(f)
}

// newConn returns a session's share of the link, to which its frames are delivered from now on.
func (l *link) newConn(id int64) *conn {
	c := &conn{link: l, id: id, frames: make(chan socket.Frame), closed: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[id] = c
	return c
}

// deliver hands a frame of a session to it. A frame of a session that has ended is dropped.
func (l *link) deliver(f frame) {
	l.mu.Lock()
	c := l.conns[f.Session]
	l.mu.Unlock()
	switch {
	case c == nil:
	case f.Shut:
		c.stop()
	case f.Seat != nil:
		select {
		case c.frames <- *f.Seat:
		case <-c.closed:
		case <-l.Done():
		}
	}
}

// conn is a session's share of a link.
type conn struct {
	link     *link
	id       int64
	frames   chan socket.Frame
	closed   chan struct{}
	stopOnce sync.Once
}

var errConnEnded = errors.New("remote: the connection has ended")

func (c *conn) stop() { c.stopOnce.Do(func() { close(c.closed) }) }

// Send implements socket.Wire.
func (c *conn) Send(f socket.Frame) error {
	select {
	case <-c.closed:
		return errConnEnded
	case <-c.link.Done():
		return errConnEnded
	default:
		return c.link.send(frame{Session: c.id, Seat: &f})
	}
}

// Receive implements socket.Wire.
func (c *conn) Receive() (socket.Frame, error) {
	select {
	case f := <-c.frames:
		return f, nil
	case <-c.closed:
	case <-c.link.Done():
	}
	return socket.Frame{}, errConnEnded
}

// Close implements socket.Wire.
func (c *conn) Close(string) {
	c.stop()
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if c.link.conns[c.id] == c {
		delete(c.link.conns, c.id)
		go c.link.send(frame{Session: c.id, Shut: true}) // it may wait for the other end
	}
}
