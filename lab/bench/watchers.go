package bench

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/rules/teeko"
	"github.com/timba-arena/timba/web/admission"
	"github.com/timba-arena/timba/web/live"
	"github.com/timba-arena/timba/web/socket"
)

// Watchers measures what those who watch a game cost the match.
type Watchers struct {
	Sockets int           // that watch one match
	Rounds  int           // each is a slice of time with them and one without them
	Time    time.Duration // of a slice
}

// watchersBench is a measurement.
type watchersBench struct {
	Watchers
	turns, messages, bytes atomic.Int64
	conns                  []*websocket.Conn
}

// Run plays a match of Teeko between two processes of @first on one core, and measures how fast it
// goes while sockets watch it and while they do not, in turn. The sockets and their clients share
// the machine with it.
func (c Watchers) Run(ctx context.Context, _ io.Writer) (*Report, error) {
	bot, err := findBot(ctx, "@first")
	if err != nil {
		return nil, err
	}
	b := &watchersBench{Watchers: c}
	limits := live.DefaultLimits(c.Sockets)
	limits.Address = c.Sockets
	dir, err := os.MkdirTemp("", "timba-watchers-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	none, err := store.Open(dir, store.Options{Server: true}) // the match is not in it: it does not end
	if err != nil {
		return nil, err
	}
	defer none.Close()
	hub := live.NewHub(live.Options{Store: none, Limits: limits})
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go hub.Run(ctx)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := hub.Serve(admission.By{}, func(l socket.Limits) (*socket.Conn, error) { return socket.Upgrade(w, r, l) })
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	match, err := b.match(hub, bot)
	if err != nil {
		return nil, err
	}
	var playing sync.WaitGroup
	playing.Go(func() { cancel(fmt.Errorf("the match has ended: %w", match.Play(ctx))) })
	defer playing.Wait()
	defer cancel(nil)
	memory, err := b.connect(hub, "ws"+strings.TrimPrefix(server.URL, "http"))
	if err != nil {
		return nil, err
	}
	stop := b.read()
	defer stop()
	with, without, err := b.slices(ctx)
	if err != nil {
		return nil, err
	}
	t := newTable("watchers|turns/s with|turns/s without|ratio|messages|MiB|KiB each")
	t.add(c.Sockets, whole(with), whole(without), hundredth(with/without),
		b.messages.Load(), b.bytes.Load()>>20, tenth(float64(memory)/1024))
	return newReport(t), nil
}

// slices returns the turns a second in slices of time with watchers and without them, in turn.
func (b *watchersBench) slices(ctx context.Context) (with, without float64, err error) {
	if err := until(ctx, &b.turns, 1); err != nil {
		return 0, 0, err
	}
	for range b.Rounds {
		alone, err := b.slice(ctx)
		if err != nil {
			return 0, 0, err
		}
		had := b.messages.Load()
		if err := b.ask("watch"); err != nil {
			return 0, 0, err
		}
		if err := until(ctx, &b.messages, had+int64(b.Sockets)); err != nil {
			return 0, 0, err
		}
		watched, err := b.slice(ctx)
		if err != nil {
			return 0, 0, err
		}
		if err := b.ask("leave"); err != nil {
			return 0, 0, err
		}
		with += watched / float64(b.Rounds)
		without += alone / float64(b.Rounds)
	}
	return with, without, nil
}

// match returns a match that is longer than the measurement.
func (b *watchersBench) match(hub *live.Hub, bot match.Bot) (*match.Match, error) {
	m, err := newMatch(teeko.Game, bot)
	if err != nil {
		return nil, err
	}
	m.Deals = 1 << 30
	info := &ladder.Match{ID: 1, Game: teeko.Game.Name, Options: m.Variant.Settings.Map(), Bots: []string{"a", "b"}, Versions: []int64{1, 2}, Deals: m.Deals}
	position, _ := hub.Watch(info)
	m.Watch = func(g *referee.Game) {
		if !g.Ended() {
			b.turns.Add(1)
		}
		position(g)
	}
	return m, nil
}

// connect connects all sockets, and returns the memory of one.
func (b *watchersBench) connect(hub *live.Hub, url string) (int64, error) {
	before := inUse()
	dialer := websocket.Dialer{ReadBufferSize: 256, WriteBufferSize: 256, WriteBufferPool: new(sync.Pool), NetDial: net.Dial}
	for range b.Sockets {
		c, _, err := dialer.Dial(url, nil)
		if err != nil {
			return 0, fmt.Errorf("socket %d: %w", len(b.conns)+1, err)
		}
		b.conns = append(b.conns, c)
	}
	if lost := b.Sockets - hub.Sockets(); lost > 0 { // it has them before it answers
		return 0, fmt.Errorf("%d of %d sockets have been lost: try fewer --watchers", lost, b.Sockets)
	}
	return (inUse() - before) / int64(b.Sockets), nil
}

// inUse returns the bytes of heap and stacks in use.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// read counts what all sockets get, until stop is called.
func (b *watchersBench) read() (stop func()) {
	var all sync.WaitGroup
	for _, c := range b.conns {
		all.Go(func() {
			for {
				_, message, err := c.NextReader()
				if err != nil {
					return
				}
				n, err := io.Copy(io.Discard, message)
				if err != nil {
					return
				}
				b.messages.Add(1)
				b.bytes.Add(n)
			}
		})
	}
	return func() {
		for _, c := range b.conns {
			c.Close()
		}
		all.Wait()
	}
}

// ask makes all sockets watch the match, or leave it.
func (b *watchersBench) ask(verb string) error {
	text := fmt.Sprintf(`{%q:"match/1"}`, verb)
	for _, c := range b.conns {
		if err := c.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
			return fmt.Errorf("a socket that watches has ended: %w", err)
		}
	}
	return nil
}

// until waits until a counter is as high as n.
func until(ctx context.Context, counter *atomic.Int64, n int64) error {
	for counter.Load() < n {
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// slice returns the turns a second in a slice of time, some time after a change.
func (b *watchersBench) slice(ctx context.Context) (float64, error) {
	if err := pause(ctx, 500*time.Millisecond); err != nil {
		return 0, err
	}
	began, turns := time.Now(), b.turns.Load()
	if err := pause(ctx, b.Time); err != nil {
		return 0, err
	}
	return float64(b.turns.Load()-turns) / time.Since(began).Seconds(), nil
}
