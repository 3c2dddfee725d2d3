// Package bubble runs servers and their clients in a testing/synctest bubble: connections are in
// memory, and their deadlines, as all timers, follow the clock of the bubble, which moves only when
// nothing else does. What a test sees of time then does not depend on the machine.
package bubble

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
)

// Run runs a test in a bubble. Its cleanup functions run there, too. All goroutines have to end
// within a minute after them, by the clock of the bubble.
func Run(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Minute) })
		f(t)
	})
}

// Settle waits until nothing moves but by the clock: all goroutines of the bubble but the caller
// wait for each other or for a time.
func Settle() { synctest.Wait() }

// Until waits until a condition holds, for at most an hour of the bubble's clock.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Hour); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within an hour: %s", what)
		}
	}
}

// Listener accepts connections in memory.
type Listener struct {
	conns     chan net.Conn
	done      chan struct{}
	closeOnce sync.Once
}

// Listen returns a listener. It closes at the end of the test.
func Listen(t testing.TB) *Listener {
	l := &Listener{conns: make(chan net.Conn), done: make(chan struct{})}
	t.Cleanup(func() { l.Close() })
	return l
}

// Serve makes a server serve until the end of the test.
func Serve(t testing.TB, s *http.Server) *Listener {
	l := Listen(t)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Serve(l)
	}()
	t.Cleanup(func() {
		s.Close()
		<-ended
	})
	return l
}

// URL is the address of the listener, for its clients only.
const URL = "http://timba.example"

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *Listener) Close() error {
	l.closeOnce.Do(func() { close(l.done) })
	return nil
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// Dial connects to the listener, whatever the address. What one end writes waits until the other
// one reads it.
func (l *Listener) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- conn{far, l.Addr()}:
		return conn{near, l.Addr()}, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// conn is an end of a connection, with an address that programs can parse.
type conn struct {
	net.Conn
	address net.Addr
}

func (c conn) LocalAddr() net.Addr  { return c.address }
func (c conn) RemoteAddr() net.Addr { return c.address }

// Dialer dials WebSockets at the listener.
func (l *Listener) Dialer() *websocket.Dialer {
	return &websocket.Dialer{NetDialContext: l.Dial, HandshakeTimeout: time.Minute}
}

// Client returns a client of the listener.
func (l *Listener) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: l.Dial, DisableKeepAlives: true}}
}
