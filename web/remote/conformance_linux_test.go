package remote_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"sync"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/internal/kit/proc"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/web/remote"
	"github.com/timba-arena/timba/web/seat"
	"github.com/timba-arena/timba/web/seat/seattest"
)

// Whatever carries a bot's lines, its games, its faults and its clock are the same.
func TestConformance(t *testing.T) {
	kit.Slow(t)
	program := proc.Program(t, "misbehave")
	far := newWorld(t, many)
	seattest.Run(t, program, []seattest.Way{
		{Name: "process", Bot: func(_ *testing.T, command []string) referee.Bot { return referee.Bot{Command: command} }},
		{Name: "remote bot", Bot: func(t *testing.T, command []string) referee.Bot {
			return far.bot(t, &remote.Client{Command: command})
		}},
		{Name: "person", Bot: func(t *testing.T, command []string) referee.Bot { return throughSocket(t, process(t, command)) }},
	})
}

// many are limits for many bots at the same time.
const many = "person = 1000\naddress = 1000\n"

// A bot that is late is so at the same moment, and in the same words.
func TestLate(t *testing.T) {
	seattest.RunLate(t, []func(*testing.T, seattest.Serve) referee.Bot{
		func(_ *testing.T, serve seattest.Serve) referee.Bot { return referee.Bot{Serve: serve} },
		func(t *testing.T, serve seattest.Serve) referee.Bot {
			return newWorld(t, many).bot(t, &remote.Client{Serve: serve})
		},
		throughSocket,
	})
}

// bot starts a client, and returns its bot for a match.
func (w *world) bot(t *testing.T, c *remote.Client) referee.Bot {
	t.Helper()
	id := w.bots.Add(1)
	c.URL, c.Dial, c.Token, c.Bot = bubble.URL, w.server.Dial, w.token, fmt.Sprintf("far-%d", id)
	f := start(t, c)
	f.await(t, "online", online)
	return w.Bot(w.version(t, c.Bot), &ladder.Match{ID: id, Game: "tebes", Bots: []string{"far", "first"}})
}

// throughSocket returns a program at a seat with a socket of its own, as the page of a person has
// it.
func throughSocket(t *testing.T, serve seattest.Serve) referee.Bot {
	t.Helper()
	s, page := seat.New(seat.Options{}), seat.New(seat.Options{})
	server := bubble.Serve(t, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := seat.Upgrade(w, r, seat.SocketLimits{}); err == nil {
			s.Attach(seat.Wire{Socket: c})
		}
	})})
	ws, _, err := server.Dialer().Dial("ws://timba.example", nil)
	kit.Must(t, err)
	read, write := io.Pipe()
	answers, move := io.Pipe()
	var ended sync.WaitGroup
	ended.Go(func() { page.Attach(seat.Wire{Socket: seat.NewSocket(ws, seat.SocketLimits{})}) })
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
	return referee.Bot{Serve: s.Serve}
}

// process returns a program that is a process.
func process(t *testing.T, command []string) seattest.Serve {
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
