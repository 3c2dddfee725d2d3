package live_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/web/live"
)

// A socket that does not read its messages is closed at each limit of waiting messages, while others continue
// to watch. When its client connects again, it gets what it has missed.
func TestSlowWatcher(t *testing.T) {
	for name, limit := range map[string]func(*live.Limits){
		"messages":     func(l *live.Limits) { l.Queues.Length = 256 },
		"bytes":        func(l *live.Limits) { l.Queues.Each = 1 << 20 },
		"bytes in all": func(l *live.Limits) { l.Queues.All = 1 << 20 },
		"time":         func(l *live.Limits) { l.Write = 3 * time.Second },
	} {
		t.Run(name, func(t *testing.T) {
			l := quick()
			l.Frames, l.Queues.Length, l.Queues.Each, l.Write = 100, 1<<20, 1<<30, time.Hour
			limit(&l)
			inWorld(t, strings.Replace(teeko, "deals = 1", "deals = 1000", 1), l, func(t *testing.T, w *world) {
				id := w.begun()
				ask := fmt.Sprintf(`{"watch":"match/%d"`, id)
				fast := w.dial("")
				fast.say(ask + "}")
				slow := w.dial("")
				slow.say(ask + "}")
				var have collected
				w.Must(have.add(slow.next())) // and nothing more for a while
				w.free()
				for w.hub.SocketCount() > 1 {
					if _, err := fast.read(); err != nil {
						t.Fatalf("the fast socket: %v", err)
					}
					if waiting := w.hub.Waiting(); waiting > 2*min(l.Queues.All, 2*l.Queues.Each) {
						t.Fatalf("%d bytes wait", waiting)
					}
				}
				back := w.dial("")
				back.say(ask + have.last() + "}")
				for range 20 { // what comes fits what it has
					w.Must(have.add(back.next()))
				}
				if len(have.at) < 2 {
					t.Errorf("who comes back has %d games", len(have.at))
				}
			})
		})
	}
}

// A socket that shows no sign of life is closed; one that only watches is not.
func TestSilence(t *testing.T) {
	l := quick()
	l.Silence = 4 * time.Second
	inWorld(t, teeko, l, func(t *testing.T, w *world) {
		alive, dead := w.dial(""), w.dial("")
		for _, c := range []*client{alive, dead} {
			c.say(`{"watch":"games"}`)
		}
		for d := alive.next(); len(d.Matches) == 0; d = alive.next() {
		}
		bubble.Settle()
		ended := make(chan error, 1)
		go func() {
			for { // reading answers pings; the list is empty when the match has ended
				if d, err := alive.read(); err != nil || len(d.Matches) == 0 {
					ended <- err
					return
				}
			}
		}()
		time.Sleep(l.Silence + 2*time.Second) // and its end may take one
		if n := w.hub.SocketCount(); n != 1 {
			t.Errorf("there are %d sockets, want the one that reads", n)
		}
		time.Sleep(10 * l.Silence)
		if n := w.hub.SocketCount(); n != 1 {
			t.Errorf("then there are %d sockets, want the one that reads", n)
		}
		w.free()
		if err := <-ended; err != nil { // the match ends, and the list is another
			t.Error(err)
		}
	})
}

// A late watcher gets only the latest positions; earlier watchers get all positions.
func TestKept(t *testing.T) {
	l := quick()
	l.Backlog = 4
	inWorld(t, teeko, l, func(t *testing.T, w *world) {
		first := w.dial("")
		ask := fmt.Sprintf(`{"watch":"match/%d"}`, w.begun())
		first.say(ask)
		d := first.next()
		game, plies := d.At, len(d.Frames)
		for plies < 8 {
			w.moves <- struct{}{}
			d := first.next()
			if d.At != game { // some games end sooner
				game, plies = d.At, 0
			}
			if d.Ply != plies {
				t.Fatalf("frames come from ply %d on, want %d", d.Ply, plies)
			}
			plies += len(d.Frames)
		}
		late := w.dial("")
		late.say(ask)
		if d := late.next(); d.Head == nil || len(d.Frames) > 4 || d.Ply+len(d.Frames) != plies {
			t.Errorf("who comes late gets %d frames from ply %d on, of %d", len(d.Frames), d.Ply, plies)
		}
	})
}

// If moves come faster than messages are allowed, several moves share a message. No move is lost, and there
// is a pause between two messages, except before the last one at the end of the match.
func TestFrames(t *testing.T) {
	l := quick()
	l.Frames = 2
	inWorld(t, teeko, l, func(t *testing.T, w *world) {
		c := w.dial("")
		id := w.begun()
		c.say(fmt.Sprintf(`{"watch":"match/%d"}`, id))
		plies := len(c.next().Frames)
		began, messages := time.Now(), 0
		w.free()
		over := false
		for ; !over; messages++ {
			d := c.next()
			over = d.Over != nil
			plies += len(d.Frames)
		}
		if most := 4 + int(2*time.Since(began).Seconds()); messages > most || plies < 8 {
			t.Errorf("%d positions come in %d messages, at most %d", plies, messages, most)
		}
	})
}

// The number of watched pages is limited. A page that is already watched accepts more watchers.
func TestPages(t *testing.T) {
	l := quick()
	l.Pages = 2
	inWorld(t, teeko, l, func(t *testing.T, w *world) {
		one, other := w.dial("from=10.0.0.1"), w.dial("from=10.0.0.2")
		one.say(`{"watch":"home"}`)
		one.page("home")
		one.say(`{"watch":"bot/nobody"}`) // half of all pages, which is more than the share of an address
		if d := one.page("bot/nobody"); d.Refused != "too many pages are watched from this address" {
			t.Errorf("a second page of an address is answered with %+v", d)
		}
		other.say(`{"watch":"ladder/one"}`)
		other.page("ladder/one")
		more := w.dial("from=10.0.0.3")
		more.say(`{"watch":"bot/anna"}`)
		if d := more.page("bot/anna"); d.Refused != "too many pages are watched" {
			t.Errorf("a third page is answered with %+v", d)
		}
		more.say(`{"watch":"home"}`) // the socket stays, and this page is watched already
		more.page("home")
		other.say(`{"leave":"ladder/one"}`)
		other.say(`{"watch":"games"}`)
		other.page("games") // it has left
		more.say(`{"leave":"bot/anna"}`)
		more.say(`{"watch":"bot/anna"}`)
		if d := more.page("bot/anna"); d.Parts["part"] != "bot/anna " {
			t.Errorf("once there is room the page is answered with %+v", d)
		}
		if n := w.hub.SocketCount(); n != 3 {
			t.Errorf("there are %d sockets, want 3", n)
		}
	})
}

// When the first watcher of a page leaves, the page counts for the address of another watcher.
func TestPageGoesOn(t *testing.T) {
	l := quick()
	l.Pages = 2
	inWorld(t, teeko, l, func(t *testing.T, w *world) {
		one, other := w.dial("from=10.0.0.1"), w.dial("from=10.0.0.2")
		for _, c := range []*client{one, other} {
			c.say(`{"watch":"home"}`)
			c.page("home")
		}
		one.say(`{"leave":"home"}`)
		one.say(`{"watch":"bot/anna"}`)
		if d := one.page("bot/anna"); d.Refused != "" {
			t.Errorf("who has left their page is answered with %+v", d)
		}
		other.say(`{"watch":"bot/nobody"}`)
		if d := other.page("bot/nobody"); d.Refused == "" {
			t.Errorf("a second page of an address is answered with %+v", d)
		}
	})
}

// page returns the next message about a topic.
func (c *client) page(topic string) doc {
	c.t.Helper()
	for {
		if d := c.next(); d.Topic == topic {
			return d
		}
	}
}

// The number of parts rendered in a second is limited, regardless of the number of watched pages.
func TestRenders(t *testing.T) {
	l := quick()
	l.Renders = 1
	inWorld(t, teeko, l, func(t *testing.T, w *world) {
		w.begun()
		time.Sleep(2 * time.Second) // nothing else moves pages
		c := w.dial("")
		began := time.Now()
		for _, topic := range []string{"home", "ladder/one", "bot/anna"} {
			c.say(`{"watch":"` + topic + `"}`)
		}
		for seen := map[string]bool{}; len(seen) < 3; {
			seen[c.next().Topic] = true
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("three pages are rendered in %v", took)
		}
	})
}

// malformed are frames that no client of the site sends, without a mask or with a mask of zeros.
var malformed = []string{
	"\x81\x01x", "\x81\x85\x00\x00\x00\x00hello", "\x82\x82\x00\x00\x00\x00{}", "\x81\xfe\x7f\xff\x00\x00\x00\x00",
	"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00", "\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00",
	"\x83\x80\x00\x00\x00\x00", "\xf1\x80\x00\x00\x00\x00", "\x00\x80\x00\x00\x00\x00",
	"\x01\x81\x00\x00\x00\x00{\x89\xfe\x00\xff\x00\x00\x00\x00", "\x88\x81\x00\x00\x00\x00x", "\x88\x82\x00\x00\x00\x00\x00\x00",
	text(`{"watch":"match/0"}`), text(`{"watch":"match/1","ply":-1}`), text(`{"watch":"match/1","ply":1e99}`), text(`{"watch":"nothing"}`),
	text(`{"watch":"games","leave":"games"}`), text(`{"watch":"games"}{}`), text(`{"watch":["games"]}`),
	text(`{"watch":"ladder/../x"}`), text(`{"watch":"home","lang":"english"}`), text(`[]`), text(`null`), text("\xff\xfe"),
}

// text returns a text frame of a client.
func text(payload string) string {
	return string([]byte{0x81, 0x80 | byte(len(payload)), 0, 0, 0, 0}) + payload
}

// Malformed frames leave no socket, goroutine or waiting message behind, and do not disturb other watchers.
func TestMalformedFrames(t *testing.T) {
	frames := 40 * len(malformed)
	if kit.Soak {
		frames = 10_000
	}
	l := quick()
	l.Sockets.Address, l.Sockets.Total = 100, 100
	inWorld(t, teeko, l, func(t *testing.T, w *world) {
		id := w.begun()
		other := w.dial("from=192.0.2.9")
		other.say(fmt.Sprintf(`{"watch":"match/%d"}`, id))
		other.next()
		const at = 8 // sockets at the same time
		failed := make(chan error, at)
		for i := range at {
			go func() {
				for n := i; n < frames; n += at {
					if err := w.misbehave(malformed[n%len(malformed)]); err != nil {
						failed <- fmt.Errorf("frame %q: %w", malformed[n%len(malformed)], err)
						return
					}
				}
				failed <- nil
			}()
		}
		for range at {
			if err := <-failed; err != nil {
				t.Error(err)
			}
		}
		time.Sleep(2 * time.Second) // for the last to end; that no goroutine is left, the bubble sees
		if n := w.hub.SocketCount(); n != 1 {
			t.Errorf("%d sockets are left", n)
		}
		if waiting := w.hub.Waiting(); waiting != 0 {
			t.Errorf("%d bytes wait", waiting)
		}
		w.moves <- struct{}{}
		if d := other.next(); len(d.Frames) != 1 {
			t.Errorf("who watches gets %+v", d)
		}
	})
}

// misbehave sends a frame on a new socket and waits until the socket is closed.
func (w *world) misbehave(frame string) error {
	conn, _, err := w.server.Dialer().Dial(address, nil)
	if err != nil {
		return err
	}
	defer conn.Close()
	raw := conn.NetConn()
	raw.SetDeadline(time.Now().Add(time.Hour))
	raw.Write([]byte(frame + "\x81")) // or the socket has ended before all of it
	for {
		_, data, err := conn.ReadMessage()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("the socket does not end")
		}
		if err != nil {
			return nil
		}
		if len(data) > 0 && strings.Contains(frame, "null") {
			return fmt.Errorf("the answer is %s", data)
		}
	}
}
