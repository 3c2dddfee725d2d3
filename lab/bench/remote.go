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
	"github.com/timba-arena/timba/referee/cores"
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
total = 1000000
allowance = "10s"
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

// Run connects remote bots to a server, each by its own WebSocket, and lets them play until each has
// played a match.
func (b Remote) Run(ctx context.Context, _ io.Writer) (*Report, error) {
	dir, err := os.MkdirTemp("", "timba-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	c, err := config.Parse("bench", []byte(remoteLadder))
	if err != nil {
		return nil, err
	}
	c.Sandbox = sandbox.None
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s, err := server.Open(ctx, server.Options{
		Dir: datadir.Dir(dir), Listen: "127.0.0.1:0", Config: c, Level: sandbox.None, Grace: time.Second,
		Cores: slices.Repeat([]int{cores.Any}, max(1, b.Bots/2)), Log: slog.New(slog.DiscardHandler), Version: "bench",
	})
	if err != nil {
		return nil, openFiles(err)
	}
	defer s.Close()
	began := time.Now()
	states := make(chan remoteState)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel(nil)
	all.Go(func() { cancel(openFiles(s.Serve(ctx))) })
	for i := range b.Bots {
		all.Go(func() { cancel(runRemote(ctx, s, fmt.Sprintf("far-%d", i), states)) })
	}
	connected, most, err := b.follow(ctx, states)
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	games, turns, faults := 0, 0, 0
	matches, err := s.Store.Matches(ctx, store.MatchFilter{State: ladder.Finished, Limit: 100 * b.Bots})
	if err != nil {
		return nil, err
	}
	for _, m := range matches {
		list, err := s.Store.Games(ctx, m.ID)
		if err != nil {
			return nil, err
		}
		games += len(list)
		for _, g := range list {
			turns += g.Plies
			for _, seat := range g.Seats {
				faults += seat.Faults
			}
		}
	}
	t := newTable("remote bots|connected in s|playing at once|matches|games|turns/s|faults")
	t.add(b.Bots, tenth(connected.Sub(began).Seconds()), most, len(matches), games, whole(float64(turns)/took.Seconds()), faults)
	return newReport(t), nil
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

// remoteState is what a bot tells.
type remoteState struct {
	bot   string
	state remote.State
}

// follow reads what bots tell until all have played. It returns when all were connected, and how many
// have played at the same time. A bot or a server that ends before has cancelled the context.
func (b Remote) follow(ctx context.Context, states <-chan remoteState) (connected time.Time, most int, err error) {
	online, playing, played := 0, map[string]bool{}, map[string]bool{}
	for len(played) < b.Bots {
		select {
		case <-ctx.Done():
			return connected, most, context.Cause(ctx)
		case s := <-states:
			switch {
			case s.state.Online != nil:
				if online++; online == b.Bots {
					connected = time.Now()
				}
			case s.state.Playing != nil:
				playing[s.bot] = true
				most = max(most, len(playing))
			case s.state.Result != nil:
				delete(playing, s.bot)
				played[s.bot] = true
			}
		}
	}
	return connected, most, nil
}

// runRemote runs one bot: it plays listed moves in turn until the context ends.
func runRemote(ctx context.Context, s *server.Server, name string, states chan<- remoteState) error {
	first, err := house.Find("first")
	if err != nil {
		return err
	}
	c := &remote.Client{
		URL: s.URL(), Token: s.Token, Bot: name, Stderr: io.Discard,
		Serve: func(in io.Reader, out io.Writer) error { return protocol.Serve(in, out, "", "", first.Answer) },
		Tell: func(state remote.State) {
			select {
			case states <- remoteState{name, state}:
			case <-ctx.Done():
			}
		},
	}
	if err := c.Run(ctx); err != nil {
		return fewerBots(fmt.Errorf("bot %s: %w", name, err))
	}
	return nil
}
