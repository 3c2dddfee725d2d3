//go:build soak && linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
)

// cluster waits until workers can connect to a server, and returns the address.
func (s *served) cluster(t testing.TB) (address string) {
	t.Helper()
	until(t, "workers can connect", func() bool {
		if m := regexp.MustCompile(`msg="workers can connect" address=(\S+)`).FindStringSubmatch(s.log()); m != nil {
			address = m[1]
		}
		return address != ""
	})
	return address
}

// worker returns the command of a worker, and what it will write.
func (a *arena) worker(address, creds, dir string) (*exec.Cmd, *kit.Output) {
	cmd, out := exec.Command(a.program, "worker", "--nats", "nats://"+address, "--creds", creds, "--data", dir, "--cores", "1"), new(kit.Output)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd, out
}

// startWorker starts timba worker with credentials for a server, in a directory.
func (a *arena) startWorker(t testing.TB, s *served, creds, dir string) (*exec.Cmd, *kit.Output) {
	t.Helper()
	cmd, out := a.worker(s.cluster(t), creds, dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		if t.Failed() {
			t.Logf("the worker:\n%s", out)
		}
	})
	return cmd, out
}

// playedBy returns how many finished matches a machine has played.
func playedBy(matches map[int64]ladder.Match, machine string) (n int) {
	for _, m := range matches {
		if m.State == ladder.Finished && m.Attempts[len(m.Attempts)-1].Machine == machine {
			n++
		}
	}
	return n
}

// TestWorker covers docs/operating.md, "Other machines": a worker with credentials of the server plays
// matches, is in the table of timba admin workers, leaves on SIGTERM, and is cut off when it is
// removed. Nothing of it stays.
func TestWorker(t *testing.T) {
	a := newArena(t, quickLadders(3))
	s := a.serve(t, "--workers", "1", "--cluster", "127.0.0.1:0")
	creds, data := filepath.Join(t.TempDir(), "lab-1.creds"), filepath.Join(t.TempDir(), "worker")
	if err := os.WriteFile(creds, []byte(a.timba(t, "", "admin", "worker", "add", "lab-1", "--data", a.dir)), 0o600); err != nil {
		t.Fatal(err)
	}
	w, _ := a.startWorker(t, s, creds, data)
	plays := func(more int) {
		t.Helper()
		before := playedBy(a.matches(t), "lab-1")
		kit.Until(t, "the worker has played", func() bool { return playedBy(a.matches(t), "lab-1") >= before+more })
	}
	plays(3)
	t.Setenv("TIMBA_URL", s.url)
	t.Setenv("TIMBA_TOKEN", s.token)
	for _, from := range [][]string{nil, {"--data", a.dir}} { // by the server and by its directory
		table := a.timba(t, "", append([]string{"admin", "workers"}, from...)...)
		for _, row := range []string{`(?m)^lab-1 +ready +1 `, `(?m)^local +ready +1 `} {
			if !regexp.MustCompile(row).MatchString(table) {
				t.Errorf("%v: the table does not match %q:\n%s", from, row, table)
			}
		}
		if regexp.MustCompile(`[0-9a-f]{64}|127\.0\.0\.1`).MatchString(table) {
			t.Errorf("%v: the table has a seed or an address:\n%s", from, table)
		}
	}
	kit.Must(t, w.Process.Signal(syscall.SIGTERM))
	if err := w.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(data, "*", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}

	w, out := a.startWorker(t, s, creds, data)
	plays(1)
	a.timba(t, "", "admin", "worker", "remove", "lab-1", "--data", a.dir)
	kit.Until(t, "the worker is cut off", func() bool { return strings.Contains(out.String(), "revoked") })
	if err := w.Process.Kill(); err != nil {
		t.Error(err)
	}
	w.Wait()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.exits(t, exitGood)
	if text := a.timba(t, "", "admin", "workers", "--data", a.dir); !strings.Contains(text, "no server runs with this data directory") {
		t.Errorf("without a server timba admin workers says %q", text)
	}
	a.sound(t)
}
