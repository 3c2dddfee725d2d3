package env

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// Server serves clients on a Unix socket. Each connection has its own games.
type Server struct {
	Workers        int           // goroutines of each connection; 0 means one for each core
	MaxConnections int           // maximal number of connections at once
	IdleTimeout    time.Duration // maximal time in which a connection sends nothing, or does not read
	Log            io.Writer     // receives a line for each connection that ends with an error
}

// Listen creates a socket at path that only its owner can use, calls ready, and serves clients until ctx
// ends. If the socket of a server that no longer runs is at path, it is replaced.
func (s *Server) Listen(ctx context.Context, path string, ready func()) error {
	l, err := listen(ctx, path)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { l.Close() })()
	defer l.Close()
	ready()
	var all sync.WaitGroup
	defer all.Wait()
	room, problems := make(chan struct{}, s.MaxConnections), log.New(s.Log, "", 0)
	for {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("env: the socket %q has failed: %w", path, err)
		}
		select {
		case room <- struct{}{}:
			all.Go(func() {
				s.serve(ctx, conn, problems)
				<-room
			})
		default:
			all.Go(func() { s.refuse(conn) })
		}
	}
}

func (s *Server) serve(ctx context.Context, conn net.Conn, problems *log.Logger) {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	timed := &timeoutConn{conn, s.IdleTimeout}
	err := (&session{ctx: ctx, input: timed, output: timed, workers: s.Workers}).run()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("env: a connection was silent for %v: it is closed", s.IdleTimeout)
		s.sendError(conn, err)
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		problems.Println(err)
	}
}

// sendTimeout is the time that a client has to read a last error message before its connection is closed.
const sendTimeout = time.Second

func (s *Server) sendError(conn net.Conn, err error) {
	conn.SetWriteDeadline(time.Now().Add(sendTimeout))
	conn.Write(errorFrame(err))
}

func (s *Server) refuse(conn net.Conn) {
	defer conn.Close()
	s.sendError(conn, fmt.Errorf("env: %d connections are open, which is the most: close one, or start the server with more", s.MaxConnections))
}

// timeoutConn is a connection on which a read or a write fails if it takes longer than idle.
type timeoutConn struct {
	net.Conn
	idle time.Duration
}

func (t *timeoutConn) Read(p []byte) (int, error) {
	t.SetReadDeadline(time.Now().Add(t.idle))
	return t.Conn.Read(p)
}

func (t *timeoutConn) Write(p []byte) (int, error) {
	t.SetWriteDeadline(time.Now().Add(t.idle))
	return t.Conn.Write(p)
}

// listen creates a Unix socket at path. If a socket that no server uses is at that path, listen removes it first.
// Any other file there is an error.
func listen(ctx context.Context, path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&fs.ModeSocket == 0 {
			return nil, fmt.Errorf("env: %q exists and is no socket: try another path", path)
		}
		if conn, err := net.Dial("unix", path); err == nil {
			conn.Close()
			return nil, fmt.Errorf("env: %q is in use by another server: try another path", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	const most = 107 // length of the path in sockaddr_un on Linux, without the final 0
	if len(path) > most {
		return nil, fmt.Errorf("env: %q has %d bytes, and a socket's path has %d at most: try a shorter one", path, len(path), most)
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "unix", path)
	if err != nil {
		var sys syscall.Errno
		if errors.As(err, &sys) {
			return nil, &fs.PathError{Op: "listen", Path: path, Err: sys}
		}
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}
