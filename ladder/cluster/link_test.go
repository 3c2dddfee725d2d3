package cluster

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/timba-arena/timba/internal/kit"
)

// A worker that starts before its server logs that it waits, and later that it is refused.
func TestDialSays(t *testing.T) {
	t.Parallel()
	server := kit.Get[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	defer server.Close()
	go func() {
		for calls := 0; ; calls++ {
			c, err := server.Accept()
			if err != nil {
				return
			}
			if calls > 0 {
				fmt.Fprint(c, "INFO {\"server_id\":\"x\",\"version\":\"2.10.0\",\"nonce\":\"n\",\"max_payload\":1048576}\r\n")
				bufio.NewReader(c).ReadString('\n')
				fmt.Fprint(c, "-ERR 'Authorization Violation'\r\n")
			}
			c.Close()
		}
	}()
	user := kit.Get[nkeys.KeyPair](t)(nkeys.CreateUser())
	claims := jwt.NewUserClaims(kit.Get[string](t)(user.PublicKey()))
	claims.Name = "lab-1"
	token := kit.Get[string](t)(claims.Encode(kit.Get[nkeys.KeyPair](t)(nkeys.CreateAccount())))
	file := filepath.Join(t.TempDir(), "creds")
	kit.Must(t, os.WriteFile(file, kit.Get[[]byte](t)(jwt.FormatUserConfig(token, kit.Get[[]byte](t)(user.Seed()))), 0o600))

	ctx, cancel := context.WithCancel(t.Context())
	said := &signalLog{until: "NATS refuses the credentials", then: cancel}
	_, err := Dial(ctx, "nats://"+server.Addr().String(), file, slog.New(slog.NewTextHandler(said, nil)))
	if err == nil || !strings.Contains(err.Error(), `worker "lab-1": NATS refuses the credentials`) {
		t.Errorf("it ends with %v", err)
	}
	if log := said.all(); strings.Count(log, "nobody answers as NATS") != 1 {
		t.Errorf("the log is %s", log)
	}
}

// The events of NATS change the state of a link and wake all that wait for a state. A refusal is logged once.
func TestLinkStates(t *testing.T) {
	t.Parallel()
	const refusal, timeout = "NATS refuses the credentials", "nobody answers as NATS"
	var log kit.Output
	l := newLink("nats://arena", "lab-1", slog.New(slog.NewTextHandler(&log, nil))) // the test calls the handlers instead of a NATS client
	for i, step := range []struct {
		report   func()
		want     linkState
		logs     string
		logTimes int
	}{
		{func() { l.handleUnreachable(nats.ErrTimeout) }, stateUnreachable, timeout, 1},
		{func() { l.handleLost(nil) }, stateUnreachable, "is lost", 0},
		{l.handleConnected, stateConnected, "", 0},
		{func() { l.handleRefused(nats.ErrPermissionViolation) }, stateConnected, refusal, 0},
		{func() { l.handleUnreachable(nats.ErrTimeout) }, stateConnected, timeout, 1},
		{func() { l.handleLost(io.EOF) }, stateConnecting, "is lost", 1},
		{func() { l.handleUnreachable(nats.ErrTimeout) }, stateUnreachable, timeout, 2},
		{func() { l.handleRefused(nats.ErrAuthRevoked) }, stateRefused, refusal, 1},
		{func() { l.handleLost(nil) }, stateRefused, "", 0},
		{func() { l.handleUnreachable(nats.ErrTimeout) }, stateRefused, timeout, 2},
		{func() { l.handleRefused(fmt.Errorf("again: %w", nats.ErrAuthorization)) }, stateRefused, refusal, 1},
		{l.handleConnected, stateConnected, "", 0},
		{func() { l.handleRefused(nats.ErrAuthExpired) }, stateRefused, refusal, 2},
		{l.handleConnected, stateConnected, "", 0},
		{func() { l.handleRefused(nats.ErrAccountAuthExpired) }, stateRefused, refusal, 3},
	} {
		before, changed := l.current()
		step.report()
		if got, _ := l.current(); got != step.want {
			t.Errorf("step %d: the state is %d, want %d", i, got, step.want)
		}
		select {
		case <-changed:
			if before == step.want {
				t.Errorf("step %d: a state that stays counts as a change", i)
			}
		default:
			if before != step.want {
				t.Errorf("step %d: nobody hears of the change", i)
			}
		}
		if got := strings.Count(log.String(), step.logs); step.logs != "" && got != step.logTimes {
			t.Errorf("step %d: %q is logged %d times, want %d", i, step.logs, got, step.logTimes)
		}
	}
}

// A request over a link without a connection fails at once, with the reason.
func TestAskWithoutConnection(t *testing.T) {
	t.Parallel()
	l := newLink("nats://arena", "lab-1", slog.New(slog.DiscardHandler))
	if _, err := l.ask(t.Context(), "x", nil); !errors.Is(err, nats.ErrDisconnected) {
		t.Errorf("it ends with %v", err)
	}
	l.handleRefused(nats.ErrAuthorization)
	if _, err := l.ask(t.Context(), "x", nil); !errors.Is(err, errRefused) {
		t.Errorf("it ends with %v", err)
	}
}

// signalLog is a log that calls a function once it contains certain words.
type signalLog struct {
	mu    sync.Mutex
	text  bytes.Buffer
	until string
	then  func()
}

func (s *signalLog) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if bytes.Contains(line, []byte(s.until)) {
		defer s.then()
	}
	return s.text.Write(line)
}

func (s *signalLog) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
