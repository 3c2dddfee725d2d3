//go:build !race || slowrace

package env

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timba-arena/timba/internal/kit"
)

// start serves on a socket and returns its path and a function that stops the server and returns the log.
func start(t *testing.T, s Server) (path string, stop func() string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "timba-env-") // short enough for a socket
	kit.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	path = filepath.Join(dir, "s")
	var log bytes.Buffer
	s.Workers, s.Log = 1, &log
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- s.Listen(ctx, path, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	return path, func() string {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(path); err == nil {
			t.Error("the socket is still there")
		}
		return log.String()
	}
}

// dial connects to the socket at path and sends a frame, unless send is empty.
func dial(t *testing.T, path, send string) net.Conn {
	t.Helper()
	conn := kit.Get[net.Conn](t)(net.Dial("unix", path))
	t.Cleanup(func() { conn.Close() })
	if send == "" {
		return conn
	}
	if _, err := io.WriteString(conn, send); err != nil {
		t.Fatal(err)
	}
	return conn
}

func answer(t *testing.T, conn net.Conn) answered {
	t.Helper()
	var header [headerBytes]byte
	if _, err := io.ReadFull(conn, header[:]); err != nil {
		t.Fatal(err)
	}
	payload := make([]byte, binary.LittleEndian.Uint32(header[:]))
	if _, err := io.ReadFull(conn, payload); err != nil {
		t.Fatal(err)
	}
	return answered{frameKind(header[4]), string(payload)}
}

// TestConnections checks that each connection has games of its own, and that one too many is refused until
// another one ends.
func TestConnections(t *testing.T) {
	path, stop := start(t, Server{MaxConnections: 2, IdleTimeout: time.Hour})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	first, second := dial(t, path, frame(frameMake, makeBrisca)), dial(t, path, frame(frameMake, document("teeko")))
	if a, b := answer(t, first), answer(t, second); a.kind != frameLayout || b.kind != frameLayout || a == b {
		t.Error(a, b)
	}
	if a := answer(t, dial(t, path, "")); a != (answered{frameError, "env: 2 connections are open, which is the most: close one, or start the server with more"}) {
		t.Error(a)
	}
	first.Close()
	kit.Until(t, "there is room again", func() bool {
		conn := dial(t, path, "")
		io.WriteString(conn, frame(frameMake, makeBrisca)) // fails if there is no room, which the answer says
		return answer(t, conn).kind == frameLayout
	})
	if _, err := io.WriteString(second, frame(frameReset, reset(1, 0))); err != nil {
		t.Fatal(err)
	}
	if a := answer(t, second); a.kind != frameState {
		t.Error(a)
	}
	if log := stop(); log != "" {
		t.Error(log)
	}
}

// TestIdle checks that a silent connection is closed with an error, also in the middle of a frame.
func TestIdle(t *testing.T) {
	for _, send := range []string{"", frame(frameMake, makeBrisca)[:10]} {
		idle(t, func(conn net.Conn) {
			if _, err := io.WriteString(conn, send); err != nil {
				t.Error(err)
			}
			if a := answer(t, conn); a != (answered{frameError, "env: a connection was silent for 1m0s: it is closed"}) {
				t.Error(a)
			}
			if _, err := conn.Read(make([]byte, 1)); err != io.EOF {
				t.Error(err)
			}
		})
	}
}

// TestUnread checks that the connection of a client that does not read is closed.
func TestUnread(t *testing.T) {
	idle(t, func(conn net.Conn) {
		if _, err := io.WriteString(conn, frame(frameMake, makeBrisca)); err != nil {
			t.Error(err)
		}
		if _, err := io.WriteString(conn, frame(frameReset, reset(1, 0))); err == nil {
			t.Error("the connection is open")
		}
	})
}

// idle runs client against a server that closes idle connections after a minute. Time is fake. The server must
// write a line to its log.
func idle(t *testing.T, client func(conn net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		theirs, ours := net.Pipe()
		var out bytes.Buffer
		s := Server{IdleTimeout: time.Minute, Workers: 1}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.serve(t.Context(), theirs, log.New(&out, "", 0))
		}()
		client(ours)
		<-ended
		ours.Close()
		if !strings.Contains(out.String(), "silent for 1m0s") {
			t.Error(out.String())
		}
	})
}

// TestSocketPath checks that only the socket of a dead server is replaced, not one in use and not a file.
func TestSocketPath(t *testing.T) {
	path, stop := start(t, Server{MaxConnections: 1, IdleTimeout: time.Hour})
	s := Server{MaxConnections: 1, IdleTimeout: time.Hour, Workers: 1, Log: io.Discard}
	if err := s.Listen(t.Context(), path, nil); err == nil || !strings.Contains(err.Error(), "is in use by another server: try another path") {
		t.Error(err)
	}
	stop()
	l := kit.Get[net.Listener](t)(net.Listen("unix", path))
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close() // as kill -9 leaves it
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.Listen(ctx, path, cancel); err != nil {
		t.Error(err)
	}
	kit.Must(t, os.WriteFile(path, nil, 0o600))
	if err := s.Listen(t.Context(), path, nil); err == nil || !strings.Contains(err.Error(), "exists and is no socket: try another path") {
		t.Error(err)
	}
	if err := s.Listen(t.Context(), filepath.Join(filepath.Dir(path), strings.Repeat("x", 120)), nil); err == nil || !strings.Contains(err.Error(), "try a shorter one") {
		t.Error(err)
	}
}
