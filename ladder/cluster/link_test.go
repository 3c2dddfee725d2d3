package cluster

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
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

// A worker that starts before its server says that it waits, and then that it is refused.
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
	said := &said{until: "NATS refuses the credentials", then: cancel}
	_, err := Dial(ctx, "nats://"+server.Addr().String(), file, slog.New(slog.NewTextHandler(said, nil)))
	if err == nil || !strings.Contains(err.Error(), `worker "lab-1": NATS refuses the credentials`) {
		t.Errorf("it ends with %v", err)
	}
	if log := said.all(); strings.Count(log, "nobody answers as NATS") != 1 {
		t.Errorf("the log is %s", log)
	}
}

// Who waits to hear that the credentials are refused hears nothing of a connection that is made again.
func TestTakenAgain(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	l := kit.Get[*Link](t)(connect("nats://127.0.0.1:1", "lab-1", log, nats.RetryOnFailedConnect(true)))
	defer l.Close()
	refused := l.refusal()
	if l.taken(); refused.Err() != nil {
		t.Error("a connection counts as a refusal")
	}
	if l.refusedBy(errors.New("Authorization Violation"), log); refused.Err() == nil {
		t.Error("a refusal is not told")
	}
	if l.taken(); l.refusal().Err() != nil {
		t.Error("what was taken stays refused")
	}
}

// said is a log that calls a function once it has certain words.
type said struct {
	mu    sync.Mutex
	text  bytes.Buffer
	until string
	then  func()
}

func (s *said) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if bytes.Contains(line, []byte(s.until)) {
		defer s.then()
	}
	return s.text.Write(line)
}

func (s *said) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
