package remote_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/laddertest"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/web/api"
	"github.com/timba-arena/timba/web/remote"
	"github.com/timba-arena/timba/web/seat"
	"github.com/timba-arena/timba/web/seat/seattest"
)

// Whatever carries a bot's lines, its games, its faults and its clock are the same.
func TestConformance(t *testing.T) {
	dir, err := os.MkdirTemp("", "timba-seats-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	program, err := refereetest.Build(dir, "../../sample-bots/misbehave")
	if err != nil {
		t.Fatal(err)
	}
	far := newFarWay(t, "")
	seattest.Run(t, program, []seattest.Way{
		{Name: "process", Bot: func(_ testing.TB, command []string) referee.Bot { return referee.Bot{Command: command} }},
		{Name: "sandbox", Bot: func(_ testing.TB, command []string) referee.Bot {
			level := sandbox.Probe().Level
			return referee.Bot{Command: command, Dir: filepath.Dir(program), Sandbox: &referee.Sandbox{Level: level, Most: level, Limit: sandbox.DefaultLimit}}
		}},
		{Name: "remote bot", Bot: far.bot},
		{Name: "person", Bot: throughSocket},
	})
}

// farWay has a hub with clients.
type farWay struct {
	*remote.Hub
	url, token string
	bots       atomic.Int64
}

// newFarWay returns a hub; limits are further keys of [remote].
func newFarWay(t *testing.T, limits string) *farWay {
	w := laddertest.New(t, "[limits]\nbots = 1000\nversions = 1000\nrequests = 100000\n[remote]\nperson = 1000\naddress = 1000\n"+limits, store.Options{})
	hub := new(events.Hub)
	h := remote.New(remote.Options{Store: w.Store, Limits: w.Config.Remote, Bounds: w.Config.Limits, Events: hub})
	a := api.New(api.Options{Store: w.Store, Config: w.Config})
	srv := httptest.NewServer(a.Pages(h.Handler(a)))
	t.Cleanup(srv.Close)
	t.Cleanup(h.Close)
	p, err := w.Store.AddPerson(t.Context(), "ann", false)
	w.Must(err)
	token, _, err := w.Store.AddToken(t.Context(), p.ID, "", ladder.ScopeSubmit, time.Time{})
	w.Must(err)
	return &farWay{Hub: h, url: srv.URL, token: token}
}

func (w *farWay) bot(t testing.TB, command []string) referee.Bot {
	c := &remote.Client{URL: w.url, Token: w.token, Bot: fmt.Sprintf("far-%d", w.bots.Add(1)), Command: command}
	f := start(t.(*testing.T), c)
	s := f.await(t.(*testing.T), "online", online)
	v, err := w.Store.Bot(t.Context(), s.Online.Bot)
	if err != nil {
		t.Fatal(err)
	}
	all, err := w.Store.Versions(t.Context(), v.ID)
	if err != nil {
		t.Fatal(err)
	}
	return w.Bot(all[0], &ladder.Match{ID: w.bots.Load(), Game: "tebes", Bots: []string{"far", "first"}})
}

// throughSocket is a seat with a socket of its own, as the page of a person has it.
func throughSocket(t testing.TB, command []string) referee.Bot {
	s := seat.New(seat.Options{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := seat.Upgrade(w, r, seat.SocketLimits{}); err == nil {
			s.Attach(seat.Wire{Socket: c})
		}
	}))
	ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(srv.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	page := seat.New(seat.Options{})
	go page.Attach(seat.Wire{Socket: seat.NewSocket(ws, seat.SocketLimits{})})
	cmd := exec.Command(command[0], command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		page.Serve(out, in)
		in.Close()
		io.Copy(io.Discard, out)
		cmd.Wait()
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-done
		ws.Close()
		srv.Close()
	})
	return referee.Bot{Serve: s.Serve}
}
