package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/web/remote"
	"github.com/timba-arena/timba/web/server"
)

// remoteLadder is what the remote bots of the benchmark play.
const remoteLadder = `
pause = 0
[limits]
bots = 1000000
versions = 1000000
requests = 1000000
[remote]
person = 1000000
address = 1000000
total = 1000000
allowance = 10000
[[ladder]]
name = "teeko"
game = "teeko"
deals = 2
clock = {movetime = 10000, startup = 60000}
house = ["@random"]
`

// Remote measures remote bots that play at once.
type Remote struct {
	Bots int
}

// remoteBench counts what remote bots do.
type remoteBench struct {
	Remote
	mu      sync.Mutex
	online  int
	playing map[string]bool
	most    int // that played at once
	played  map[string]bool
	arrived chan struct{} // closed when all are online
	done    chan struct{} // closed when all have played
}

// Run connects remote bots to a server, each by its own WebSocket, and lets them play until each has
// played a match.
func (b Remote) Run(ctx context.Context, _ io.Writer) (*Report, error) {
	dir, err := os.MkdirTemp("", "timba-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	c, err := config.Parse("bench", []byte(remoteLadder), house.Registry{})
	if err != nil {
		return nil, err
	}
	c.Sandbox = sandbox.None
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s, err := server.Open(ctx, server.Options{
		Dir: datadir.Dir(dir), Listen: "127.0.0.1:0", Config: c, Level: sandbox.None, Grace: time.Second,
		Cores: slices.Repeat([]int{referee.AnyCore}, max(1, b.Bots/2)), Log: slog.New(slog.DiscardHandler), Version: "bench",
	})
	if err != nil {
		return nil, openFiles(err)
	}
	defer s.Close()
	r := &remoteBench{Remote: b, playing: map[string]bool{}, played: map[string]bool{}, arrived: make(chan struct{}), done: make(chan struct{})}
	began := time.Now()
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel(nil)
	all.Go(func() { cancel(openFiles(s.Serve(ctx))) })
	for i := range b.Bots {
		all.Go(func() { cancel(r.play(ctx, s, fmt.Sprintf("far-%d", i))) })
	}
	connected, err := r.wait(ctx, began)
	if err != nil {
		return nil, err
	}
	t, err := r.table(ctx, s.Store, connected, time.Since(began))
	return newReport(t), err
}

// openFiles adds what to try to the error of a server that could not open one more file.
func openFiles(err error) error {
	if errors.Is(err, syscall.EMFILE) {
		return fewerBots(err)
	}
	return err
}

func fewerBots(err error) error {
	return fmt.Errorf("%w: try fewer --bots, or allow more open files", err)
}

// wait returns how long it took until all were connected, when all have played. A bot or a server
// that ends before has cancelled the context.
func (b *remoteBench) wait(ctx context.Context, began time.Time) (connected time.Duration, err error) {
	for _, c := range []chan struct{}{b.arrived, b.done} {
		select {
		case <-c:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
		if connected == 0 {
			connected = time.Since(began)
		}
	}
	return connected, nil
}

// play is one bot: it plays listed moves in turn until the context ends.
func (b *remoteBench) play(ctx context.Context, s *server.Server, name string) error {
	first, err := house.Find("first")
	if err != nil {
		return err
	}
	c := &remote.Client{
		URL: s.URL(), Token: s.Token, Bot: name, Stderr: io.Discard,
		Serve: func(in io.Reader, out io.Writer) error { return protocol.Serve(in, out, "", "", first.Answer) },
		Tell:  func(state remote.State) { b.tell(name, state) },
	}
	if err := c.Run(ctx); err != nil {
		return fewerBots(fmt.Errorf("bot %s: %w", name, err))
	}
	return nil
}

func (b *remoteBench) tell(name string, s remote.State) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case s.Online != nil:
		if b.online++; b.online == b.Bots {
			close(b.arrived)
		}
	case s.Playing != nil:
		b.playing[name] = true
		b.most = max(b.most, len(b.playing))
	case s.Result != nil:
		delete(b.playing, name)
		if !b.played[name] && len(b.played) == b.Bots-1 {
			close(b.done)
		}
		b.played[name] = true
	}
}

// table tells what has been played in a time.
func (b *remoteBench) table(ctx context.Context, st *store.Store, connected, took time.Duration) (Table, error) {
	t := newTable("remote bots|connected in s|playing at once|matches|games|turns/s|faults")
	matches, err := st.Matches(ctx, store.MatchFilter{State: ladder.Finished, Limit: 100 * b.Bots})
	if err != nil {
		return t, err
	}
	games, turns, faults := 0, 0, 0
	for _, m := range matches {
		list, err := st.Games(ctx, m.ID)
		if err != nil {
			return t, err
		}
		games += len(list)
		for _, g := range list {
			turns += g.Plies
			for _, seat := range g.Seats {
				faults += seat.Faults
			}
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t.add(b.Bots, tenth(connected.Seconds()), b.most, len(matches), games, whole(float64(turns)/took.Seconds()), faults)
	return t, nil
}
