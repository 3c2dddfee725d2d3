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

// Who is told of what happens may take any time, and leave then: the bot plays on meanwhile.
func TestSlowTell(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, many)
		c := w.client(w.token, "far")
		c.Stderr = io.Discard
		goOn, told, left := make(chan struct{}), 0, false
		c.Tell = func(s remote.State) {
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

// The hub forgets a bot, and its token, when it is away for too long to come back to what it played;
// when it comes later it plays as before.
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
		if since, away := w.Away(v); w.Bots() != 2 || !away || time.Since(since) > w.Config.Remote.Comeback {
			t.Errorf("while it may come back, %d bots are known, and it is away since %s", w.Bots(), since)
		}
		time.Sleep(10 * time.Second)
		if since, away := w.Away(v); w.Bots() != 1 || !away || time.Since(since) < w.Config.Remote.Comeback {
			t.Errorf("later %d bots are known, and it is away since %s", w.Bots(), since)
		}
		start(t, w.client(w.token, "far")).await(t, "online again", online)
		if _, away := w.Away(v); away || w.Bots() != 2 {
			t.Errorf("when it is back %d bots are known; away: %t", w.Bots(), away)
		}
	})
}
