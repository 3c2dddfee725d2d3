// Package remote plays bots that run on their owners' machines. Registry is the server's end: it accepts the
// connections of bots, and the runner uses it to play their versions. Connector is the owner's end: it starts
// a process for each session.
//
// A bot has one WebSocket, which carries any number of sessions. A session is one process of a match. Its
// lines go through a socket.LineStream at each end, so that a session continues after a broken connection.
package remote

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/timba-arena/timba/web/socket"
)

// Path is the path of the WebSocket on a server.
const Path = "/ws/remote"

// Parameters of the address.
const (
	paramBot      = "bot"
	paramLabel    = "label"
	paramGames    = "games" // separated by commas
	paramNew      = "new"   // "1" asks for a new version
	paramInstance = "instance"
)

// A client connects to Path with "Authorization: Bearer TOKEN" and at least the parameters bot and instance:
// 16 to 64 letters and digits, chosen when it starts. Errors before the upgrade are problem documents. Pages
// of another origin are refused. Frames are text. On a new connection, each end of a session first sends a
// seat frame that has only an ack. Then it sends its lines, starting at the number in the other end's ack.
// After a broken connection a result may come twice.

// frame is one message. Exactly one of its fields is set, but Session comes with Seat or Shut.
type frame struct {
	Hello   *hello        `json:"hello,omitempty"`   // first frame of the client
	Welcome *Welcome      `json:"welcome,omitempty"` // first frame of the server
	Open    *Opening      `json:"open,omitempty"`    // from the server: a session starts
	Result  *Result       `json:"result,omitempty"`  // from the server: a match has ended
	Leave   bool          `json:"leave,omitempty"`   // from the client: it plays no more matches
	Left    bool          `json:"left,omitempty"`    // from the server, after Leave: the bot has no more matches
	Session int64         `json:"session,omitempty"`
	Seat    *socket.Frame `json:"seat,omitempty"`
	Shut    bool          `json:"shut,omitempty"` // this end of the session sends no more frames
}

// hello is the state of a client that connects.
type hello struct {
	Sessions []int64 `json:"sessions"`          // sessions with a process
	Matches  []int64 `json:"matches,omitempty"` // matches that have started and have no result yet
}

// Welcome is the server's answer to a bot that has connected.
type Welcome struct {
	Bot       string  `json:"bot"`
	Version   int     `json:"version"`
	Allowance int64   `json:"allowance"` // by which the clock's margin is larger, in milliseconds
	Comeback  int64   `json:"comeback"`  // time to connect again after a break, in seconds
	Frames    float64 `json:"frames"`    // that the client may send in a second
	Sessions  []int64 `json:"sessions"`  // sessions that continue
}

// Opening describes a session that starts. The client must start a process for it.
type Opening struct {
	Session int64    `json:"session"`
	Match   int64    `json:"match"`
	Ladder  string   `json:"ladder,omitempty"` // "" for an unrated match
	Game    string   `json:"game"`
	Bots    []string `json:"bots"` // of the match, by slot
}

// Result says how a match has ended.
type Result struct {
	Match  int64   `json:"match"`
	Ladder string  `json:"ladder,omitempty"`
	Text   string  `json:"text,omitempty"` // why the match has no result; "" if it has one
	Score  float64 `json:"score"`          // of the bot in a rated match, from 0 to 1
	Before float64 `json:"before"`         // Elo before the match
	After  float64 `json:"after"`          // Elo after the match
}

// Limits of a connection.
const (
	maxSessions = 16 // of one bot; more than a match has rotations
	helloTime   = 10 * time.Second
	sendTime    = 10 * time.Second // longest time to send one frame
	aliveTime   = 15 * time.Second // after which a silent connection ends
	maxFrame    = 128 << 10
	maxFrames   = 2000 // that a bot may send in a second on average, and at once
	// clientShare is the part of maxFrames that clients use, so that they never exceed maxFrames by a
	// difference of clocks.
	clientShare = 0.9
)

// socketLimits are the limits of a bot's connection at the server.
var socketLimits = socket.Limits{Frame: maxFrame, Frames: maxFrames, Burst: maxFrames, Silence: aliveTime, Send: sendTime}

// link is one connection with its sessions.
type link struct {
	*socket.Conn
	limiter  *rate.Limiter // of the frames that this end sends; nil means no limit
	admitted bool          // it has become its bot's link; guarded by the lock of the hub, as ready is
	ready    bool          // the Welcome has been sent

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

// newConn returns the part of the link that carries a session. From now on it receives the frames of that
// session.
func (l *link) newConn(id int64) *conn {
	c := &conn{link: l, id: id, frames: make(chan socket.Frame), closed: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[id] = c
	return c
}

// deliver passes a frame to its session. It drops frames of sessions that have ended.
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

// conn is the part of a link that carries one session.
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
		go c.link.send(frame{Session: c.id, Shut: true}) // the other end may be slow
	}
}
