package cluster

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats.go"

	"github.com/timba-arena/timba/internal/kit"
)

// While the list of workers cannot be read, no worker is connected, and the log says so once. When the list can be
// read again, its workers are accepted again. A server that starts with such a list accepts none.
func TestBrokenList(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	file := a.creds("lab-1")
	l := kit.Get[*Link](t)(Dial(t.Context(), a.url(), file, a.DispatcherOptions.Log))
	t.Cleanup(l.Close)
	path := listPath(a.dir)
	list := kit.Get[[]byte](t)(os.ReadFile(path))
	const says = `level=ERROR msg="the list of workers cannot be read: no worker can connect"`
	a.must(os.WriteFile(path, []byte("{"), 0o600))
	kit.Until(t, "it is refused", func() bool { return l.Status() != nats.CONNECTED })
	if err := a.connectOnce(file); err == nil {
		t.Error("a worker connects, though nobody knows who may")
	}
	a.must(os.WriteFile(path, list, 0o600))
	kit.Until(t, "it is accepted again", func() bool { return a.connectOnce(file) == nil })
	if n := strings.Count(a.log.String(), says); n != 1 {
		t.Errorf("the log says %d times %s", n, says)
	}
	a.Dispatcher.Close()
	a.must(os.WriteFile(path, []byte("{"), 0o600))
	a.open(nil)
	if err := a.connectOnce(file); err == nil || strings.Count(a.log.String(), says) != 2 {
		t.Errorf("a server starts with a broken list: %v", err)
	}
	a.must(os.WriteFile(path, list, 0o600))
	kit.Until(t, "it is accepted", func() bool { return a.connectOnce(file) == nil })
}

// AwaitServer waits only while a server uses the keys, and only until it has applied the list.
func TestAwaitServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := kit.Get[*Keys](t)(OpenKeys(t.TempDir()))
		_, err := k.Add("lab-1")
		kit.Must(t, err)
		kit.Must(t, k.AwaitServer(t.Context()))
		server := flock.New(k.appliedPath())
		kit.Must(t, server.RLock())
		ctx, cancel := context.WithTimeout(t.Context(), 20*appliedInterval)
		defer cancel()
		if err := k.AwaitServer(ctx); err == nil || !strings.Contains(err.Error(), "has not applied") {
			t.Errorf("a server that applies nothing: %v", err)
		}
		_, hash, err := readWorkers(k.dir)
		kit.Must(t, err)
		kit.Must(t, os.WriteFile(k.appliedPath(), []byte(hash), 0o600))
		kit.Must(t, k.AwaitServer(t.Context()))
		kit.Must(t, server.Close())
	})
}
