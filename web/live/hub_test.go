package live_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/web/board"
	"github.com/timba-arena/timba/web/live"
)

// quick are limits with short waits.
func quick() live.Limits {
	l := live.DefaultLimits(4096)
	l.Frames, l.Messages, l.Queues.Length = 500, 10_000, 1000
	return l
}

// collected has what a client has received of the games of a match.
type collected struct {
	at     []string // the games in their order
	frames map[string][]board.Frame
	moves  map[string][]board.MoveStep
	over   string
}

// add adds a message. It reports whether the message does not continue what is there.
func (c *collected) add(d doc) error {
	if d.Over != nil {
		c.over = *d.Over
		return nil
	}
	if c.frames == nil {
		c.frames, c.moves = map[string][]board.Frame{}, map[string][]board.MoveStep{}
	}
	if d.Head != nil {
		if d.Ply != 0 {
			return fmt.Errorf("a game begins with ply %d", d.Ply)
		}
		if _, known := c.frames[d.At]; !known {
			c.at = append(c.at, d.At)
		}
		c.frames[d.At], c.moves[d.At] = nil, nil
	}
	if want := len(c.frames[d.At]); d.Ply != want {
		return fmt.Errorf("frames come from ply %d on, want %d", d.Ply, want)
	}
	c.frames[d.At] = append(c.frames[d.At], d.Frames...)
	c.moves[d.At] = append(c.moves[d.At], d.Moves...)
	return nil
}

// last returns the request with which a client continues to watch the game in progress.
func (c *collected) last() string {
	if len(c.at) == 0 {
		return ""
	}
	at := c.at[len(c.at)-1]
	return fmt.Sprintf(`,"game":%q,"ply":%d`, at, len(c.frames[at])-1)
}

// A watcher gets each position once and in order, even if its connection breaks many times, and what it gets
// equals the stored replay.
func TestWatchers(t *testing.T) {
	for game, options := range map[string]string{"teeko": "", "brisca": `players = "2"`, "tute": "", "tebes": `size = "4"`} {
		t.Run(game, func(t *testing.T) {
			toml := strings.NewReplacer(`"teeko"`, `"`+game+`"`, "deals = 1", "deals = 5\noptions = {"+options+"}").Replace(teeko)
			inWorld(t, toml, quick(), func(t *testing.T, w *world) {
				id := w.begun()
				var all [6]collected
				done := make(chan error, len(all))
				var ready sync.WaitGroup
				for i := range all {
					ready.Add(1)
					began := sync.OnceFunc(ready.Done)
					go func() {
						defer began()
						done <- w.follow(id, &all[i], rand.New(rand.NewPCG(1, uint64(i))), i > 0, began)
					}()
				}
				go func() {
					ready.Wait()
					for range 6 {
						w.moves <- struct{}{}
					}
					w.free()
				}()
				for range all {
					if err := <-done; err != nil {
						t.Error(err)
					}
				}
				for i := range all {
					w.compare(id, &all[i], i == 0)
				}
			})
		})
	}
}

// follow watches a match until its end. If clumsy is set, it sometimes loses its connection. It calls began
// after the first message.
func (w *world) follow(id int64, c *collected, r *rand.Rand, clumsy bool, began func()) error {
	for c.over == "" {
		conn, _, err := w.server.Dialer().Dial(address, nil)
		if err != nil {
			return err
		}
		s := &client{w.T, conn}
		err = s.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"watch":"match/%d"%s}`, id, c.last()))
		for n := 1 + r.IntN(6); err == nil && c.over == "" && (!clumsy || n > 0); n-- {
			var d doc
			if d, err = s.read(); err == nil {
				err = c.add(d)
				began()
			}
		}
		conn.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// compare compares what a client has received with the stored replays. Each game is complete, or ends where
// the connection broke.
func (w *world) compare(id int64, c *collected, whole bool) {
	w.T.Helper()
	if c.over != "finished" {
		w.T.Errorf("the match is %q at its end", c.over)
	}
	games := kit.Get[[]ladder.FinishedGame](w.T)(w.Store.Matches.Games(w.T.Context(), id))
	stored := map[string]int{} // beginnings of games, and how much is behind them
	for _, g := range games {
		data := kit.Get[[]byte](w.T)(w.Store.Matches.Replay(w.T.Context(), g.ID))
		replay := kit.Get[*referee.Replay](w.T)(referee.DecodeReplay(data))
		v := refereetest.Variant(w.T, replay.Game, options(replay.Options))
		maker, log := board.NewPublicFrames(v), rules.Log{}
		text := ""
		for step, err := range replay.Walk(v, &log) {
			w.Must(err)
			text += normal(maker.Frame(step.State, &log))
			stored[text] = len(replay.Moves) - step.State.Ply()
		}
	}
	for i, at := range c.at {
		text := ""
		for _, f := range c.frames[at] {
			text += normal(f)
		}
		missing, known := stored[text]
		switch {
		case !known:
			w.T.Errorf("game %d has other frames than those that are stored", i)
		case missing > 0 && whole:
			w.T.Errorf("game %d lacks %d frames", i, missing)
		case len(c.moves[at]) != len(c.frames[at])-1:
			w.T.Errorf("game %d has %d frames and %d moves", i, len(c.frames[at]), len(c.moves[at]))
		}
	}
	if len(c.at) == 0 {
		w.T.Error("no game has come")
	}
}

// normal encodes a frame so that empty and missing maps are equal.
func normal(f board.Frame) string { return fmt.Sprintln(f.Turn, f.Common, f.Events.All) }

func options(m map[string]string) string {
	var out []string
	for k, v := range m {
		out = append(out, k+"="+v)
	}
	return strings.Join(out, " ")
}

// The limits of sockets apply to a person, to an address and in total, while other sockets continue to watch.
func TestSocketLimits(t *testing.T) {
	// limit: live.total
	l := quick()
	l.Sockets.Person, l.Sockets.Address, l.Sockets.Total = 2, 3, 6
	inWorld(t, teeko, l, func(t *testing.T, w *world) {
		other := w.dial("from=192.0.2.9")
		other.say(`{"watch":"games"}`)
		other.next()
		for _, q := range []string{"person=1&from=10.0.0.1", "person=1&from=10.0.0.2"} {
			w.dial(q)
		}
		if status, text := w.refused("person=1&from=10.0.0.3"); status != 429 || !strings.Contains(text, "the limit for one person is 2 sockets") {
			t.Errorf("a third socket of a person gets %d %q", status, text)
		}
		first := w.dial("from=10.0.0.1")
		w.dial("from=10.0.0.1")
		w.dial("from=10.0.0.1")
		if status, text := w.refused("from=10.0.0.1"); status != 429 || !strings.Contains(text, "the limit for one address is 3 sockets") {
			t.Errorf("a fourth socket from an address gets %d %q", status, text)
		}
		if status, text := w.refused("from=10.0.0.7"); status != 429 || !strings.Contains(text, "the limit is 6 sockets") {
			t.Errorf("a seventh socket gets %d %q", status, text)
		}
		first.Close()
		bubble.Settle()
		if n := w.hub.SocketCount(); n != 5 {
			t.Errorf("there are %d sockets, want 5", n)
		}
		w.dial("from=10.0.0.7")
		id := w.inProgress(other)
		other.say(fmt.Sprintf(`{"watch":"match/%d"}`, id))
		w.moves <- struct{}{}
		for d := other.next(); d.Ply+len(d.Frames) < 2; d = other.next() {
		}
	})
}

// inProgress waits for a match on a socket that watches the list.
func (w *world) inProgress(c *client) int64 {
	for _, g := range w.hub.Games() {
		return g.ID
	}
	for {
		if d := c.next(); len(d.Matches) > 0 {
			return d.Matches[0].ID
		}
	}
}

// A socket that exceeds the limits of topics or messages is closed, and no other socket is.
func TestTopicLimits(t *testing.T) {
	l := quick()
	l.Topics, l.Messages = 3, 4
	inWorld(t, teeko, l, func(t *testing.T, w *world) {
		other := w.dial("")
		other.say(`{"watch":"games"}`)
		for name, all := range map[string]func(say func(text string)){
			"topics": func(say func(string)) {
				for i := range 4 {
					say(fmt.Sprintf(`{"watch":"match/%d"}`, 1000+i))
				}
			},
			"messages": func(say func(string)) {
				for range 20 {
					say(`{"watch":"games"}`)
					say(`{"leave":"games"}`)
				}
			},
			"large":     func(say func(string)) { say(`{"watch":"` + strings.Repeat("x", l.Message) + `"}`) },
			"twice":     func(say func(string)) { say(`{"watch":"games"}`); say(`{"watch":"games"}`) },
			"not there": func(say func(string)) { say(`{"leave":"games"}`) },
		} {
			c := w.dial("")
			go all(func(text string) { c.WriteMessage(websocket.TextMessage, []byte(text)) }) // which fails when the socket ends
			if code := c.code(); code != websocket.ClosePolicyViolation && (name != "large" || code != websocket.CloseMessageTooBig) {
				t.Errorf("%s: the socket ends with %d", name, code)
			}
		}
		other.next()
		other.say(`{"leave":"games"}`)
		other.say(`{"watch":"match/999999"}`)
		for {
			if d := other.next(); d.Topic == "match/999999" {
				if d.Over == nil || *d.Over != "" {
					t.Errorf("a match that does not exist is %+v", d)
				}
				return
			}
		}
	})
}

// A server that stops closes all sockets with a reason, and accepts no more.
func TestGoingAway(t *testing.T) {
	inWorld(t, teeko, quick(), func(t *testing.T, w *world) {
		c := w.dial("")
		c.say(`{"watch":"games"}`)
		c.next()
		w.free()
		w.end()
		if code := c.code(); code != websocket.CloseGoingAway {
			t.Errorf("the socket ends with %d", code)
		}
		if status, text := w.refused(""); status != 503 || !strings.Contains(text, "the server stops") {
			t.Errorf("a socket gets %d %q", status, text)
		}
	})
}
