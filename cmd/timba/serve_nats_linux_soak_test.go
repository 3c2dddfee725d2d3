//go:build soak && linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/fleet/fleettest"
)

// TestServeNats covers docs/operating.md, "A NATS cluster that exists": a server and a worker, processes
// of their own, play over a NATS server that is another, with TLS. That is killed in the middle of matches and
// comes back, then the server is: every match is there once or not at all, and both play on.
func TestServeNats(t *testing.T) {
	c := fleettest.Start(t, "../../docs/operating.md", true)
	a := newArena(t, quickLadders(3))
	flags := []string{"--workers", "1", "--nats", c.URL, "--creds", c.Creds, "--log-level", "debug"}
	s := a.serve(t, flags...)

	add := exec.Command(a.program, "admin", "worker", "add", "lab-1", "--creds", c.Creds, "--account-key", c.Key)
	said := new(kit.Output)
	add.Stderr = said
	text, err := add.Output()
	if err != nil || !strings.Contains(said.String(), `the public key of the user of lab-1 is U`) {
		t.Fatalf("%v\n%s", err, said)
	}
	creds := filepath.Join(t.TempDir(), "lab-1.creds")
	if err := os.WriteFile(creds, text, 0o600); err != nil {
		t.Fatal(err)
	}
	out := new(kit.Output)
	w := exec.Command(a.program, "worker", "--nats", c.URL, "--creds", creds, "--data", filepath.Join(t.TempDir(), "worker"), "--cores", "1")
	w.Stdout, w.Stderr = out, out
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.Process.Kill()
		w.Wait()
		if t.Failed() {
			t.Logf("the worker:\n%s", out)
		}
	})
	finished := map[int64]bool{}
	plays := func(what string) {
		t.Helper()
		all := a.matches(t)
		local, there := playedBy(all, "local"), playedBy(all, "lab-1")
		kit.Until(t, what, func() bool {
			all := a.matches(t)
			return playedBy(all, "local") > local+1 && playedBy(all, "lab-1") > there+1
		})
		all = a.matches(t)
		for id := range finished {
			if all[id].State != ladder.Finished {
				t.Errorf("match %d was finished and is %s", id, all[id].State)
			}
		}
		for id, m := range all {
			finished[id] = m.State == ladder.Finished
			if !finished[id] {
				delete(finished, id)
			}
		}
		a.sound(t)
	}
	plays("both play")
	c.Kill()
	kit.Until(t, "the server pauses", func() bool { return strings.Contains(s.log(), "the fleet cannot go on") })
	c.Run()
	plays("both play again after NATS was killed")
	a.kill(t, s)
	a.sound(t)
	s = a.serve(t, flags...)
	plays("both play again after the server was killed")

	if err := w.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := w.Wait(); err != nil {
		t.Errorf("the worker ends with %v", err)
	}
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.exits(t, exitGood)
	a.sound(t)
	for id, m := range a.matches(t) {
		if m.State == ladder.Dropped {
			t.Errorf("match %d was dropped: %s", id, m.Reason)
		}
	}
}
