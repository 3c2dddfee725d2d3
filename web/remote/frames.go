// Package remote lets bots play that run on their owners' machines. Registry is the server's end: it accepts
// the connections of bots, and the runner uses it to play their versions. Connector is the owner's end: it
// starts a process for each session.
//
// A bot has one WebSocket, which carries any number of sessions. A session is one process of the bot in a match.
// Its lines go through a socket.LineStream at each end, so that a session survives a broken connection.
//
// A client connects to Path with "Authorization: Bearer TOKEN" and at least the parameters bot and instance. The
// instance is 16 to 64 letters and digits that the client chooses when its process starts. Errors before the
// upgrade to a WebSocket are problem documents (RFC 9457), and requests from pages of another origin are refused.
// The messages are of the type frame. On each new connection, each end of a session first sends a seat frame that
// has only an ack, the number of the next line that it expects. Then it sends its lines from the number in the
// other end's ack. After a broken connection, the server may send a result a second time, which the client ignores.
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

// The query parameters of the address with which a client connects.
const (
	paramBot      = "bot"
	paramLabel    = "label"
	paramGames    = "games" // separated by commas
	paramNew      = "new"   // "1" asks for a new version
	paramInstance = "instance"
)

// frame is one message on the WebSocket between a bot's client and the server. Exactly one field is set, with one
// exception: Session is set together with Seat or Shut, and names the session to which they belong.
type frame struct {
	Hello   *hello        `json:"hello,omitempty"`   // first frame of the client
	Welcome *Welcome      `json:"welcome,omitempty"` // first frame of the server
	Open    *Opening      `json:"open,omitempty"`    // from the server: a session starts
	Result  *Result       `json:"result,omitempty"`  // from the server: a match has ended or was interrupted
	Leave   bool          `json:"leave,omitempty"`   // from the client: it plays no more matches
	Left    bool          `json:"left,omitempty"`    // from the server, after Leave: the bot has no more matches
	Session int64         `json:"session,omitempty"`
	Seat    *socket.Frame `json:"seat,omitempty"`
	Shut    bool          `json:"shut,omitempty"` // this end of the session sends no more frames
}

// hello is the first frame that a client sends on a connection. It lists the sessions and matches from
// earlier connections of this client.
type hello struct {
	Sessions []int64 `json:"sessions"`          // sessions with a process
	Matches  []int64 `json:"matches,omitempty"` // matches that have started and have no result yet
}

// Welcome is the server's answer to a bot that has connected.
type Welcome struct {
	Server    string  `json:"server"` // identifies the server's process
	Bot       string  `json:"bot"`
	Version   int     `json:"version"`
	Allowance int64   `json:"allowance"` // added to the clock's margin because of the network, in milliseconds
	Comeback  int64   `json:"comeback"`  // how long the bot's clock may stand still in a session, in seconds
	Slow      int64   `json:"slow"`      // how long a message may wait for its receipt before the clock stands still, in milliseconds
	Frames    float64 `json:"frames"`    // number of frames that the client may send in a second
	Sessions  []int64 `json:"sessions"`  // sessions that continue from an earlier connection
}

// Opening is the server's message that a session starts. The client must start a process of the bot for it.
type Opening struct {
	Session int64    `json:"session"`
	Match   int64    `json:"match"`
	Ladder  string   `json:"ladder,omitempty"` // "" for an unrated match
	Game    string   `json:"game"`
	Bots    []string `json:"bots"` // names of the match's bots, by slot
}

// Result says how a match has ended, or that it was interrupted. An interrupted match may be played again later.
type Result struct {
	Match  int64   `json:"match"`
	Over   bool    `json:"over"` // it was played, although not all of it if Text says so
	Ladder string  `json:"ladder,omitempty"`
	Text   string  `json:"text,omitempty"` // why the match was interrupted or dropped, or ended early with a score; otherwise ""
	Score  float64 `json:"score"`          // score of the bot, from 0 to 1; 0 if the match is unrated
	Before float64 `json:"before"`         // Elo before the match
	After  float64 `json:"after"`          // Elo after the match
}

// The limits of a connection.
const (
	maxSessions = 16 // sessions of one bot at the same time; more than a match has rotations
	helloTime   = 10 * time.Second
	sendTime    = 10 * time.Second // longest time to send one frame
	aliveTime   = 15 * time.Second // a connection without a message for this long is closed
	maxFrame    = 128 << 10        // in bytes
	maxFrames   = 2000             // frames that a bot may send in a second on average, and at once
	// clientShare is the part of maxFrames that clients use. It is less than 1, so that clients do not exceed
	// maxFrames even if clocks run differently.
	clientShare = 0.9
)

// socketLimits are the limits of a bot's connection at the server.
var socketLimits = socket.Limits{Frame: maxFrame, Frames: maxFrames, Burst: maxFrames, Silence: aliveTime, Send: sendTime}

// link is one connection between a bot's client and the server, with the sessions (processes of the bot) that it
// carries.
type link struct {
	*socket.Conn
	limiter  *rate.Limiter // limits the frames that this end sends; nil means no limit
	admitted bool          // it has become its bot's current link; like ready, guarded by Registry.mu
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

// newConn returns the connection of the session with this ID over the link. From now on, the link passes the frames
// of the session to it.
func (l *link) newConn(id int64) *conn {
	c := &conn{link: l, id: id, frames: make(chan socket.Frame), closed: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[id] = c
	return c
}

// deliver passes a frame to the session that it names. It drops a frame of a session that has ended.
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

// conn is the connection of one session (process of the bot) over a link.
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
