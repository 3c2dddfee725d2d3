// Package bubble runs servers and their clients in a testing/synctest bubble. Connections are in memory. All
// timers and deadlines follow the clock of the bubble, which advances only when all goroutines wait.
// Therefore what a test sees of time does not depend on the machine.
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

// Run runs the test f, with its cleanup functions, in a bubble of package testing/synctest, where time is simulated.
// After f has returned, all goroutines that it has started must end within a minute of simulated time.
func Run(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Minute) })
		f(t)
	})
}

// Settle waits until every other goroutine of the testing/synctest bubble is blocked, waiting for another goroutine
// or for the simulated time.
func Settle() { synctest.Wait() }

// Until waits until holds returns true. It fails the test after an hour of simulated time. what names the event in
// the failure message.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Hour); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within an hour: %s", what)
		}
	}
}

// Listener is a net.Listener whose connections are in memory.
type Listener struct {
	conns     chan net.Conn
	done      chan struct{}
	closeOnce sync.Once
}

// Listen returns a new listener, which is closed at the end of the test.
func Listen(t testing.TB) *Listener {
	l := &Listener{conns: make(chan net.Conn), done: make(chan struct{})}
	t.Cleanup(func() { l.Close() })
	return l
}

// Serve runs an HTTP server until the end of the test and returns the listener that accepts its connections.
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

// URL is the address of every HTTP server that Serve runs. Only clients from Listener.Client and Listener.Dialer
// reach it.
const URL = "http://timba.example"

func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *Listener) Close() error {
	l.closeOnce.Do(func() { close(l.done) })
	return nil
}

func (l *Listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// Dial opens a connection to the listener, whatever network and address are. A write to the connection blocks until
// the other end reads.
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

// conn is one end of a connection in memory. It reports a TCP address, because some programs parse the address.
type conn struct {
	net.Conn
	address net.Addr
}

func (c conn) LocalAddr() net.Addr  { return c.address }
func (c conn) RemoteAddr() net.Addr { return c.address }

// Dialer returns a dialer that opens WebSockets to the listener.
func (l *Listener) Dialer() *websocket.Dialer {
	return &websocket.Dialer{NetDialContext: l.Dial, HandshakeTimeout: time.Minute}
}

// Client returns a client whose requests go to the listener.
func (l *Listener) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: l.Dial, DisableKeepAlives: true}}
}
