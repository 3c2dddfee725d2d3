package remote

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"github.com/timba-arena/timba/web/socket"
	"github.com/timba-arena/timba/web/wire"
)

// ServerAddress says how a client reaches the server of a competition.
type ServerAddress struct {
	URL, Token, Agent string // see the fields of client.Client
	// Dial makes the connections. If Dial is nil, they go over the network, through the proxy that the
	// environment names.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// ClientOptions say which bot a Connector connects, and to which server.
type ClientOptions struct {
	ServerAddress
	Bot, Label string
	Games      []string // games that a new version plays, as in "brisca players=2"; if nil, those of the previous version or, without one, all games
	NewVersion bool     // submit a new version even if one is live
	Command    []string // the program and its arguments, started for each session
	// Serve, unless nil, plays instead of processes of Command; see match.Contestant.Serve.
	Serve       func(lines io.Reader, answers io.Writer) error
	Stderr      io.Writer // the standard error of the processes; if nil, os.Stderr
	SingleMatch bool      // leave after one match as with Connector.Leave, but without the event Leaving
	// OnEvent, unless nil, is called with each event in order. Calls do not overlap.
	OnEvent func(ClientEvent)
}

// Connector connects a bot on this machine to a server, over the network, so that the bot plays in the server's
// matches.
type Connector struct {
	ClientOptions

	instance      string
	mu            sync.Mutex
	link          *link              // nil while there is no connection
	programs      map[int64]*program // by session; nil before Run
	activeMatches map[int64]bool     // by ID, matches that have started and have no result yet; false: the server was restarted since
	server        string             // identifies the server's process, by its last Welcome
	leaving       bool
	released      bool               // the server has no more matches for the client
	hasLeft       bool               // Run returns nil, as the client was leaving and nothing was left to play
	cancel        context.CancelFunc // ends Run
	lastReport    chan struct{}      // closed when OnEvent has returned from the last event; nil before the first
}

// ClientEvent is something that happens to a Connector, such as a lost connection. Exactly one of its fields is
// set, except that Delay is set together with Online, Wait with Offline and IsRepeated with Playing.
type ClientEvent struct {
	Online     *Welcome
	Delay      time.Duration // how long the server took to answer the first message
	Offline    error         // why the connection broke; the client connects again by itself
	Wait       time.Duration // until the next attempt to connect
	Playing    *Opening      // a match starts
	IsRepeated bool          // the match starts again, because the server was restarted
	Result     *Result
	Leaving    bool // the client plays no more matches; those in progress continue
}

// report passes event s to OnEvent, after the calls for earlier events have returned. It returns at once and does not
// wait for OnEvent, which may take long and may call Leave. The caller holds c.mu.
func (c *Connector) report(s ClientEvent) {
	if c.OnEvent == nil {
		return
	}
	before, told := c.lastReport, make(chan struct{})
	c.lastReport = told
	go func() {
		if before != nil {
			<-before
		}
		c.OnEvent(s)
		close(told)
	}()
}

// The shortest and the longest wait before a new attempt to connect.
const (
	minWait = 250 * time.Millisecond
	maxWait = time.Minute
)

// finalError is an error after which the client must not connect again, because the server has sent it.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

// Run connects the bot and plays its matches. It returns nil when the bot has left; see Leave. It returns the error
// of ctx when ctx ends, and the server's error if the server rejects the bot or another client takes over. If the
// first attempt to connect fails, Run returns that error; later it connects again by itself. Run may be called once.
func (c *Connector) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.instance = rand.Text()
	c.mu.Lock()
	if c.leaving {
		c.mu.Unlock()
		return nil
	}
	c.programs, c.activeMatches, c.cancel = map[int64]*program{}, map[int64]bool{}, cancel
	c.mu.Unlock()
	if c.Stderr == nil {
		c.Stderr = os.Stderr
	}
	defer func() {
		c.endPrograms()
		c.mu.Lock()
		c.leaving = true // Leave has no more events to report
		told := c.lastReport
		c.mu.Unlock()
		if told != nil {
			<-told
		}
	}()
	reached, wait := false, time.Duration(0)
	for {
		began := time.Now()
		err := c.connect(ctx, &reached)
		c.mu.Lock()
		left := c.hasLeft
		c.mu.Unlock()
		var final finalError
		switch {
		case left:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &final) || !reached:
			return err
		}
		if time.Since(began) > wait { // the connection lasted, so start with short waits again
			wait = 0
		}
		wait = max(min(2*wait, maxWait), minWait)
		pause := wait/2 + mathrand.N(wait/2)
		if _, ok := errors.AsType[*wire.Problem](err); ok {
			pause = max(pause, minWait*4)
		}
		c.mu.Lock()
		c.report(ClientEvent{Offline: err, Wait: pause})
		c.mu.Unlock()
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// Leave tells the server that the bot plays no further matches. Run returns nil when the matches in progress
// are over. If Leave is called before Run, Run returns at once.
func (c *Connector) Leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.programs == nil { // Run has not been called
		c.leaving = true
		return
	}
	c.startLeaving()
}

func (c *Connector) startLeaving() {
	if c.leaving {
		return
	}
	c.leaving = true
	if c.link != nil {
		go c.link.send(frame{Leave: true})
	}
	c.report(ClientEvent{Leaving: true})
	c.stopIfIdle()
}

// resultTime is how long a client that leaves waits for the result of its last match. offlineTime is how long it
// tries to connect again for that result if it has no connection.
const resultTime, offlineTime = 10 * time.Second, time.Minute

// stopIfIdle ends Run if the client is leaving, no process of the bot runs, and no match remains. If only the result
// of a match is missing, it ends Run after resultTime or, without a connection, after offlineTime. The caller holds
// c.mu.
func (c *Connector) stopIfIdle() {
	switch {
	case !c.leaving || len(c.programs) > 0:
	case len(c.activeMatches) == 0 && (c.released || c.link == nil):
		c.stop()
	case c.released:
		c.stopAfter(resultTime)
	case c.link == nil:
		c.stopAfter(offlineTime)
	}
}

// stopAfter ends Run after the time d, unless a process of the bot runs then or the connection has changed meanwhile.
// The caller holds c.mu.
func (c *Connector) stopAfter(d time.Duration) {
	released, link := c.released, c.link
	time.AfterFunc(d, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.programs) == 0 && c.released == released && c.link == link {
			c.stop()
		}
	})
}

func (c *Connector) stop() {
	c.hasLeft = true
	c.cancel()
}

// connect opens one connection and uses it until it breaks. It always returns an error. When the server has accepted
// the bot, it sets *reached to true.
func (c *Connector) connect(ctx context.Context, reached *bool) error {
	ws, err := c.dial(ctx)
	if err != nil {
		return err
	}
	l := newLink(socket.NewConn(ws, socket.Limits{Frame: maxFrame, Frames: 1e6, Burst: 1e6, Silence: aliveTime, Send: sendTime}))
	stop := context.AfterFunc(ctx, func() { l.Shut(socket.CloseEnded, "the bot leaves") })
	defer stop()
	defer l.Shut(socket.CloseEnded, "the bot leaves")
	sent := time.Now()
	if err := l.send(frame{Hello: c.newHello()}); err != nil {
		return err
	}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.link == l {
			c.link, c.released = nil, false
			c.stopIfIdle()
		}
	}()
	for {
		var f frame
		if err := l.Read(&f); err != nil {
			if closed, ok := errors.AsType[*websocket.CloseError](err); ok && closed.Text != "" {
				err = errors.New(closed.Text)
				if closed.Code == socket.CloseReplaced || closed.Code == socket.CloseRefused {
					err = finalError{fmt.Errorf("server: %s", closed.Text)}
				}
			}
			return err
		}
		switch {
		case f.Welcome != nil:
			*reached, c.NewVersion = true, false
			c.resume(l, f.Welcome, time.Since(sent))
		case f.Open != nil:
			c.startProgram(l, f.Open)
		case f.Result != nil:
			c.recordResult(f.Result)
		case f.Left:
			c.recordRelease()
		case f.Session != 0:
			l.deliver(f)
		}
	}
}

func (c *Connector) dial(ctx context.Context) (*websocket.Conn, error) {
	q := url.Values{paramBot: {c.Bot}, paramInstance: {c.instance}}
	if c.Label != "" {
		q.Set(paramLabel, c.Label)
	}
	if len(c.Games) > 0 {
		q.Set(paramGames, strings.Join(c.Games, ","))
	}
	if c.NewVersion {
		q.Set(paramNew, "1")
	}
	address := "ws" + strings.TrimPrefix(c.URL, "http") + Path + "?" + q.Encode()
	d := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: 90 * time.Second}
	dial := new(net.Dialer).DialContext
	if c.Dial != nil {
		d.Proxy, dial = nil, c.Dial
	}
	stop := func() bool { return true }
	defer func() { stop() }()
	d.NetDialContext = func(dialing context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(dialing, network, address)
		if err == nil { // the handshake does not heed an end of the context
			stop = context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
		}
		return conn, err
	}
	ws, resp, err := d.DialContext(ctx, address, http.Header{"Authorization": {"Bearer " + c.Token}, "User-Agent": {c.Agent}})
	if err == nil {
		return ws, nil
	}
	if resp == nil {
		return nil, fmt.Errorf("server: %s cannot be reached: %s", c.URL, wire.ConnectionFailure(err))
	}
	p := wire.ReadProblem(resp) // gorilla/websocket has kept the first 1 KiB of its body
	again := []int{http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusInternalServerError}
	if slices.Contains(again, p.Status) {
		return nil, p
	}
	return nil, finalError{p}
}

// newHello returns the first frame that the client sends on a connection. It lists the sessions for which a process
// runs, and the latest matches without a result, at most maxSessions of them.
func (c *Connector) newHello() *hello {
	c.mu.Lock()
	defer c.mu.Unlock()
	matches := slices.Sorted(maps.Keys(c.activeMatches))
	return &hello{
		Sessions: slices.AppendSeq([]int64{}, maps.Keys(c.programs)),
		Matches:  matches[max(0, len(matches)-maxSessions):],
	}
}

// resume makes l the current connection. w is the server's answer to the connection, and delay is how long the answer
// took. Each session (process of the bot in a match) continues if the server still has it, and is ended otherwise.
func (c *Connector) resume(l *link, w *Welcome, delay time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report(ClientEvent{Online: w, Delay: delay})
	if c.server != w.Server {
		for id := range c.activeMatches {
			c.activeMatches[id] = false
		}
		c.server = w.Server
	}
	l.limiter = rate.NewLimiter(rate.Limit(w.Frames), int(w.Frames))
	c.link = l
	for id, p := range c.programs {
		if !slices.Contains(w.Sessions, id) {
			p.seat.Close(errors.New("the server has ended the session"))
			continue
		}
		conn := l.newConn(id)
		go p.seat.Attach(conn)
	}
	if c.leaving {
		go l.send(frame{Leave: true})
	}
}

// startProgram starts a process of the bot for the session that o describes; a session is the bot's part in a match.
// The session uses the connection l. If the session exists already, or if there are maxSessions sessions,
// startProgram does nothing.
func (c *Connector) startProgram(l *link, o *Opening) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.programs) >= maxSessions || c.programs[o.Session] != nil {
		return // an error of the server, which waits in vain
	}
	if isPlayed, isKnown := c.activeMatches[o.Match]; !isPlayed {
		c.activeMatches[o.Match] = true
		c.report(ClientEvent{Playing: o, IsRepeated: isKnown})
	}
	if c.SingleMatch && !c.leaving {
		c.leaving = true
		go l.send(frame{Leave: true})
	}
	p := &program{Opening: *o, seat: socket.NewLineStream(socket.LineStreamOptions{ReturnTime: 24 * time.Hour})}
	c.programs[o.Session] = p
	conn := l.newConn(o.Session)
	go p.seat.Attach(conn)
	p.running.Go(func() { // under the lock, so that endPrograms waits for it
		if c.Serve != nil {
			p.serve(c.Serve)
		} else {
			p.run(c.Command, c.Stderr)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.programs, o.Session)
		c.stopIfIdle()
	})
}

func (c *Connector) recordResult(r *Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.activeMatches[r.Match]; !ok { // the result came twice, or the match was not played here
		return
	}
	delete(c.activeMatches, r.Match)
	c.report(ClientEvent{Result: r})
	c.stopIfIdle()
}

func (c *Connector) recordRelease() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.released = true
	c.stopIfIdle()
}

// endPrograms ends all processes and waits for them.
func (c *Connector) endPrograms() {
	c.mu.Lock()
	var list []*program
	for _, p := range c.programs {
		p.seat.Close(errors.New("the bot left"))
		list = append(list, p)
	}
	c.mu.Unlock()
	for _, p := range list {
		p.running.Wait()
	}
}

// Text describes the event in English, or returns "" if people need not read about it.
func (s ClientEvent) Text() string {
	switch {
	case s.Online != nil:
		return s.Online.text(s.Delay)
	case s.Offline != nil:
		return fmt.Sprintf("offline: %v: next attempt in %.1f s", s.Offline, s.Wait.Seconds())
	case s.IsRepeated:
		return fmt.Sprintf("match %d begins again: the server was restarted", s.Playing.Match)
	case s.Playing != nil:
		return fmt.Sprintf("playing match %d, %s: %s", s.Playing.Match, onLadder(s.Playing.Ladder, s.Playing.Game), strings.Join(s.Playing.Bots, " against "))
	case s.Result != nil:
		return s.Result.text()
	case s.Leaving:
		return "leaving after what is played now; Ctrl-C again leaves at once, and loses it"
	}
	return ""
}

// text describes w, the server's answer to a new connection. delay is how long the answer took. If delay is so long
// that it stops clocks, the text warns of that.
func (w *Welcome) text(delay time.Duration) string {
	text := fmt.Sprintf("online as %s@%d: margin %d ms more for the wire, %d s to come back after a break; a message and its receipt take %d ms", w.Bot, w.Version, w.Allowance, w.Comeback, delay.Milliseconds())
	if excess := delay.Milliseconds() - w.Slow; excess > 0 {
		text += fmt.Sprintf(", which is slow: each move uses %d ms of the %d s, and after about %d moves of one process the match is lost", excess, w.Comeback, w.Comeback*1000/excess)
	}
	return text
}

func (r *Result) text() string {
	name := "match " + strconv.FormatInt(r.Match, 10)
	if !r.Over {
		return name + " broken off: " + r.Text
	}
	text := name + " " + cmp.Or(r.Text, "over")
	if r.Before != 0 {
		text += fmt.Sprintf(": score %.3f, Elo %.0f to %.0f", r.Score, r.Before, r.After)
	}
	return text
}

func onLadder(ladder, game string) string {
	if ladder == "" {
		return game + ", unrated"
	}
	return ladder
}
