package remote_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/web/remote"
)

// OnEvent may take any time, and may call Leave; the bot continues to play meanwhile.
func TestSlowTell(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, many)
		c := w.client(w.token, "far")
		c.Stderr = io.Discard
		goOn, told, left := make(chan struct{}), 0, false
		c.OnEvent = func(s remote.ClientEvent) {
			if told++; told == 1 {
				<-goOn
				c.Leave()
			}
			left = left || s.Leaving
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		t.Cleanup(cancel)
		bubble.Settle()
		v := w.version(t, "far")
		const matches = 200
		for i := range int64(matches) {
			var s session
			s.begin(t, w.Bot(v, &ladder.Match{ID: i + 1, Game: "tebes", Bots: []string{"far", "first"}}).Serve)
			s.greet(t)
			s.end(t)
		}
		close(goOn)
		if err := <-ended; err != nil {
			t.Errorf("after Leave: %v", err)
		}
		if told != matches+2 || !left {
			t.Errorf("it was told %d times; of leaving: %t", told, left)
		}
	})
}

// The registry forgets a bot and its token after it has been away for too long to resume its sessions. If it
// connects later, it plays as before.
func TestForgets(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, many)
		go w.Run(t.Context())
		stays, far := start(t, w.client(w.token, "stays")), start(t, w.client(w.token, "far"))
		stays.await(t, "online", online)
		far.await(t, "online", online)
		far.cancel()
		time.Sleep(w.Config.Remote.Comeback - time.Second)
		v := w.version(t, "far").ID
		if w.Bots() != 2 || w.IsReady(v) || w.IsGone(v) {
			t.Errorf("while it may come back, %d bots are known; ready: %t, gone: %t", w.Bots(), w.IsReady(v), w.IsGone(v))
		}
		time.Sleep(10 * time.Second)
		if w.Bots() != 1 || w.IsReady(v) || !w.IsGone(v) {
			t.Errorf("later %d bots are known; ready: %t, gone: %t", w.Bots(), w.IsReady(v), w.IsGone(v))
		}
		start(t, w.client(w.token, "far")).await(t, "online again", online)
		if w.Bots() != 2 || !w.IsReady(v) || w.IsGone(v) {
			t.Errorf("when it is back %d bots are known; ready: %t, gone: %t", w.Bots(), w.IsReady(v), w.IsGone(v))
		}
	})
}

// A bot is reserved for one match at a time. If it leaves during the match, it gets the frame Left after the
// match, and is not forgotten before.
func TestReserve(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, many)
		go w.Run(t.Context())
		f := start(t, w.client(w.token, "far"))
		f.await(t, "online", online)
		v := w.version(t, "far").ID
		if w.Reserve(v+1) || !w.IsReady(v) || !w.Reserve(v) || w.IsReady(v) || w.Reserve(v) {
			t.Fatal("it is not reserved once")
		}
		w.Release(v)
		if !w.Reserve(v) {
			t.Fatal("it is not reserved again")
		}
		f.Leave()
		f.await(t, "leaving", func(s remote.ClientEvent) bool { return s.Leaving })
		bubble.Settle()
		if len(f.ended) > 0 {
			t.Fatal("it has left while it is reserved")
		}
		w.Release(v)
		if err := <-f.ended; err != nil || w.Reserve(v) {
			t.Errorf("it has left with %v, or is reserved after that", err)
		}
		again := start(t, w.client(w.token, "far"))
		again.await(t, "online again", online)
		if !w.Reserve(v) {
			t.Error("when it is back it is not reserved")
		}
		again.cancel()
		time.Sleep(2 * w.Config.Remote.Comeback)
		w.Release(v)
	})
}

// lag is a connection on which everything from the server arrives late.
type lag struct {
	net.Conn
	arriving chan arrival
	rest     []byte // of the last arrival
}

type arrival struct {
	data []byte
	due  time.Time
	err  error
}

func newLag(c net.Conn, delay time.Duration) *lag {
	l := &lag{Conn: c, arriving: make(chan arrival, 10000)}
	go func() {
		for {
			data := make([]byte, 4096)
			n, err := c.Read(data)
			l.arriving <- arrival{data[:n], time.Now().Add(delay), err}
			if err != nil {
				return
			}
		}
	}()
	return l
}

// Read implements io.Reader.
func (l *lag) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		a := <-l.arriving
		if a.err != nil {
			return 0, a.err
		}
		time.Sleep(time.Until(a.due))
		l.rest = a.data
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// A bot that answers at once over a slow connection loses its game when it has used up its time, and reads how slow the
// connection is: when it connects, in the fault, and in the result of the match.
func TestSlowConnection(t *testing.T) {
	// limit: remote.allowance, remote.comeback
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newPlayed(t, limitsOf(6, 3, 10))
		c := w.client(w.token, "far")
		c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := w.server.Dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return newLag(conn, 800*time.Millisecond), nil
		}
		f := start(t, c)
		greeting := f.await(t, "online", online).Text()
		if !strings.HasSuffix(greeting, "; a message and its receipt take 800 ms, which is slow: each move uses 600 ms of the 6 s, and after about 10 moves of one process the match is lost") {
			t.Errorf("the greeting is %q", greeting)
		}
		s := f.await(t, "a result", over)
		m, list := w.match(t, s.Result.Match, true)
		data, err := w.Store.Matches.Replay(t.Context(), list[len(list)-1].ID)
		w.Must(err)
		r := kit.Get[*referee.Replay](t)(referee.DecodeReplay(data))
		if len(r.Faults) != 1 || r.Faults[0].Reason != (fault.Reason{Kind: fault.ConnectionSlow, Detail: "800 ms", Limit: 6}) {
			t.Errorf("the faults are %+v", r.Faults)
		}
		if m.Reason.String() != "ended early: the connection of far is too slow" || !strings.Contains(s.Text(), " ended early: the connection of far is too slow: score ") {
			t.Errorf("the match ended for %q, and the client prints %q", m.Reason, s.Text())
		}
	})
}

// A connection that is fast enough is measured and not warned of.
func TestFastConnection(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, many)
		f := start(t, w.client(w.token, "far"))
		if text := f.await(t, "online", online).Text(); !strings.HasSuffix(text, "; a message and its receipt take 0 ms") {
			t.Errorf("the greeting is %q", text)
		}
	})
}

// When the server is restarted during a match, the client says that the match begins again. It says nothing when the
// same match opens another session, nor after a break of the connection.
func TestRestart(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, many)
		p := &network{to: w.server}
		c := w.client(w.token, "far")
		c.Dial = func(ctx context.Context, kind, address string) (net.Conn, error) { return p.dial(ctx, kind, address) }
		f := start(t, c)
		f.await(t, "online", online)
		m := &ladder.Match{ID: 7, Game: "tebes", Bots: []string{"far", "first"}}
		open := func() *session {
			s := new(session)
			s.begin(t, w.Bot(w.version(t, "far"), m).Serve)
			s.greet(t)
			return s
		}
		open()
		p.cut(false)
		f.await(t, "online after a break", online)
		open()
		w.Close()
		w.serve(t, remote.Options{Limits: many})
		p.mu.Lock()
		p.to = w.server
		p.mu.Unlock()
		f.await(t, "online after a restart", online)
		open()
		if s := f.await(t, "the match", playing); s.Text() != "match 7 begins again: the server was restarted" {
			t.Errorf("the client prints %q", s.Text())
		}
	})
}

// A match that ended before all its games were played has not been broken off, also if it is unrated.
func TestResultTexts(t *testing.T) {
	for want, r := range map[string]remote.Result{
		"match 7 over": {Match: 7, Over: true},
		"match 7 ended early: far lost the connection":                               {Match: 7, Over: true, Text: "ended early: far lost the connection"},
		"match 7 over: score 0.250, Elo 1000 to 990":                                 {Match: 7, Over: true, Score: 0.25, Before: 1000, After: 990},
		"match 7 ended early: far lost the connection: score 0.250, Elo 1000 to 990": {Match: 7, Over: true, Text: "ended early: far lost the connection", Score: 0.25, Before: 1000, After: 990},
		"match 7 broken off: the server was stopped":                                 {Match: 7, Text: "the server was stopped"},
	} {
		if got := (remote.ClientEvent{Result: &r}).Text(); got != want {
			t.Errorf("%+v is %q", r, got)
		}
	}
}
