// Package livebench measures what those who watch a game cost the match.
package livebench

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules/teeko"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/web/live"
)

// Config says what is measured.
type Config struct {
	Watchers int           // sockets that watch one match
	Rounds   int           // each is a slice of time with them and one without them
	Time     time.Duration // of a slice
}

// Check returns an error if nothing can be measured.
func (c Config) Check() error {
	switch {
	case c.Watchers < 1 || c.Watchers > 10_000:
		return fmt.Errorf("watchers cannot be %d: try 1 to 10000", c.Watchers)
	case c.Rounds < 1:
		return fmt.Errorf("rounds cannot be %d: try 5", c.Rounds)
	case c.Time < 100*time.Millisecond:
		return fmt.Errorf("time cannot be %s: try 1s", c.Time)
	}
	return nil
}

// Result is what was measured.
type Result struct {
	With, Without float64 // turns a second
	Messages      int64   // that the sockets got
	Bytes         int64   // of them
	Memory        int64   // bytes of heap and stacks for one socket, its end at the client included
}

// Ratio returns the speed with watchers as a part of that without.
func (r Result) Ratio() float64 { return r.With / r.Without }

// noStore is for a hub whose match does not end.
type noStore struct{}

func (noStore) Match(context.Context, int64) (ladder.Match, error) {
	return ladder.Match{}, ladder.Errorf(ladder.NotFound, "", "there are no matches")
}

// topic is that of the match.
const topic = "match/1"

// bench is a measurement.
type bench struct {
	Config
	turns, messages, bytes atomic.Int64
	conns                  []*websocket.Conn
}

// Run plays a match of Teeko between two processes of a bot on one core, and measures how fast it
// goes while sockets watch it and while they do not, in turn. The sockets and their clients share
// the machine with it.
func Run(ctx context.Context, c Config, bot referee.Bot) (r Result, err error) {
	b := &bench{Config: c}
	limits := config.Default(house.Registry{}).Live
	limits.Total, limits.Address = c.Watchers, c.Watchers
	hub := live.NewHub(live.Options{Store: noStore{}, Events: new(events.Hub), Limits: limits})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go hub.Run(ctx)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := hub.Serve(w, r, 0, netip.Addr{}); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	match, err := b.match(hub, bot)
	if err != nil {
		return r, err
	}
	played := make(chan error, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		played <- match.Play(ctx)
	}()
	defer func() {
		cancel()
		<-ended
	}()
	if r.Memory, err = b.connect(hub, "ws"+strings.TrimPrefix(server.URL, "http")); err != nil {
		return r, err
	}
	stop := b.read()
	defer stop()
	if err := b.until(ctx, played, &b.turns, 1); err != nil {
		return r, err
	}
	for range c.Rounds {
		without, err := b.slice(ctx, played)
		if err != nil {
			return r, err
		}
		had := b.messages.Load()
		if err := b.ask("watch"); err != nil {
			return r, err
		}
		if err := b.until(ctx, played, &b.messages, had+int64(c.Watchers)); err != nil {
			return r, err
		}
		with, err := b.slice(ctx, played)
		if err != nil {
			return r, err
		}
		if err := b.ask("leave"); err != nil {
			return r, err
		}
		r.With += with / float64(c.Rounds)
		r.Without += without / float64(c.Rounds)
	}
	r.Messages, r.Bytes = b.messages.Load(), b.bytes.Load()
	return r, nil
}

// match returns a match that is longer than the measurement.
func (b *bench) match(hub *live.Hub, bot referee.Bot) (*referee.Match, error) {
	v, err := teeko.Game.Resolve(nil)
	if err != nil {
		return nil, err
	}
	info := &ladder.Match{ID: 1, Game: teeko.Game.Name, Options: v.Settings.Map(), Bots: []string{"a", "b"}, Versions: []int64{1, 2}, Deals: 1 << 30}
	w := hub.Watch(info, nil)
	bots := []referee.Bot{bot, bot}
	bots[0].Name, bots[1].Name = "a", "b"
	core := referee.AnyCore
	if cores := referee.Cores(); len(cores) > 0 {
		core = cores[0]
	}
	return &referee.Match{
		Variant: v, Bots: bots, Deals: info.Deals, Clock: referee.DefaultClock, Seed: referee.NewSeed(), Workers: []int{core},
		Watch: func(g *referee.Game) {
			if !g.Ended() {
				b.turns.Add(1)
			}
			w.Position(g)
		},
	}, nil
}

// connect connects all sockets, and returns the memory of one.
func (b *bench) connect(hub *live.Hub, url string) (int64, error) {
	before := inUse()
	dialer := websocket.Dialer{ReadBufferSize: 256, WriteBufferSize: 256, WriteBufferPool: new(sync.Pool), NetDial: net.Dial}
	for range b.Watchers {
		c, _, err := dialer.Dial(url, nil)
		if err != nil {
			return 0, fmt.Errorf("socket %d: %w", len(b.conns)+1, err)
		}
		b.conns = append(b.conns, c)
	}
	if lost := b.Watchers - hub.Sockets(); lost > 0 { // it has them before it answers
		return 0, fmt.Errorf("%d of %d sockets have been lost: try fewer --watchers", lost, b.Watchers)
	}
	return (inUse() - before) / int64(b.Watchers), nil
}

// inUse returns the bytes of heap and stacks in use.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// read counts what all sockets get, until stop is called.
func (b *bench) read() (stop func()) {
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
func (b *bench) ask(verb string) error {
	text := fmt.Sprintf(`{%q:%q}`, verb, topic)
	for _, c := range b.conns {
		if err := c.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
			return fmt.Errorf("a socket that watches has ended: %w", err)
		}
	}
	return nil
}

// settle is how long nothing is measured after a change.
const settle = 500 * time.Millisecond

// wait waits, unless the measurement or the match ends.
func wait(ctx context.Context, played <-chan error, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case err := <-played:
		return fmt.Errorf("the match has ended: %w", err)
	}
}

// until waits until a counter is as high as n.
func (b *bench) until(ctx context.Context, played <-chan error, counter *atomic.Int64, n int64) error {
	for counter.Load() < n {
		if err := wait(ctx, played, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// slice returns the turns a second in a slice of time.
func (b *bench) slice(ctx context.Context, played <-chan error) (float64, error) {
	if err := wait(ctx, played, settle); err != nil {
		return 0, err
	}
	began, turns := time.Now(), b.turns.Load()
	if err := wait(ctx, played, b.Time); err != nil {
		return 0, err
	}
	return float64(b.turns.Load()-turns) / time.Since(began).Seconds(), nil
}

// Bot returns the house bot @first as a process of this program.
func Bot() (referee.Bot, error) {
	exe, err := os.Executable()
	return referee.Bot{Name: "@first", Command: []string{exe, "bot", "first"}, Hash: strings.Repeat("0", 64)}, err
}
