package socket_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/web/socket"
)

// over returns the server of a seat and a function that connects to it.
func over(t *testing.T, s *socket.LineStream, l socket.Limits) (dial func(http.Header) (*websocket.Conn, error), ended chan error) {
	ended = make(chan error, 100)
	server := bubble.Serve(t, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := socket.Upgrade(w, r, l)
		if err == nil {
			err = s.Attach(c)
		}
		ended <- err
	})})
	return func(h http.Header) (*websocket.Conn, error) {
		ws, _, err := server.Dialer().Dial("ws://timba.example/", h)
		return ws, err
	}, ended
}

// A bot whose WebSocket breaks many times plays the same game as a bot in this process.
func TestGame(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		v := refereetest.Variant(t, "brisca", "")
		bot := kit.Get[house.Player](t)(house.NewPlayer("greedy"))
		local := func(in io.Reader, out io.Writer) error { return protocol.Serve(in, out, "", "", bot.Answer) }
		seed := referee.NewSeed()
		play := func(serve func(io.Reader, io.Writer) error) *referee.GameResult {
			m := match.Match{
				Variant: v, Seed: seed, Clock: referee.DefaultClock,
				Bots: []match.Contestant{{Name: "far", Serve: serve, Untimed: true}, {Name: "near", Serve: local, Untimed: true}},
			}
			m.Clock.Startup = time.Minute
			return kit.Get[*referee.GameResult](t)(m.PlayGame(t.Context()))
		}
		s, far := socket.NewLineStream(socket.LineStreamOptions{}), socket.NewLineStream(socket.LineStreamOptions{})
		dial, _ := over(t, s, socket.Limits{})
		read, write := io.Pipe()   // referee to bot
		answers, move := io.Pipe() // bot to referee
		var ends sync.WaitGroup
		ends.Go(func() { local(read, move); move.Close() })
		ends.Go(func() { far.Serve(answers, write); write.Close() })
		ends.Go(func() {
			for {
				ws, err := dial(nil)
				if err != nil {
					return
				}
				c := &fragile{Wire: socket.NewConn(ws, socket.Limits{}), left: 9}
				if err := far.Attach(c); errors.Is(err, socket.ErrEnded) || websocket.IsCloseError(err, socket.CloseEnded) {
					return
				}
			}
		})
		remote := play(s.Serve)
		ends.Wait()
		near := play(local)
		if len(remote.Faults) > 0 || len(remote.Moves) != len(near.Moves) {
			t.Fatalf("faults %v, %d moves, want none and %d", remote.Faults, len(remote.Moves), len(near.Moves))
		}
		for i, m := range near.Moves {
			if remote.Moves[i].Move != m.Move {
				t.Fatalf("move %d is %s, want %s", i, remote.Moves[i].Move, m.Move)
			}
		}
	})
}

// fragile is a connection that breaks after some frames.
type fragile struct {
	socket.Wire
	left int
}

func (f *fragile) Receive() (socket.Frame, error) {
	if f.left--; f.left < 0 {
		return socket.Frame{}, errBroken
	}
	return f.Wire.Receive()
}

// Frames that are malformed, too large or too frequent, and pages of another origin, do not affect the seat.
func TestSocketBounds(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		s := socket.NewLineStream(socket.LineStreamOptions{})
		in, out, _ := serve(t, s)
		limits := socket.Limits{Frame: 1 << 10, Frames: 1e-3, Burst: 5, Silence: time.Minute, Send: time.Minute}
		dial, ended := over(t, s, limits)
		if _, err := dial(http.Header{"Origin": {"http://elsewhere.example"}}); err == nil {
			t.Error("a page of another origin can connect")
		}
		<-ended
		for name, break_ := range map[string]func(*websocket.Conn){
			"large":      func(ws *websocket.Conn) { ws.WriteMessage(websocket.TextMessage, make([]byte, 2<<10)) },
			"binary":     func(ws *websocket.Conn) { ws.WriteMessage(websocket.BinaryMessage, []byte(`{"ack":0}`)) },
			"malformed":  func(ws *websocket.Conn) { ws.WriteMessage(websocket.TextMessage, []byte(`{"ack":`)) },
			"wrong type": func(ws *websocket.Conn) { ws.WriteMessage(websocket.TextMessage, []byte(`{"lines":"x"}`)) },
			"no frame":   func(ws *websocket.Conn) { ws.NetConn().Write([]byte("GET / HTTP/1.1\r\n\r\n")) },
			"empty fragments": func(ws *websocket.Conn) {
				ws.NetConn().Write([]byte("\x01\x80\x00\x00\x00\x00" + strings.Repeat("\x00\x80\x00\x00\x00\x00", 1000)))
			},
			"short fragments": func(ws *websocket.Conn) {
				ws.NetConn().Write([]byte("\x01\x81\x00\x00\x00\x00 " + strings.Repeat("\x00\x81\x00\x00\x00\x00 ", 1000)))
			},
			"pongs": func(ws *websocket.Conn) { ws.NetConn().Write([]byte(strings.Repeat("\x8a\x80\x00\x00\x00\x00", 1000))) },
			"too fast": func(ws *websocket.Conn) {
				for range 6 {
					ws.WriteMessage(websocket.TextMessage, []byte(`{"ack":0}`))
				}
			},
		} {
			ws, err := dial(nil)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			go io.Copy(io.Discard, ws.NetConn()) // or its end would wait
			began := time.Now()
			break_(ws)
			if err := <-ended; err == nil || errors.Is(err, socket.ErrEnded) {
				t.Errorf("%s: the connection ends with %v", name, err)
			}
			if took := time.Since(began); took > 0 {
				t.Errorf("%s: the connection ends after %v", name, took)
			}
			ws.Close()
		}
		ws := kit.Get[*websocket.Conn](t)(dial(nil))
		defer ws.Close()
		ws.WriteJSON(socket.Frame{Lines: []string{"# still here"}})
		buf := make([]byte, 20)
		if n, err := out.Read(buf); err != nil || string(buf[:n]) != "# still here\n" {
			t.Errorf("then %q comes, %v", buf[:n], err)
		}
		in.Close()
	})
}

// A connection that shows no sign of life is closed.
func TestSilence(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		s := socket.NewLineStream(socket.LineStreamOptions{})
		in, _, _ := serve(t, s)
		defer in.Close()
		dial, ended := over(t, s, socket.Limits{Frame: 1 << 10, Frames: 10, Burst: 10, Silence: 30 * time.Second, Send: time.Minute})
		ws := kit.Get[*websocket.Conn](t)(dial(nil))
		defer ws.Close()
		go io.Copy(io.Discard, ws.NetConn()) // pings are not answered
		began := time.Now()
		if err := <-ended; err == nil || errors.Is(err, socket.ErrEnded) {
			t.Errorf("the connection ends with %v", err)
		}
		if took := time.Since(began); took != 30*time.Second {
			t.Errorf("the connection ends after %v", took)
		}
	})
}

// The other end gets the reason of a close, even if data that it has sent was not read.
func TestShut(t *testing.T) {
	t.Parallel()
	sent := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "session", MaxAge: -1})
		if c, err := socket.Upgrade(w, r, socket.Limits{}); err == nil {
			<-sent
			c.Shut(socket.CloseRefused, "the session has ended")
		}
	}))
	t.Cleanup(server.Close)
	ws, answer, err := websocket.DefaultDialer.Dial(strings.Replace(server.URL, "http", "ws", 1), nil)
	kit.Must(t, err)
	t.Cleanup(func() { ws.Close() })
	if c := answer.Cookies(); len(c) != 1 || c[0].MaxAge != -1 {
		t.Errorf("the cookies are %v", c)
	}
	for range 100 {
		kit.Must(t, ws.WriteMessage(websocket.TextMessage, make([]byte, 512)))
	}
	sent <- struct{}{}
	if _, _, err = ws.ReadMessage(); !websocket.IsCloseError(err, socket.CloseRefused) {
		t.Errorf("the connection ends with %v", err)
	}
	// The end of this one is answered by that of the other.
	if _, err := ws.NetConn().Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("then it is read: %v", err)
	}
}
