//go:build soak && linux

package submission

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/cores"
)

func init() { modes["server"] = serve }

// serve takes a version through its stages as a server does after its start. arg has the version's number and
// the data directory.
func serve(arg string) error {
	version, dir, _ := strings.Cut(arg, " ")
	id, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		return err
	}
	s, err := store.Open(dir, store.Options{Server: true})
	if err != nil {
		return err
	}
	defer s.Close()
	c, err := config.Parse("test", []byte(testConfig))
	if err != nil {
		return err
	}
	p := New(s, c)
	p.Check.Quick = true
	return p.Run(context.Background(), id, cores.Any)
}

// slowly is a bot that is slow in every stage after the first.
var slowly = map[string]string{
	"timba.toml": "build = [\"sh\", \"-c\", \"sleep 0.3; echo built > out\"]\n" + tebesOnly,
	"bot.sh":     shellBot(onSlow("sleep 0.05")),
}

// A server that is killed in any stage leaves nothing that prevents the next one from taking the version through.
func TestKilledInEveryStage(t *testing.T) {
	w := newWorld(t)
	v := w.add("phoenix", fileTree(t, slowly))
	if err := w.Store.Close(); err != nil { // only one server can open the directory
		t.Fatal(err)
	}
	for _, state := range []ladder.VersionState{ladder.Building, ladder.Checking, ladder.Trial} {
		server := exec.Command(os.Args[0], "server", fmt.Sprint(v.ID, " ", w.Dir))
		server.Stderr = os.Stderr
		kit.Must(t, server.Start())
		over := make(chan error, 1)
		go func() { over <- server.Wait() }()
		awaitState(t, string(w.Dir), v.ID, state, over)
		server.Process.Kill()
		<-over
		kit.Until(t, "the directory is free", func() bool { // the lock may be held by a child of the killed server
			s, err := store.Open(string(w.Dir), store.Options{Exclusive: true})
			return err == nil && s.Close() == nil
		})
	}
	s, err := store.Open(string(w.Dir), store.Options{Server: true})
	kit.Must(t, err)
	t.Cleanup(func() { s.Close() })
	w.Store = s
	if found, err := filepath.Glob(w.Dir.Bot("[^.]*")); err != nil || len(found) > 0 {
		t.Errorf("there are bots already: %v, %v", found, err)
	}
	pending, err := s.Versions.ListPending(t.Context())
	if err != nil || len(pending) != 1 || pending[0].ID != v.ID {
		t.Errorf("%+v are on their way, %v", pending, err)
	}
	v, stages := w.runStages(v)
	if v.State != ladder.Live || len(stages) != 4 {
		t.Errorf("it is %+v\n%s", v, joinLogs(stages))
	}
}

// awaitState polls the data directory from another process until a version has the state.
func awaitState(t *testing.T, dir string, id int64, state ladder.VersionState, over <-chan error) {
	t.Helper()
	s := kit.Get[*store.Store](t)(store.Open(dir, store.Options{ReadOnly: true}))
	defer s.Close()
	awaitStateIn(t, s, id, state, over)
}

// awaitStateIn is awaitState for an open store. It fails if over receives first.
func awaitStateIn(t *testing.T, s *store.Store, id int64, state ladder.VersionState, over <-chan error) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-over:
			t.Fatalf("it was never %s: %v", state, err)
		case <-tick.C:
		}
		v := kit.Get[ladder.Version](t)(s.Versions.Find(t.Context(), id))
		if v.State == state {
			return
		}
	}
}
