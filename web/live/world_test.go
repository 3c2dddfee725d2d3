package live_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/laddertest"
	"github.com/timba-arena/timba/ladder/runner"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/web/admission"
	"github.com/timba-arena/timba/web/board"
	"github.com/timba-arena/timba/web/live"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/socket"
)

// world is a competition in a synctest bubble. The runner plays its matches with house bots in this process,
// and a Hub is behind an HTTP server in memory.
type world struct {
	*laddertest.World
	hub    *live.Hub
	server *bubble.Listener
	moves  chan struct{} // a value lets a bot make a move; closed: all moves
	once   sync.Once
	end    context.CancelFunc
	ended  chan struct{}
}

const teeko = `
[[ladder]]
name = "one"
game = "teeko"
deals = 1
house = ["@random", "@first"]
clock = {movetime = 600000, startup = 600000}
`

// inWorld runs a test in a bubble with a world. The bots wait before each move; see world.moves.
func inWorld(t *testing.T, toml string, limits live.Limits, f func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	bubble.Run(t, func(t *testing.T) { f(t, newWorld(t, toml, limits)) })
}

func newWorld(t *testing.T, toml string, limits live.Limits) *world {
	w := &world{World: laddertest.New(t, toml, store.Options{}), moves: make(chan struct{}), ended: make(chan struct{})}
	w.SyncHouseBots(func(name string) string { return strings.Repeat("0", 64) })
	w.hub = live.NewHub(live.Options{Store: w.Store, Limits: limits, Hold: 10 * time.Millisecond})
	w.hub.Render = func(_ context.Context, topic, lang string) (live.Parts, error) {
		return live.Parts{HTML: map[string]string{"part": topic + " " + lang}}, nil
	}
	r := kit.Get[*runner.Runner](t)(runner.New(runner.Options{
		Store: runner.NewStore(w.Store), Ladders: w.Config.Ladders, Programs: &laddertest.Programs{Start: w.resolve}, Local: attempt.WorkerInfo{Cores: []int{cores.Any}}, Watch: w.hub.ShowMatch,
	}))
	w.server = bubble.Serve(t, &http.Server{Handler: http.HandlerFunc(w.serve)})
	ctx, cancel := context.WithCancel(context.Background())
	w.end = cancel
	go func() {
		defer close(w.ended)
		played := make(chan struct{})
		go func() { defer close(played); r.Run(ctx) }()
		w.hub.Run(ctx)
		<-played
	}()
	t.Cleanup(func() {
		cancel()
		w.free()
		<-w.ended
	})
	return w
}

// free lets the bots play without waiting.
func (w *world) free() { w.once.Do(func() { close(w.moves) }) }

// serve opens sockets. The query of the address says for whom: ?person=1&from=10.0.0.1.
func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	person, _ := strconv.ParseInt(r.URL.Query().Get("person"), 10, 64)
	address, _ := netip.ParseAddr(r.URL.Query().Get("from"))
	upgrade := func(l socket.Limits) (*socket.Conn, error) { return socket.Upgrade(rw, r, l) }
	if err := w.hub.Serve(admission.Visitor{Person: person, Address: address}, upgrade); err != nil {
		http.Error(rw, err.Error(), middleware.ProblemOf(err).Status)
	}
}

// resolve returns a house bot that waits before each move.
func (w *world) resolve(_ context.Context, v ladder.Version) (match.Contestant, error) {
	return match.Contestant{Name: v.Bot, Hash: v.Hash, Serve: func(in io.Reader, out io.Writer) error {
		return house.Run(strings.TrimPrefix(v.Bot, "@"), in, gated{out, w.moves})
	}}, nil
}

// gated is a writer that waits before each move. As a move takes time, a match lasts long enough to test
// limits on how often something is sent.
type gated struct {
	io.Writer
	moves <-chan struct{}
}

func (g gated) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("move ")) {
		<-g.moves
		time.Sleep(2 * time.Millisecond)
	}
	return g.Writer.Write(p)
}

// doc is any message of the hub.
type doc struct {
	Topic   string
	At      string
	Head    *struct{ Seats []board.SeatRow }
	Ply     int
	Frames  []board.Frame
	Moves   []board.MoveStep
	Left    []int64
	Since   int64
	Result  *struct{ Ranks []int }
	Over    *string
	Matches []live.ListedGame
	Parts   map[string]string
	Refused string
	Order   []string
}

// address is the address of the world's server without a query.
const address = "ws://timba.example/?"

// client is a socket of a test.
type client struct {
	t testing.TB
	*websocket.Conn
}

// dial connects a socket. The query says for whom.
func (w *world) dial(query string) *client {
	w.T.Helper()
	c, resp, err := w.server.Dialer().Dial(address+query, nil)
	if err != nil {
		text := ""
		if resp != nil {
			data, _ := io.ReadAll(resp.Body)
			text = string(data)
		}
		w.T.Fatalf("%v: %s", err, text)
	}
	w.T.Cleanup(func() { c.Close() })
	return &client{w.T, c}
}

// refused returns the answer to a socket that the server refuses.
func (w *world) refused(query string) (status int, text string) {
	w.T.Helper()
	c, resp, err := w.server.Dialer().Dial(address+query, nil)
	if err == nil {
		c.Close()
		w.T.Fatalf("a socket %q is accepted", query)
	}
	if resp == nil {
		w.T.Fatal(err)
	}
	data, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data)
}

func (c *client) say(text string) {
	c.t.Helper()
	kit.Must(c.t, c.WriteMessage(websocket.TextMessage, []byte(text)))
}

// next returns the next message.
func (c *client) next() doc {
	c.t.Helper()
	d := kit.Get[doc](c.t)(c.read())
	return d
}

func (c *client) read() (d doc, err error) {
	c.SetReadDeadline(time.Now().Add(time.Hour))
	_, data, err := c.ReadMessage()
	if err == nil {
		err = json.Unmarshal(data, &d)
	}
	return d, err
}

// code waits until the socket is closed and returns the close code, 0 if there is none.
func (c *client) code() int {
	c.t.Helper()
	for {
		_, err := c.read()
		if end, ok := err.(*websocket.CloseError); ok {
			return end.Code
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			c.t.Fatal("the socket does not end")
		}
		if err != nil {
			return 0
		}
	}
}

// begun waits until a match has started, and returns its ID.
func (w *world) begun() int64 {
	w.T.Helper()
	c := w.dial("from=192.0.2.1")
	defer c.Close()
	c.say(`{"watch":"games"}`)
	for {
		if d := c.next(); len(d.Matches) > 0 {
			return d.Matches[0].ID
		}
	}
}
