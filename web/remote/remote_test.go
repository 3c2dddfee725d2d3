package remote_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/web/remote"
)

// A remote bot plays rated matches against house bots, and keeps its rating when it connects again.
func TestPlays(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newPlayed(t, limitsOf(30, 3, 10))
		f := start(t, w.client(w.token, "far"))
		if s := f.await(t, "online", online); s.Online.Version != 1 || s.Online.Allowance != 700 || s.Online.Comeback != 30 {
			t.Errorf("online as %+v", s.Online)
		}
		s := f.await(t, "a result", over)
		m, list := w.match(t, s.Result.Match, false)
		if m.State != ladder.Finished || !m.Reason.IsZero() || len(list) != 4 || m.Clock.Margin != 750*time.Millisecond || s.Result.After == 0 {
			t.Errorf("match %+v has %d games, and the client was told %+v", m, len(list), s.Result)
		}
		f.Leave()
		if err := <-f.ended; err != nil {
			t.Fatalf("after Leave: %v", err)
		}
		table := kit.Get[[]ladder.Standing](t)(w.Store.Ladders.Standings(t.Context(), "tebes"))
		i := slices.IndexFunc(table, func(s ladder.Standing) bool { return s.Bot == "far" })
		if i < 0 || !table[i].Remote || table[i].Matches == 0 {
			t.Fatalf("the standings are %+v", table)
		}
		again := w.client(w.token, "far")
		again.SingleMatch = true
		f = start(t, again)
		if s := f.await(t, "online again", online); s.Online.Version != 1 {
			t.Errorf("online as %+v", s.Online)
		}
		s = f.await(t, "another result", over)
		if s.Result.Before != table[i].Elo {
			t.Errorf("the rating begins anew: %+v", s.Result)
		}
		if err := <-f.ended; err != nil {
			t.Errorf("after one match: %v", err)
		}
		fresh := w.client(w.token, "far")
		fresh.NewVersion, fresh.Label, fresh.Games = true, "2.0", []string{"tebes"}
		f = start(t, fresh)
		s = f.await(t, "a new version", online)
		if v := w.version(t, "far"); s.Online.Version != 2 || v.Number != 2 || v.Label != "2.0" || !slices.Equal(v.Games, []string{"tebes"}) {
			t.Errorf("online as %+v, and the version is %+v", s.Online, v)
		}
		w.verify(t)
	})
}

// A bot that leaves while a match with it is starting, of which it does not know yet, plays that match first.
func TestLeavesWhileMatched(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newPlayed(t, limitsOf(30, 3, 10))
		p := &network{to: w.server, limit: 0}
		letGo := p.holdAfter("}}\n") // the end of the welcome
		defer letGo()
		c := w.client(w.token, "far")
		c.Dial = p.dial
		f := start(t, c)
		f.await(t, "online", online)
		var match int64
		bubble.Until(t, "a match has begun", func() bool {
			list, err := w.Store.Matches.ListRunning(t.Context())
			w.Must(err)
			for _, r := range list {
				match = r.Match
			}
			return match != 0
		})
		f.Leave()
		f.await(t, "leaving", func(s remote.ClientEvent) bool { return s.Leaving })
		time.Sleep(5 * time.Second)
		select {
		case err := <-f.ended:
			t.Fatalf("the client ended while match %d began: %v", match, err)
		default:
		}
		letGo()
		if s := f.await(t, "the match", playing); s.Playing.Match != match {
			t.Errorf("it plays %+v, not match %d", s.Playing, match)
		}
		if s := f.await(t, "the result", over); s.Result.Match != match {
			t.Errorf("it was told %+v, not of match %d", s.Result, match)
		}
		if err := <-f.ended; err != nil {
			t.Errorf("after Leave: %v", err)
		}
		m, list := w.match(t, match, false)
		if m.State != ladder.Finished || !m.Reason.IsZero() || len(list) != 4 {
			t.Errorf("match %+v has %d games", m, len(list))
		}
	})
}

// Connections that break in the middle of games, many times, have no effect on the games.
func TestComesBack(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newPlayed(t, limitsOf(60, 3, 10))
		p := &network{to: w.server, limit: 3000}
		c := w.client(w.token, "far")
		c.Dial = p.dial
		c.SingleMatch = true
		f := start(t, c)
		s := f.await(t, "a result", over)
		m, list := w.match(t, s.Result.Match, false)
		if !m.Reason.IsZero() || len(list) != 4 {
			t.Errorf("match %+v has %d games", m, len(list))
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.made < 3 {
			t.Errorf("there were %d connections: nothing broke", p.made)
		}
	})
}

// A bot that does not connect again loses the current game. The rest of the match is not played; other bots
// continue, and so does this bot once it is back.
func TestLost(t *testing.T) {
	// limit: remote.allowance, remote.comeback
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newPlayed(t, limitsOf(1, 3, 10))
		p := &network{to: w.server, limit: 0}
		var g gate
		t.Cleanup(g.open)
		c := w.client(w.token, "far")
		c.Serve = g.plays
		c.Dial = p.dial
		f := start(t, c)
		f.await(t, "a first result", over) // without a break
		g.close()
		bubble.Until(t, "a match is held", g.holds)
		p.cut(true)
		cut := time.Now()
		running, err := w.Store.Matches.ListRunning(t.Context())
		w.Must(err)
		if len(running) != 1 {
			t.Fatalf("%+v are running, want the match that is held", running)
		}
		match := running[0].Match
		bubble.Until(t, "the match has ended", func() bool {
			m := kit.Get[ladder.Match](t)(w.Store.Matches.Find(t.Context(), match))
			return m.State == ladder.Finished
		})
		if took := time.Since(cut); took < time.Second || took > 2*time.Second {
			t.Errorf("with a second to come back the match ends after %v", took)
		}
		m, list := w.match(t, match, true)
		if !strings.Contains(m.Reason.String(), "far lost the connection") || len(list) == 0 || len(list) >= 4 || m.DistinctDeals < 1 || m.DistinctDeals > 2 {
			t.Errorf("match %+v has %d games", m, len(list))
		}
		replay, err := w.Store.Matches.Replay(t.Context(), list[len(list)-1].ID)
		w.Must(err)
		if !bytes.Contains(replay, []byte(fault.ConnectionLost)) {
			t.Errorf("the last game is %s", replay)
		}
		v, err := w.Store.Versions.Find(t.Context(), m.Versions[slices.Index(m.Bots, "far")])
		w.Must(err)
		if v.State != ladder.Live {
			t.Errorf("the version is %s", v.State)
		}
		g.open()
		p.cut(false)
		f.await(t, "online again", online)
		f.await(t, "another result", func(s remote.ClientEvent) bool { return s.Result != nil && s.Result.Match != match })
		f.Leave()
		<-f.ended
		w.verify(t)
	})
}

// A match that a person has requested waits for an absent bot, and is dropped if the bot does not come back.
func TestAskedWhileAway(t *testing.T) {
	// limit: remote.comeback
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		const comeback = 30
		w := newPlayed(t, limitsOf(comeback, 3, 10))
		f := start(t, w.client(w.token, "far"))
		f.await(t, "online", online)
		v, random := w.version(t, "far"), w.version(t, "@random")
		f.cancel()
		bubble.Until(t, "the bot is away", func() bool { return !w.Online(v.ID) })
		berta, _ := w.person(t, "berta", ladder.ScopeSubmit)
		asked := kit.Get[ladder.Match](t)(w.Store.Matches.Add(t.Context(), store.NewMatch{
			Versions: []int64{random.ID, v.ID}, Game: "tebes", Clock: w.Config.Ladders[0].Clock, Deals: 1, RequestedBy: berta.ID,
		}))
		time.Sleep((comeback - 1) * time.Second)
		if m, _ := w.match(t, asked.ID, false); m.State != ladder.Waiting {
			t.Errorf("while the bot may come back the match is %s", m.State)
		}
		time.Sleep(10 * time.Second)
		if m, _ := w.match(t, asked.ID, false); m.State != ladder.Dropped || m.Reason.String() != "cancelled: version 1 of far is not connected" {
			t.Errorf("later the match is %s: %s", m.State, m.Reason)
		}
	})
}

// When a person is blocked, the person's bot and its match end at once; others continue.
func TestBlocked(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newPlayed(t, limitsOf(60, 3, 10))
		p, token := w.person(t, "ben", ladder.ScopeSubmit)
		_, admin := w.person(t, "root", ladder.ScopeAll)
		var g gate
		g.close()
		t.Cleanup(g.open)
		c := w.client(token, "far")
		c.Serve = g.plays
		f := start(t, c)
		s := f.await(t, "a match", playing)
		r, err := http.NewRequest(http.MethodPut, bubble.URL+"/api/v1/admin/people/"+p.Name+"/block", nil)
		w.Must(err)
		r.Header.Set("Authorization", "Bearer "+admin)
		resp, err := w.server.Client().Do(r)
		w.Must(err)
		resp.Body.Close()
		err = <-f.ended
		if err == nil || !strings.Contains(err.Error(), `person "ben" is blocked`) {
			t.Errorf("the client ended with %v", err)
		}
		bubble.Until(t, "the match is dropped", func() bool {
			m := kit.Get[ladder.Match](t)(w.Store.Matches.Find(t.Context(), s.Playing.Match))
			return m.State == ladder.Dropped
		})
		other := start(t, w.client(w.token, "other"))
		other.await(t, "a result", over)
	})
}

// When the token of a bot's connection is revoked, the bot is disconnected at once and says why. A bot with
// another token of the same person continues.
func TestRevoked(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newPlayed(t, limitsOf(60, 3, 10))
		p, token := w.person(t, "ben", ladder.ScopeSubmit)
		another, _, err := w.Store.Sessions.AddToken(t.Context(), p.ID, "", ladder.ScopeSubmit, time.Time{})
		w.Must(err)
		f, other := start(t, w.client(token, "far")), start(t, w.client(another, "other"))
		f.await(t, "online", online)
		other.await(t, "online", online)
		tokens := kit.Get[[]ladder.Token](t)(w.Store.Sessions.Tokens(t.Context(), p.ID))
		began := time.Now()
		w.Must(w.Store.Sessions.RevokeToken(t.Context(), p.ID, tokens[0].ID))
		err = <-f.ended
		if err == nil || !strings.Contains(err.Error(), "the token has been revoked") || time.Since(began) > time.Second {
			t.Errorf("the client ended after %v with %v", time.Since(began), err)
		}
		other.await(t, "a result", over)
	})
}

// A connection above a limit is refused with a reason; existing ones continue. A limit of 0 allows none.
func TestLimits(t *testing.T) {
	// limit: remote.person, remote.total
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newPlayed(t, limitsOf(30, 1, 2))
		first := start(t, w.client(w.token, "one"))
		first.await(t, "online", online)
		refused := func(c *remote.Connector, want string) {
			t.Helper()
			err := c.Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", c.Bot, err, want)
			}
		}
		refused(w.client(w.token, "two"), "the limit for one person is 1 remote bots at the same time")
		refused(w.client(w.token, "one"), `bot "one" is connected already`)
		_, carl := w.person(t, "carl", ladder.ScopeSubmit)
		_, ben := w.person(t, "ben", ladder.ScopeSubmit)
		_, reader := w.person(t, "reader", ladder.ScopeRead)
		start(t, w.client(carl, "three")).await(t, "online", online)
		refused(w.client(ben, "four"), "the limit is 2 remote bots at the same time")
		refused(w.client(reader, "five"), `needs the scope "submit"`)
		refused(w.client("timba_nonsense", "five"), "the token is not valid")
		refused(w.client(ben, "one"), "is somebody else's")
		refused(w.client(ben, "Not A Name"), "the name of a bot cannot be")
		c := w.client(ben, "four")
		c.Games = []string{"chess"}
		refused(c, "chess")
		none := newWorld(t, limitsOf(30, 3, 0))
		refused(none.client(none.token, "six"), "the limit is 0 remote bots")
		first.await(t, "a result", over)
	})
}

// Frames that no client sends end only the connection on which they arrive.
func TestHostile(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newPlayed(t, limitsOf(30, 1000, 1000))
		good := start(t, w.client(w.token, "good"))
		good.await(t, "online", online)
		_, token := w.person(t, "mallory", ladder.ScopeSubmit)
		if _, resp, err := w.dial(token, "bad", http.Header{"Origin": {"https://elsewhere.example"}}); err == nil || resp.StatusCode != http.StatusForbidden {
			t.Errorf("a page of another origin: %v, %v", err, resp)
		}
		first := []string{
			`{}`, `null`, `[]`, `"x"`, `{"hello":7}`, `{"hello":{"sessions":[` + strings.Repeat("1,", 100) + `1]}}`, `{"leave":true}`,
			strings.Repeat("[", 100000), strings.Repeat("x", 200000),
		}
		later := []string{
			`{}`, `{"bye":"x"}`, `{"welcome":{}}`, `{"open":{"session":1}}`, `{"session":1}`, `nonsense`, "\x00\xff",
			`{"session":9007199254740993,"seat":{"n":-1}}`, `{"session":"1"}`,
		}
		for i := range 60 {
			r := rand.New(rand.NewPCG(1, uint64(i))) // the goroutine of an earlier connection may still write
			ws, resp, err := w.dial(token, "bad", nil)
			if err != nil {
				if resp != nil && resp.StatusCode == http.StatusConflict { // the one before is about to end
					continue
				}
				t.Fatalf("connection %d: %v", i, err)
			}
			kind := websocket.TextMessage
			if i%7 == 0 {
				kind = websocket.BinaryMessage
			}
			go func() { // until the connection ends
				if i%2 == 0 {
					ws.WriteMessage(kind, []byte(first[i/2%len(first)]))
					return
				}
				ws.WriteMessage(websocket.TextMessage, []byte(`{"hello":{"sessions":[]}}`))
				for {
					if ws.WriteMessage(kind, []byte(later[r.IntN(len(later))])) != nil {
						return
					}
				}
			}()
			ended(t, ws, fmt.Sprintf("connection %d", i))
			ws.Close()
		}
		good.await(t, "a result", over)
	})
}

// A client that is told to stop does not wait for a server that does not answer.
func TestStopWhileDialing(t *testing.T) {
	l := kit.Get[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- (&remote.Connector{ClientOptions: remote.ClientOptions{ServerAddress: remote.ServerAddress{URL: "http://" + l.Addr().String()}, Bot: "far"}}).Run(ctx)
	}()
	conn := kit.Get[net.Conn](t)(l.Accept())
	defer conn.Close()
	kit.Get[int](t)(conn.Read(make([]byte, 1))) // it has asked
	cancel()
	kit.Wait(t, "the client", ended)
}
