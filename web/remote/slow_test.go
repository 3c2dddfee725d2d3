package remote_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/remote"
)

// OnEvent may take any time, and may call Leave; the bot continues to play meanwhile.
func TestSlowTell(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, many)
		c := w.client(w.token, "far")
		c.Stderr = io.Discard
		goOn, told, left := make(chan struct{}), 0, false
		c.OnEvent = func(s remote.ClientEvent) {
			if told++; told == 1 {
				<-goOn
				c.Leave()
			}
			left = left || s.Leaving
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		t.Cleanup(cancel)
		bubble.Settle()
		v := w.version(t, "far")
		const matches = 200
		for i := range int64(matches) {
			var s session
			s.begin(t, w.Bot(v, &ladder.Match{ID: i + 1, Game: "tebes", Bots: []string{"far", "first"}}).Serve)
			s.greet(t)
			s.end(t)
		}
		close(goOn)
		if err := <-ended; err != nil {
			t.Errorf("after Leave: %v", err)
		}
		if told != matches+2 || !left {
			t.Errorf("it was told %d times; of leaving: %t", told, left)
		}
	})
}

// The registry forgets a bot and its token after it has been away for too long to resume its sessions. If it
// connects later, it plays as before.
func TestForgets(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, many)
		go w.Run(t.Context())
		stays, far := start(t, w.client(w.token, "stays")), start(t, w.client(w.token, "far"))
		stays.await(t, "online", online)
		far.await(t, "online", online)
		far.cancel()
		time.Sleep(w.Config.Remote.Comeback - time.Second)
		v := w.version(t, "far").ID
		if w.Bots() != 2 || w.IsReady(v) || w.IsGone(v) {
			t.Errorf("while it may come back, %d bots are known; ready: %t, gone: %t", w.Bots(), w.IsReady(v), w.IsGone(v))
		}
		time.Sleep(10 * time.Second)
		if w.Bots() != 1 || w.IsReady(v) || !w.IsGone(v) {
			t.Errorf("later %d bots are known; ready: %t, gone: %t", w.Bots(), w.IsReady(v), w.IsGone(v))
		}
		start(t, w.client(w.token, "far")).await(t, "online again", online)
		if w.Bots() != 2 || !w.IsReady(v) || w.IsGone(v) {
			t.Errorf("when it is back %d bots are known; ready: %t, gone: %t", w.Bots(), w.IsReady(v), w.IsGone(v))
		}
	})
}

// A bot is reserved for one match at a time. If it leaves during the match, it gets the frame Left after the
// match, and is not forgotten before.
func TestReserve(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, many)
		go w.Run(t.Context())
		f := start(t, w.client(w.token, "far"))
		f.await(t, "online", online)
		v := w.version(t, "far").ID
		if w.Reserve(v+1) || !w.IsReady(v) || !w.Reserve(v) || w.IsReady(v) || w.Reserve(v) {
			t.Fatal("it is not reserved once")
		}
		w.Release(v)
		if !w.Reserve(v) {
			t.Fatal("it is not reserved again")
		}
		f.Leave()
		f.await(t, "leaving", func(s remote.ClientEvent) bool { return s.Leaving })
		bubble.Settle()
		if len(f.ended) > 0 {
			t.Fatal("it has left while it is reserved")
		}
		w.Release(v)
		if err := <-f.ended; err != nil || w.Reserve(v) {
			t.Errorf("it has left with %v, or is reserved after that", err)
		}
		again := start(t, w.client(w.token, "far"))
		again.await(t, "online again", online)
		if !w.Reserve(v) {
			t.Error("when it is back it is not reserved")
		}
		again.cancel()
		time.Sleep(2 * w.Config.Remote.Comeback)
		w.Release(v)
	})
}
