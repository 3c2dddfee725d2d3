//go:build soak && linux

package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/cluster/clustertest"
)

// cluster waits until workers can connect to a server, and returns the URL.
func (s *served) cluster(t testing.TB) (url string) {
	t.Helper()
	until(t, "workers can connect", func() bool {
		if m := regexp.MustCompile(`msg="workers can connect" address=(\S+)`).FindStringSubmatch(s.log()); m != nil {
			url = "nats://" + m[1]
		}
		return url != ""
	})
	return url
}

// worker returns the command of a worker.
func (a *arena) worker(url, creds, dir string) *exec.Cmd {
	return exec.Command(a.program, "worker", "--nats", url, "--creds", creds, "--data", dir, "--cores", "1")
}

// startWorker starts timba worker with credentials for a server, in a directory.
func (a *arena) startWorker(t testing.TB, url, creds, dir string) *running {
	t.Helper()
	return run(t, a.worker(url, creds, dir), (*exec.Cmd).Start)
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

// TestWorker covers docs/operating.md, "Other machines". A worker with credentials of the server plays
// matches, is in the table of timba admin workers, leaves after SIGTERM, and is disconnected when it is
// removed. Nothing of it is left.
func TestWorker(t *testing.T) {
	a := newArena(t, quickLadders(3))
	s := a.serve(t, "--workers", "1", "--cluster", "127.0.0.1:0")
	creds, data := filepath.Join(t.TempDir(), "lab-1.creds"), filepath.Join(t.TempDir(), "worker")
	kit.Must(t, os.WriteFile(creds, []byte(a.timba(t, "", "admin", "worker", "add", "lab-1", "--data", a.dir)), 0o600))
	w := a.startWorker(t, s.cluster(t), creds, data)
	plays := func(more int) {
		t.Helper()
		before := playedBy(a.matches(t), "lab-1")
		kit.Until(t, "the worker has played", func() bool { return playedBy(a.matches(t), "lab-1") >= before+more })
	}
	plays(3)
	t.Setenv("TIMBA_URL", s.url)
	t.Setenv("TIMBA_TOKEN", s.token)
	row := regexp.MustCompile(`(?m)^(lab-1|local) +ready +1 `)
	for _, from := range [][]string{nil, {"--data", a.dir}} { // by the server, and by its directory, where it writes them now and then
		var table string
		kit.Until(t, "both machines are ready", func() bool {
			table = a.timba(t, "", append([]string{"admin", "workers"}, from...)...)
			return len(row.FindAllString(table, -1)) == 2
		})
		if regexp.MustCompile(`[0-9a-f]{64}|127\.0\.0\.1`).MatchString(table) {
			t.Errorf("%v: the table has a seed or an address:\n%s", from, table)
		}
	}
	kit.Must(t, w.Process.Signal(syscall.SIGTERM))
	w.exits(t, cli.ExitGood)
	left, err := filepath.Glob(filepath.Join(data, "*", "[^.]*"))
	if err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}

	w = a.startWorker(t, s.cluster(t), creds, data)
	plays(1)
	a.timba(t, "", "admin", "worker", "remove", "lab-1", "--data", a.dir)
	w.await(t, "NATS refuses the credentials: they were removed")
	kit.Must(t, w.Process.Signal(syscall.SIGTERM))
	w.exits(t, cli.ExitError)
	kit.Must(t, s.Process.Signal(syscall.SIGTERM))
	s.exits(t, cli.ExitGood)
	if text := a.timba(t, "", "admin", "workers", "--data", a.dir); !strings.Contains(text, "no server runs with this data directory") {
		t.Errorf("without a server timba admin workers says %q", text)
	}
	a.sound(t)
}

// TestServeNats covers docs/operating.md, "A NATS cluster that exists". With credentials of its account, the
// server and a worker play over a NATS server in a process of its own, with TLS. TestGuests of ladder/cluster
// checks what happens when that server is lost.
func TestServeNats(t *testing.T) {
	c := clustertest.Start(t, "../../../docs/operating.md", true)
	a := newArena(t, quickLadders(3))
	s := a.serve(t, "--workers", "1", "--nats", c.URL, "--creds", c.Creds)
	add := exec.Command(a.program, "admin", "worker", "add", "lab-1", "--creds", c.Creds, "--account-key", c.Key)
	said := new(kit.Output)
	add.Stderr = said
	text, err := add.Output()
	if err != nil || !strings.Contains(said.String(), `the public key of the user of lab-1 is U`) {
		t.Fatalf("%v\n%s", err, said)
	}
	creds := filepath.Join(t.TempDir(), "lab-1.creds")
	kit.Must(t, os.WriteFile(creds, text, 0o600))
	w := a.startWorker(t, c.URL, creds, filepath.Join(t.TempDir(), "worker"))
	kit.Until(t, "both play", func() bool {
		all := a.matches(t)
		return playedBy(all, "local") > 1 && playedBy(all, "lab-1") > 1
	})
	kit.Must(t, w.Process.Signal(syscall.SIGTERM))
	w.exits(t, cli.ExitGood)
	kit.Must(t, s.Process.Signal(syscall.SIGTERM))
	s.exits(t, cli.ExitGood)
	a.sound(t)
}
