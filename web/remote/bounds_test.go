package remote_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/web/remote"
)

// raw connects a bot without a Connector, and sends its hello.
func (w *world) raw(t *testing.T, name string) *websocket.Conn {
	t.Helper()
	ws, _, err := w.dial(w.token, name, nil)
	w.Must(err)
	t.Cleanup(func() { ws.Close() })
	w.Must(ws.WriteMessage(websocket.TextMessage, []byte(`{"hello":{"sessions":[]}}`)))
	return ws
}

// ended reads a connection until it ends.
func ended(t *testing.T, ws *websocket.Conn, what string) {
	t.Helper()
	ws.SetReadDeadline(time.Now().Add(time.Hour))
	var err error
	for err == nil {
		_, _, err = ws.ReadMessage()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%s: the connection goes on", what)
	}
}

// many are limits for many bots at the same time.
var many = limitsOf(30, 1000, 1000)

// bot starts a Connector, and returns its bot for a match.
func (w *world) bot(t *testing.T, c *remote.Connector) match.Contestant {
	t.Helper()
	id := w.bots.Add(1)
	c.URL, c.Dial, c.Token, c.Bot = bubble.URL, w.server.Dial, w.token, fmt.Sprintf("far-%d", id)
	f := start(t, c)
	f.await(t, "online", online)
	return w.Bot(w.version(t, c.Bot), &ladder.Match{ID: id, Game: "tebes", Bots: []string{"far", "first"}})
}

// good connects a bot that plays one session at once and another one at each call of the result.
func (w *world) good(t *testing.T) (more func()) {
	t.Helper()
	b := w.bot(t, &remote.Connector{ClientOptions: remote.ClientOptions{Serve: plays("first")}})
	var s session
	s.begin(t, b.Serve)
	s.greet(t)
	return func() {
		t.Helper()
		s.greet(t)
		s.end(t)
	}
}

// session is the referee's end of a bot's lines.
type session struct {
	in     *io.PipeWriter
	out    *io.PipeReader
	served chan error
	turn   int
}

func (s *session) begin(t *testing.T, serve func(io.Reader, io.Writer) error) {
	lines, in := io.Pipe()
	out, answers := io.Pipe()
	s.in, s.out, s.served = in, out, make(chan error, 1)
	t.Cleanup(func() { in.Close() })
	go func() {
		err := serve(lines, answers)
		answers.Close()
		lines.Close()
		s.served <- err
	}()
}

// greet sends a greeting or a turn, and waits for the answer.
func (s *session) greet(t *testing.T) {
	t.Helper()
	text, want := "timba 1\ngame teeko\nseat 0\n", "ready"
	if s.turn > 0 {
		text, want = fmt.Sprintf("turn %d 1 a1\n", s.turn), "move"
	}
	s.turn++
	go io.WriteString(s.in, text)
	buf := make([]byte, 100)
	if n, err := s.out.Read(buf); err != nil || !strings.HasPrefix(string(buf[:n]), want) {
		t.Errorf("the bot answers %q, %v", buf[:n], err)
	}
}

func (s *session) end(t *testing.T) {
	t.Helper()
	s.in.Close()
	if err := <-s.served; err != nil {
		t.Errorf("the session ends with %v", err)
	}
}

// Thirty people behind one address have bots connected at the same time, each as many as a single person may.
func TestClassBehindOneAddress(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, limitsOf(30, 1, 30))
		for n := range 30 {
			_, token := w.person(t, fmt.Sprintf("pupil-%d", n), ladder.ScopeSubmit)
			ws, _, err := w.dial(token, fmt.Sprintf("far-%d", n), nil)
			w.Must(err)
			t.Cleanup(func() { ws.Close() })
			err = w.client(token, fmt.Sprintf("more-%d", n)).Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), "the limit for one person is 1 remote bots at the same time") {
				t.Errorf("another bot of person %d ends with %v", n, err)
			}
		}
	})
}

// A session above the limit of a bot is lost at once; those within it continue.
func TestSessions(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, many)
		b := w.bot(t, &remote.Connector{ClientOptions: remote.ClientOptions{Serve: plays("first")}})
		sessions := make([]session, 16)
		for i := range sessions {
			sessions[i].begin(t, b.Serve)
			sessions[i].greet(t)
		}
		var lost fault.Reason
		if err := b.Serve(strings.NewReader(""), io.Discard); !errors.As(err, &lost) || lost.Kind != fault.ConnectionLost {
			t.Errorf("the seventeenth session ends with %v", err)
		}
		for i := range sessions {
			sessions[i].greet(t)
			sessions[i].end(t)
		}
	})
}

// A bot that sends too many frames is disconnected, and no other bot is.
func TestFrames(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, many)
		more := w.good(t)
		ws := w.raw(t, "fast")
		go func() {
			for ws.WriteMessage(websocket.TextMessage, []byte(`{"leave":true}`)) == nil {
			}
		}()
		ended(t, ws, "too many frames")
		more()
	})
}

// A bot that shows no sign of life, or sends no hello, is disconnected, and no other bot is.
func TestSilence(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, many)
		more := w.good(t)
		w.raw(t, "silent") // reads nothing, and so answers no ping
		bubble.Settle()
		silent := w.version(t, "silent").ID
		if !w.Online(silent) {
			t.Error("the silent bot is not there")
		}
		time.Sleep(25 * time.Second)
		if w.Online(silent) {
			t.Error("the silent bot is still there")
		}
		ws, _, err := w.dial(w.token, "nameless", nil) // which answers pings, and says nothing
		w.Must(err)
		t.Cleanup(func() { ws.Close() })
		ended(t, ws, "no first frame")
		more()
	})
}

// Bots that connect at the same moment do not exceed the limits.
func TestComeTogether(t *testing.T) {
	t.Parallel()
	for range 300 {
		h := remote.New(remote.Options{Limits: limitsOf(30, 1, 1000)})
		begin, came := make(chan struct{}), make(chan error)
		const bots = 64
		for id := range int64(bots) {
			go func() {
				<-begin
				came <- h.Come(ladder.Version{ID: id, Bot: fmt.Sprintf("far-%d", id), Owner: 1})
			}()
		}
		close(begin)
		in := 0
		for range bots {
			if <-came == nil {
				in++
			}
		}
		if in != 1 {
			t.Fatalf("%d bots of a person come, who may have one", in)
		}
	}
}

// A bot that connects has a place, even if an earlier connection of it ends at the same time.
func TestComeAgain(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, limitsOf(30, 1, 1000))
		first, _, err := w.dial(w.token, "far", nil)
		w.Must(err)
		second, _, err := w.dial(w.token, "far", nil)
		w.Must(err)
		t.Cleanup(func() { second.Close() })
		w.Must(first.Close())
		bubble.Settle()
		if _, answer, err := w.dial(w.token, "other", nil); err == nil || answer.StatusCode != http.StatusTooManyRequests {
			t.Errorf("another bot of a person who may have one connects: %v", err)
		}
	})
}
