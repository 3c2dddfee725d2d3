package remote_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/laddertest"
	"github.com/timba-arena/timba/ladder/runner"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/web/api"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/remote"
)

// world has a Registry behind a server in memory.
type world struct {
	*laddertest.World
	*remote.Registry
	token  string // of ann, who may submit
	wake   func() // of the runner; nil: nothing is played
	server *bubble.Listener
	bots   atomic.Int64
}

const worldLimits = `
[limits]
bots = 1000
versions = 1000
requests = 200000
`

// newWorld returns a world without a runner.
func newWorld(t *testing.T, l ladder.RemoteLimits) *world {
	t.Helper()
	w := &world{World: laddertest.New(t, worldLimits, store.Options{})}
	w.serve(t, remote.Options{Limits: l})
	return w
}

// serve serves a Registry with these options.
func (w *world) serve(t *testing.T, o remote.Options) {
	o.Store, o.Bounds = w.Store, w.Config.Limits
	w.Registry = remote.New(o)
	wake := func() {
		if w.wake != nil {
			w.wake()
		}
	}
	m := middleware.New(middleware.Options{Service: service.New(service.Options{Store: w.Store, Config: w.Config, Wake: wake})})
	a := api.New(api.Options{Middleware: m})
	w.server = bubble.Serve(t, &http.Server{Handler: a.Handler(w.Handler(m))})
	t.Cleanup(w.Close)
	if w.token == "" { // not after a restart
		_, w.token = w.person(t, "ann", ladder.ScopeSubmit)
	}
}

// ladders has a ladder of short matches.
const ladders = `
[[ladder]]
name = "tebes"
game = "tebes"
options = {size = "4"}
deals = 2
clock = {movetime = 10000, startup = 60000}
house = ["@random"]
`

// newPlayed returns a world with a runner that plays.
func newPlayed(t *testing.T, l ladder.RemoteLimits) *world {
	t.Helper()
	w := &world{World: laddertest.New(t, worldLimits+ladders, store.Options{})}
	w.SyncHouseBots(func(string) string { return strings.Repeat("0", 64) })
	w.serve(t, remote.Options{Limits: l})
	r, err := runner.New(runner.Options{
		Store: runner.NewStore(w.Store), Ladders: w.Config.Ladders, Local: attempt.WorkerInfo{Cores: []int{cores.Any}},
		Remotes: w.Registry, Limits: runner.Limits{Allowance: l.Allowance},
		Programs: &laddertest.Programs{Start: func(_ context.Context, v ladder.Version) (match.Contestant, error) {
			return match.Contestant{Name: v.Bot, Hash: v.Hash, Serve: plays(strings.TrimPrefix(v.Bot, "@"))}, nil
		}},
	})
	w.Must(err)
	w.wake = r.Wake
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() { r.Run(ctx) })
	ended.Go(func() { w.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		ended.Wait()
	})
	return w
}

// serve is a program in this process.
type serve = func(lines io.Reader, answers io.Writer) error

// plays returns a house bot that answers after a moment.
func plays(name string) serve {
	return func(lines io.Reader, answers io.Writer) error { return house.Run(name, lines, thoughtful{answers}) }
}

type thoughtful struct{ io.Writer }

func (w thoughtful) Write(p []byte) (int, error) {
	time.Sleep(2 * time.Millisecond)
	return w.Writer.Write(p)
}

// gate holds bots back before their moves.
type gate struct {
	mu     sync.Mutex
	closed chan struct{} // nil: open
	held   int           // how many moves have come while it was closed
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = make(chan struct{})
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed != nil {
		close(g.closed)
		g.closed = nil
	}
}

func (g *gate) holds() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held > 0
}

// plays is a bot that plays at random when the gate is open.
func (g *gate) plays(lines io.Reader, answers io.Writer) error {
	return plays("random")(lines, gated{answers, g})
}

type gated struct {
	io.Writer
	*gate
}

func (w gated) Write(p []byte) (int, error) {
	w.mu.Lock()
	closed := w.closed
	if !bytes.Contains(p, []byte("move ")) {
		closed = nil
	}
	if closed != nil {
		w.held++
	}
	w.mu.Unlock()
	if closed != nil {
		<-closed
	}
	return w.Writer.Write(p)
}

// person adds a person and returns a token of theirs.
func (w *world) person(t *testing.T, name string, scope ladder.Scope) (ladder.Person, string) {
	t.Helper()
	p, err := w.Store.People.Add(t.Context(), name, scope == ladder.ScopeAll)
	w.Must(err)
	token, _, err := w.Store.Sessions.AddToken(t.Context(), p.ID, "", scope, time.Time{})
	w.Must(err)
	return p, token
}

// client returns a Connector of a bot that plays at random.
func (w *world) client(token, name string) *remote.Connector {
	return &remote.Connector{ClientOptions: remote.ClientOptions{ServerAddress: remote.ServerAddress{URL: bubble.URL, Dial: w.server.Dial, Token: token}, Bot: name, Serve: plays("random")}}
}

// dial connects a bot without a Connector.
func (w *world) dial(token, name string, header http.Header) (*websocket.Conn, *http.Response, error) {
	header = header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("Authorization", "Bearer "+token)
	return w.server.Dialer().Dial("ws"+strings.TrimPrefix(bubble.URL, "http")+remote.Path+"?instance=aaaaaaaaaaaaaaaaaaaa&bot="+name, header)
}

// version returns the last version of a bot.
func (w *world) version(t *testing.T, name string) ladder.Version {
	t.Helper()
	bot := kit.Get[ladder.Bot](t)(w.Store.Bots.Find(t.Context(), name))
	versions := kit.Get[[]ladder.Version](t)(w.Store.Versions.List(t.Context(), bot.ID, 0, -1))
	return versions[0]
}

// match returns a match and its games. It requires that no bot has a fault, unless one may.
func (w *world) match(t *testing.T, id int64, faults bool) (ladder.Match, []ladder.FinishedGame) {
	t.Helper()
	m := kit.Get[ladder.Match](t)(w.Store.Matches.Find(t.Context(), id))
	list := kit.Get[[]ladder.FinishedGame](t)(w.Store.Matches.Games(t.Context(), id))
	for _, g := range list {
		for _, seat := range g.Seats {
			if seat.Fault != "" && !faults {
				t.Errorf("deal %d, rotation %d, seat %d: %s", g.Deal, g.Rotation, seat.Seat, seat.Fault)
			}
		}
	}
	return m, list
}

// verify verifies the store.
func (w *world) verify(t *testing.T) {
	t.Helper()
	found := kit.Get[[]store.Difference](t)(w.Store.Verify(t.Context(), nil))
	for _, d := range found {
		t.Error(d)
	}
}

// far is a Connector that runs until the end of the test.
type far struct {
	*remote.Connector
	ended  chan error
	states chan remote.ClientEvent
	cancel context.CancelFunc
}

func start(t *testing.T, c *remote.Connector) *far {
	ctx, cancel := context.WithCancel(context.Background())
	f := &far{c, make(chan error, 1), make(chan remote.ClientEvent, 10000), cancel}
	c.OnEvent = func(s remote.ClientEvent) { f.states <- s }
	c.Stderr = io.Discard
	done := make(chan struct{})
	go func() {
		f.ended <- c.Run(ctx)
		close(done)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return f
}

// await returns the next wanted event.
func (f *far) await(t *testing.T, what string, wanted func(remote.ClientEvent) bool) remote.ClientEvent {
	t.Helper()
	for {
		select {
		case s := <-f.states:
			if wanted(s) {
				return s
			}
		case err := <-f.ended:
			t.Fatalf("the client ended while %s was awaited: %v", what, err)
		}
	}
}

func online(s remote.ClientEvent) bool  { return s.Online != nil }
func playing(s remote.ClientEvent) bool { return s.Playing != nil }
func over(s remote.ClientEvent) bool    { return s.Result != nil }

// network is a network between a client and the server that can break.
type network struct {
	to    *bubble.Listener
	limit int // bytes to the client before a connection breaks; 0: none

	mu    sync.Mutex
	conns []net.Conn
	made  int
	shut  bool
	last  []byte        // after which nothing reaches the client until held is closed
	held  chan struct{} // nil: all does
}

var errShut = errors.New("the network is down")

func (n *network) dial(ctx context.Context, kind, address string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.shut {
		return nil, errShut
	}
	c, err := n.to.Dial(ctx, kind, address)
	if err == nil {
		n.made++
		n.conns = append(n.conns, c)
		c = &wire{Conn: c, network: n}
	}
	return c, err
}

// holdAfter holds back what the server sends after a write that ends with a text, until the result is called.
func (n *network) holdAfter(text string) (letGo func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last, n.held = []byte(text), make(chan struct{})
	return sync.OnceFunc(func() { close(n.held) })
}

// cut breaks all connections, and, if for good, all later ones as well.
func (n *network) cut(forGood bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.shut = forGood
	for _, c := range n.conns {
		c.Close()
	}
	n.conns = nil
}

// wire is the client's end of a connection in a network.
type wire struct {
	net.Conn
	*network
	read int
	hold bool
}

// Read implements io.Reader.
func (w *wire) Read(p []byte) (int, error) {
	if w.limit > 0 {
		if w.read == w.limit {
			w.Close()
			return 0, errShut
		}
		p = p[:min(len(p), w.limit-w.read)]
	}
	w.mu.Lock()
	last, held := w.last, w.held
	w.mu.Unlock()
	if w.hold {
		<-held
	}
	n, err := w.Conn.Read(p)
	w.read += n
	w.hold = held != nil && bytes.HasSuffix(p[:n], last)
	return n, err
}

// limitsOf returns limits with a number of seconds to connect again and numbers of bots.
func limitsOf(comeback time.Duration, person, total int) ladder.RemoteLimits {
	return ladder.RemoteLimits{Comeback: comeback * time.Second, Allowance: 700 * time.Millisecond, Person: person, Total: total}
}
