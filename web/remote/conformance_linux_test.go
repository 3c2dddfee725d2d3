package remote_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/binaries"
	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/sample-bots/misbehave/faults"
	"github.com/timba-arena/timba/web/remote"
	"github.com/timba-arena/timba/web/socket"
)

// acts are ways to misbehave at a seat, one for each way in which lines can end or break. The tests of the
// referee cover all others, and TestLate covers late answers.
var acts = []string{"exit-at-start", "illegal", "nul", "long-line", "unasked", "exit-3"}

// A bot's games and faults do not depend on what carries its lines.
func TestConformance(t *testing.T) {
	// limit: remote.allowance, remote.comeback
	kit.Slow(t)
	program := binaries.Program(t, "misbehave")
	far := newWorld(t, many)
	for _, name := range acts {
		f, ok := faults.Find(name)
		if !ok {
			t.Fatalf("fault %q does not exist", name)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := []string{program, "--fault", f.Name, "--at=4"}
			want := play(t, match.Contestant{Command: command})
			if len(want.Faults) != 1 || want.Faults[0].Code != f.Code {
				t.Fatalf("process: faults %v, want %s", want.Faults, f.Code)
			}
			compare(t, "remote bot", play(t, far.bot(t, &remote.Connector{ClientOptions: remote.ClientOptions{Command: command}})), want)
			compare(t, "person", play(t, throughSocket(t, process(t, command))), want)
		})
	}
}

// A bot that answers too late, or never, is late at the same moment and with the same text in all ways.
func TestLate(t *testing.T) {
	ways := []func(*testing.T, serve) match.Contestant{
		func(_ *testing.T, serve serve) match.Contestant { return match.Contestant{Serve: serve} },
		func(t *testing.T, serve serve) match.Contestant {
			return newWorld(t, many).bot(t, &remote.Connector{ClientOptions: remote.ClientOptions{Serve: serve}})
		},
		throughSocket,
	}
	for name, thinks := range map[string]time.Duration{"late": 2 * time.Minute, "silent": 1000 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble.Run(t, func(t *testing.T) {
				ended := make(chan struct{})
				defer close(ended)
				serve := func(in io.Reader, out io.Writer) error {
					turns := 0
					return protocol.Serve(in, out, "", "", func(turn *protocol.Turn) protocol.Answer {
						if turns++; turns == 3 {
							select {
							case <-time.After(thinks):
							case <-ended:
							}
						}
						return protocol.Answer{Move: []byte(turn.Moves.Strings()[0])}
					})
				}
				var want *referee.GameResult
				for i, way := range ways {
					b := way(t, serve)
					began := time.Now()
					got := play(t, b)
					if i == 0 {
						want = got
					}
					if len(got.Faults) != 1 || got.Faults[0].Code != protocol.Timeout || time.Since(began) < time.Minute+time.Second {
						t.Fatalf("way %d: faults %v after %v", i, got.Faults, time.Since(began))
					}
					compare(t, fmt.Sprintf("way %d", i), got, want)
				}
			})
		})
	}
}

// throughSocket returns a program at a seat whose lines go through a WebSocket of its own, like those of a
// person's page.
func throughSocket(t *testing.T, serve serve) match.Contestant {
	t.Helper()
	s, page := socket.NewLineStream(socket.LineStreamOptions{}), socket.NewLineStream(socket.LineStreamOptions{})
	server := bubble.Serve(t, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := socket.Upgrade(w, r, socket.Limits{}); err == nil {
			s.Attach(c)
		}
	})})
	ws, _, err := server.Dialer().Dial("ws://timba.example", nil)
	kit.Must(t, err)
	read, write := io.Pipe()
	answers, move := io.Pipe()
	var ended sync.WaitGroup
	ended.Go(func() { page.Attach(socket.NewConn(ws, socket.Limits{})) })
	ended.Go(func() {
		err := serve(read, move)
		read.CloseWithError(io.ErrClosedPipe)
		move.CloseWithError(err)
	})
	ended.Go(func() {
		page.Serve(answers, write)
		write.Close()
		answers.Close()
	})
	t.Cleanup(func() {
		page.Close(nil)
		ws.Close()
		ended.Wait()
	})
	return match.Contestant{Serve: s.Serve}
}

// process returns a program that runs as a process.
func process(t *testing.T, command []string) serve {
	return func(lines io.Reader, answers io.Writer) error {
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		in, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		cmd.Stdout = answers
		if err := cmd.Start(); err != nil {
			return err
		}
		go func() {
			io.Copy(in, lines)
			in.Close()
		}()
		if err := cmd.Wait(); err != nil {
			return err
		}
		return errors.New(cmd.ProcessState.String())
	}
}

// play plays one game of the bot at seat 0 against a bot that plays the first legal move.
func play(t *testing.T, b match.Contestant) *referee.GameResult {
	t.Helper()
	b.Name = "tested"
	m := match.Match{
		Variant: refereetest.Variant(t, "tebes", "size=4"),
		Clock:   referee.Clock{Move: time.Minute, Margin: time.Second, Startup: time.Minute},
		Bots:    []match.Contestant{b, {Name: "first", Serve: plays("first"), Untimed: true}},
	}
	return kit.Get[*referee.GameResult](t)(m.PlayGame(t.Context()))
}

// compare compares everything that does not depend on how lines travel. How a process has ended is known by
// its exit status in one way, and from its client in another.
func compare(t *testing.T, way string, got, want *referee.GameResult) {
	t.Helper()
	if len(got.Faults) != len(want.Faults) {
		t.Errorf("%s: faults %v, want %v", way, got.Faults, want.Faults)
		return
	}
	for i, f := range got.Faults {
		w := want.Faults[i]
		if f.Seat != w.Seat || f.Ply != w.Ply || f.Code != w.Code || f.Code != protocol.Exit && f.Code != protocol.Startup && f.Text != w.Text {
			t.Errorf("%s: %v at ply %d, want %v at ply %d", way, &f, f.Ply, &w, w.Ply)
		}
	}
	if !slices.Equal(got.Ranks, want.Ranks) || !slices.EqualFunc(got.Moves, want.Moves, func(a, b referee.ReplayMove) bool {
		return a.Seat == b.Seat && a.Move == b.Move && a.StandIn == b.StandIn
	}) {
		t.Errorf("%s: ranks %v, moves %v, want %v, %v", way, got.Ranks, got.Moves, want.Ranks, want.Moves)
	}
}
