package remote_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/web/remote"
)

// raw connects a bot without a client of ours.
func (w *farWay) raw(t *testing.T, name string) *websocket.Conn {
	t.Helper()
	address := "ws" + strings.TrimPrefix(w.url, "http") + remote.Path + "?instance=aaaaaaaaaaaaaaaaaaaa&bot=" + name
	ws, _, err := websocket.DefaultDialer.Dial(address, http.Header{"Authorization": {"Bearer " + w.token}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

// ended reads a connection to its end.
func ended(t *testing.T, ws *websocket.Conn, what string) {
	t.Helper()
	ws.SetReadDeadline(time.Now().Add(2 * time.Minute))
	var err error
	for err == nil {
		_, _, err = ws.ReadMessage()
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		t.Errorf("%s: the connection goes on", what)
	}
}

// good connects a bot that plays a session now, and another one when it is called.
func (w *farWay) good(t *testing.T) (more func()) {
	t.Helper()
	b := w.bot(t, []string{os.Args[0], "bot", "first"})
	var s session
	s.begin(b.Serve)
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

func (s *session) begin(serve func(io.Reader, io.Writer) error) {
	lines, in := io.Pipe()
	out, answers := io.Pipe()
	s.in, s.out, s.served = in, out, make(chan error, 1)
	go func() {
		err := serve(lines, answers)
		answers.Close()
		lines.Close()
		s.served <- err
	}()
}

// greet sends a greeting, or a turn, and awaits an answer.
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

// The number of remote bots is limited in all; 0 allows none.
func TestTotal(t *testing.T) {
	w := newFarWay(t, "total = 2")
	more := w.good(t)
	w.good(t)
	third := &remote.Client{URL: w.url, Token: w.token, Bot: "third", Command: []string{"true"}}
	if err := third.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "the limit is 2 remote bots at the same time") {
		t.Errorf("a third bot ends with %v", err)
	}
	more()
	none := newFarWay(t, "total = 0")
	third = &remote.Client{URL: none.url, Token: none.token, Bot: "third", Command: []string{"true"}}
	if err := third.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "the limit is 0 remote bots") {
		t.Errorf("where none may come a bot ends with %v", err)
	}
}

// A session over the limit of a bot is lost at once; those within it go on.
func TestSessions(t *testing.T) {
	w := newFarWay(t, "")
	f := start(t, &remote.Client{URL: w.url, Token: w.token, Bot: "far", Command: []string{os.Args[0], "bot", "first"}})
	f.await(t, "online", online)
	v, err := w.Store.Version(t.Context(), w.version(t, "far"))
	if err != nil {
		t.Fatal(err)
	}
	b := w.Bot(v, &ladder.Match{ID: 1, Game: "teeko", Bots: []string{"far"}})
	sessions := make([]session, 16)
	for i := range sessions {
		sessions[i].begin(b.Serve)
		sessions[i].greet(t)
	}
	var lost *fault.Fault
	if err := b.Serve(strings.NewReader(""), io.Discard); !errors.As(err, &lost) || lost.Reason.Kind != fault.ConnectionLost {
		t.Errorf("the seventeenth session ends with %v", err)
	}
	for i := range sessions {
		sessions[i].greet(t)
		sessions[i].end(t)
	}
}

// A bot that sends too many frames is ended, and no other.
func TestFrames(t *testing.T) {
	w := newFarWay(t, "frames = 100")
	more := w.good(t)
	ws := w.raw(t, "fast")
	ws.WriteMessage(websocket.TextMessage, []byte(`{"hello":{"sessions":[]}}`))
	for range 100_000 {
		if ws.WriteMessage(websocket.TextMessage, []byte(`{"leave":true}`)) != nil {
			break
		}
	}
	ended(t, ws, "too many frames")
	more()
}

// A bot that gives no sign of life, or does not say who it is, is ended, and no other.
func TestSilence(t *testing.T) {
	w := newFarWay(t, "silence = 4")
	more := w.good(t)
	ws := w.raw(t, "silent") // reads nothing, and so answers no ping
	ws.WriteMessage(websocket.TextMessage, []byte(`{"hello":{"sessions":[]}}`))
	silent := w.version(t, "silent")
	kit.Until(t, "the silent bot is there", func() bool { return w.Online(silent) })
	kit.Until(t, "the silent bot is ended", func() bool { return !w.Online(silent) })
	if !kit.Short() {
		ended(t, w.raw(t, "nameless"), "no first frame") // which answers pings
	}
	more()
}

// version returns the last version of a bot.
func (w *farWay) version(t *testing.T, name string) int64 {
	t.Helper()
	bot, err := w.Store.Bot(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	versions, err := w.Store.Versions(t.Context(), bot.ID)
	if err != nil {
		t.Fatal(err)
	}
	return versions[0].ID
}
