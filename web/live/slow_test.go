package live_test

import (
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/web/live"
)

// A socket that does not take its messages is ended, while others watch on; when it comes back it
// has what it missed.
func TestSlowWatcher(t *testing.T) {
	l := quick()
	l.Frames, l.Hold, l.Queue = 200, 5*time.Millisecond, 64
	w := newWorld(t, strings.Replace(teeko, "deals = 1", "deals = 1000", 1), l)
	id := w.begun()
	ask := fmt.Sprintf(`{"watch":"match/%d"`, id)
	fast := w.dial("")
	fast.say(ask + "}")
	dialer := websocket.Dialer{ReadBufferSize: 512, NetDial: func(network, address string) (net.Conn, error) {
		c, err := net.Dial(network, address)
		if err == nil {
			c.(*net.TCPConn).SetReadBuffer(4 << 10)
		}
		return c, err
	}}
	conn, _, err := dialer.Dial(w.url, nil)
	w.Must(err)
	defer conn.Close()
	slow := &client{t, conn}
	slow.say(ask + "}")
	var have collected
	w.Must(have.add(slow.next())) // and nothing more for a while
	w.free()
	refereetest.Until(t, "the slow socket is ended", func() bool {
		if _, err := fast.read(); err != nil {
			t.Fatalf("the fast socket: %v", err)
		}
		return w.hub.Sockets() == 1
	})
	back := w.dial("")
	back.say(ask + have.last() + "}")
	for range 20 { // what comes fits what it has
		w.Must(have.add(back.next()))
	}
	if len(have.at) < 2 {
		t.Errorf("who comes back has %d games", len(have.at))
	}
}

// What all sockets wait for is bounded, too.
func TestWaitingInAll(t *testing.T) {
	l := quick()
	l.All = 10
	w := newWorld(t, teeko, l)
	c := w.dial("")
	c.say(`{"watch":"games"}`)
	if code := c.code(); code != live.CloseSlow {
		t.Errorf("a socket ends with %d where nothing may wait", code)
	}
}

// malformed are frames as no client of the site sends them, without a mask, or with one of zeros.
var malformed = []string{
	"\x81\x01x", "\x81\x85\x00\x00\x00\x00hello", "\x82\x82\x00\x00\x00\x00{}", "\x81\xfe\x7f\xff\x00\x00\x00\x00",
	"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00", "\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00",
	"\x89\x80\x00\x00\x00\x00", "\x83\x80\x00\x00\x00\x00", "\xf1\x80\x00\x00\x00\x00", "\x00\x80\x00\x00\x00\x00",
	"\x01\x81\x00\x00\x00\x00{\x89\xfe\x00\xff\x00\x00\x00\x00", "\x88\x81\x00\x00\x00\x00x", "\x88\x82\x00\x00\x00\x00\x00\x00",
	text(`{"watch":"match/0"}`), text(`{"watch":"match/1","ply":-1}`), text(`{"watch":"match/1","ply":1e99}`), text(`{"watch":"nothing"}`),
	text(`{"watch":"games","leave":"games"}`), text(`{"watch":"games"}{}`), text(`{"watch":"games","x":1}`), text(`{"watch":["games"]}`),
	text(`{"watch":"ladder/../x"}`), text(`{"watch":"home","lang":"english"}`), text(`[]`), text(`null`), text("\xff\xfe"),
}

// text returns a text frame of a client.
func text(payload string) string {
	return string([]byte{0x81, 0x80 | byte(len(payload)), 0, 0, 0, 0}) + payload
}

// Ten thousand malformed frames leave the server as it was: no socket, no goroutine, nothing that
// waits; and who watches beside them sees all.
func TestMalformedFrames(t *testing.T) {
	frames := 10_000
	if testing.Short() {
		frames = 500
	}
	l := quick()
	l.Address, l.Total = 100, 100
	w := newWorld(t, teeko, l)
	id := w.begun()
	other := w.dial("from=192.0.2.9")
	other.say(fmt.Sprintf(`{"watch":"match/%d"}`, id))
	other.next()
	refereetest.Until(t, "one socket", func() bool { return w.hub.Sockets() == 1 })
	before := runtime.NumGoroutine()
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
	refereetest.Until(t, "the server is as it was", func() bool { return w.hub.Sockets() == 1 && runtime.NumGoroutine() <= before })
	if waiting := w.hub.Waiting(); waiting != 0 {
		t.Errorf("%d bytes wait", waiting)
	}
	w.moves <- struct{}{}
	if d := other.next(); len(d.Frames) != 1 {
		t.Errorf("who watches gets %+v", d)
	}
}

// misbehave sends a frame on a socket of its own, and waits for its end.
func (w *world) misbehave(frame string) error {
	conn, _, err := websocket.DefaultDialer.Dial(w.url, nil)
	if err != nil {
		return err
	}
	defer conn.Close()
	raw := conn.NetConn()
	raw.SetDeadline(time.Now().Add(patience))
	if _, err := raw.Write([]byte(frame + "\x81")); err != nil {
		return err
	}
	for {
		_, data, err := conn.ReadMessage()
		if e, ok := err.(net.Error); ok && e.Timeout() {
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
