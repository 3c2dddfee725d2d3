package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/text"
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

// remoteBench counts what remote bots do.
type remoteBench struct {
	mu      sync.Mutex
	online  int
	playing map[string]bool
	most    int // that played at once
	played  map[string]int
	arrived chan struct{} // closed when all are online
	done    chan struct{} // closed when all have played
}

// maxRemote is the largest number of remote bots that can be measured.
const maxRemote = 2000

func newBenchRemote() *cobra.Command {
	var bots int
	cmd := &cobra.Command{
		Use:   "remote",
		Short: "Measure remote bots that play at once",
		Long: "Connects remote bots to a server in a temporary directory, each by a WebSocket of its own, and\n" +
			"lets them play rated matches until each has played one: how long it took until all were connected,\n" +
			"how many played at the same time, and the turns a second. Bots and server share the machine.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			writeMachine(cmd.OutOrStdout())
			return benchRemote(cmd, bots)
		},
	}
	cli.NumberFlag(cmd, &bots, "bots", 200, 2, maxRemote, "`NUMBER` of bots")
	return cmd
}

// benchRemote connects that many remote bots to a server, each by its own WebSocket, lets them
// play until each has played a match, and prints a row with what that took.
func benchRemote(cmd *cobra.Command, bots int) error {
	dir, err := os.MkdirTemp("", "timba-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c, err := config.Parse("bench", []byte(remoteLadder), house.Registry{})
	if err != nil {
		return err
	}
	c.Sandbox = sandbox.None
	data := filepath.Join(dir, "arena")
	if err := os.Mkdir(data, 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	s, err := server.Open(ctx, server.Options{
		Dir: datadir.Dir(data), Listen: "127.0.0.1:0", Config: c, Level: sandbox.None, Grace: time.Second,
		Cores: slices.Repeat([]int{referee.AnyCore}, max(1, bots/2)), Log: slog.New(slog.DiscardHandler), Version: cli.Version(),
	})
	if err != nil {
		return openFiles(err)
	}
	defer s.Close()
	b := &remoteBench{playing: map[string]bool{}, played: map[string]int{}, arrived: make(chan struct{}), done: make(chan struct{})}
	began := time.Now()
	var all sync.WaitGroup
	all.Go(func() { cancel(openFiles(s.Serve(ctx))) })
	for i := range bots {
		all.Go(func() { cancel(b.play(ctx, s, fmt.Sprintf("far-%d", i), bots)) })
	}
	connected, err := b.wait(ctx, began)
	if err == nil {
		err = b.report(cmd.OutOrStdout(), s.Store, bots, connected, time.Since(began))
	}
	cancel(nil)
	all.Wait()
	return err
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
func (b *remoteBench) play(ctx context.Context, s *server.Server, name string, bots int) error {
	first, err := house.Find("first")
	if err != nil {
		return err
	}
	c := &remote.Client{
		URL: s.URL(), Token: s.Token, Bot: name, Stderr: io.Discard,
		Serve: func(in io.Reader, out io.Writer) error { return protocol.Serve(in, out, "", "", first.Answer) },
		Tell:  func(state remote.State) { b.tell(name, state, bots) },
	}
	if err := c.Run(ctx); err != nil {
		return fewerBots(fmt.Errorf("bot %s: %w", name, err))
	}
	return nil
}

func (b *remoteBench) tell(name string, s remote.State, bots int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case s.Online != nil:
		if b.online++; b.online == bots {
			close(b.arrived)
		}
	case s.Playing != nil:
		b.playing[name] = true
		b.most = max(b.most, len(b.playing))
	case s.Result != nil:
		delete(b.playing, name)
		if b.played[name]++; b.played[name] == 1 && len(b.played) == bots {
			close(b.done)
		}
	}
}

func (b *remoteBench) report(w io.Writer, st *store.Store, bots int, connected, took time.Duration) error {
	matches, err := st.Matches(context.Background(), store.MatchFilter{State: ladder.Finished, Limit: 100 * bots})
	if err != nil {
		return err
	}
	games, turns, faults := 0, 0, 0
	for _, m := range matches {
		list, err := st.Games(context.Background(), m.ID)
		if err != nil {
			return err
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
	t := text.Table(w)
	t.AppendHeader(table.Row{"remote", "connected in", "playing at once", "matches", "games", "turns/s", "faults"})
	t.AppendRow(table.Row{fmt.Sprintf("%d bots", bots), fmt.Sprintf("%.1f s", connected.Seconds()), b.most, len(matches), games, fmt.Sprintf("%.0f", float64(turns)/took.Seconds()), faults})
	t.Render()
	return nil
}
