package commands

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
)

// longLadder has matches of twenty games.
const longLadder = `[limits]
time = "168h"
[[ladder]]
name = "brisca"
game = "brisca"
deals = 10
clock = {movetime = 60000, startup = 60000}
house = ["@random", "@first", "@greedy"]
`

// endlessLadder has matches that do not end, as one of the bots thinks for an hour.
const endlessLadder = `[limits]
time = "168h"
[[ladder]]
name = "tebes"
game = "tebes"
deals = 1
clock = {movetime = 36000000, startup = 60000}
house = ["@random", "@tebes-mcts:time=1h"]
`

// playing waits until matches are in progress.
func (s *served) playing(t *testing.T) {
	t.Helper()
	until(t, "a match is played", func() bool { return strings.Contains(s.log(), "match begins") })
}

// After SIGTERM, or when the terminal is closed, running matches finish if they have time. Otherwise they are
// interrupted, and the next server plays them again.
func TestServeStop(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, ladder, grace string
		signal              syscall.Signal
		state               ladder.MatchState // of the matches that run
	}{
		{"time to finish", longLadder, "24h", syscall.SIGTERM, ladder.Finished},
		{"no time", endlessLadder, "0s", syscall.SIGTERM, ladder.Waiting},
		{"no terminal", endlessLadder, "0s", syscall.SIGHUP, ladder.Waiting},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := newArena(t, test.ladder)
			s := a.serve(t, "--log-level", "debug", "--grace", test.grace)
			s.playing(t)
			kit.Must(t, s.Process.Signal(test.signal))
			s.exits(t, cli.ExitGood)
			begun := map[int64]bool{}
			for id, m := range a.matches(t) {
				if len(m.Attempts) == 0 {
					continue // chosen, but not begun when the signal came
				}
				begun[id] = true
				if m.State != test.state {
					t.Errorf("match %d is %s, want %s", id, m.State, test.state)
				}
				for _, attempt := range m.Attempts {
					if attempt.Seed == nil || test.state == ladder.Waiting && attempt.Reason.String() != "the server stopped" {
						t.Errorf("match %d has the attempt %+v", id, attempt)
					}
				}
			}
			if len(begun) == 0 {
				t.Error("no match has begun")
			}
			a.sound(t)
			if test.state == ladder.Finished {
				return
			}
			s = a.serve(t, "--log-level", "debug", "--grace", "0s")
			for id := range begun {
				until(t, "the interrupted match is played again", func() bool {
					return strings.Contains(s.log(), fmt.Sprintf(`msg="match begins" match=%d `, id))
				})
			}
			kit.Must(t, s.Process.Signal(test.signal))
			s.exits(t, cli.ExitGood)
			for id := range begun {
				if m := a.matches(t)[id]; m.State != ladder.Waiting || len(m.Attempts) != 2 {
					t.Errorf("match %d is %s after a second server, with %d attempts", id, m.State, len(m.Attempts))
				}
			}
		})
	}
}

// A second signal ends the server at once. Nothing more is left than after kill -9.
func TestServeStopTwice(t *testing.T) {
	t.Parallel()
	a := newArena(t, endlessLadder)
	s := a.serve(t, "--log-level", "debug", "--grace", "1h")
	s.playing(t)
	world := a.world(t, s)
	until(t, "it has ended", func() bool {
		s.Process.Signal(syscall.SIGTERM)
		return s.over()
	})
	if status := s.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v", s.ProcessState)
	}
	until(t, "nothing of the server is left", func() bool { return len(world.left(t)) == 0 })
	a.sound(t)
}

// get requests a path of a server, and returns the status and the body.
func (s *served) get(t *testing.T, path string) (int, string) {
	t.Helper()
	response, err := http.Get(s.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// The server publishes its health and its metrics, but no secrets.
func TestServeTells(t *testing.T) {
	t.Parallel()
	a := newArena(t, quickLadders(3))
	s := a.serve(t, "--log-level", "debug", "--log-format", "json", "--workers", "1")
	until(t, "a match is finished", func() bool { return strings.Contains(s.log(), `"msg":"match finished"`) })
	if status, body := s.get(t, "/healthz"); status != http.StatusOK {
		t.Errorf("/healthz: %d %s", status, body)
	}
	_, figures := s.get(t, "/metrics")
	for _, line := range []string{`timba_matches_finished_total{ladder="`, "timba_workers 1\n", "timba_paused 0\n", "go_goroutines "} {
		if !strings.Contains(figures, line) {
			t.Errorf("/metrics has no %s:\n%s", line, figures)
		}
	}
	if err := s.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	s.exits(t, cli.ExitGood)
	if !strings.HasPrefix(s.token, "timba_") || strings.Contains(s.log(), "timba_") {
		t.Errorf("the token is %d bytes long, and the log:\n%s", len(s.token), s.log())
	}
	again := a.serve(t)
	if again.token != "" {
		t.Error("the second start shows a token, too")
	}
	other := exec.Command("timba", "serve", "--data", a.dir, "--listen", "127.0.0.1:0")
	out, err := other.CombinedOutput()
	refusedLine(t, string(out), err, "data: directory", "is in use by another server")
}

// refusedLine requires that a command has ended with status 2 and a single line.
func refusedLine(t *testing.T, out string, err error, texts ...string) {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != cli.ExitError || strings.Count(out, "\n") != 1 {
		t.Errorf("%v, want status %d and one line:\n%s", err, cli.ExitError, out)
	}
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("it says nothing of %q:\n%s", text, out)
		}
	}
}

// tmpfs mounts a small disk over a directory.
func tmpfs(t *testing.T, dir, options string) {
	t.Helper()
	if err := unix.Mount("test", dir, "tmpfs", 0, options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
}

// TestServeRefuses checks that a server that cannot start says why in one line.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	serve := func(a *arena, args ...string) (string, error) {
		out, err := exec.Command("timba", append([]string{"serve", "--data", a.dir}, args...)...).CombinedOutput()
		return string(out), err
	}
	t.Run("read-only directory", func(t *testing.T) {
		a := newArena(t, "")
		if os.Geteuid() == 0 { // whom no permission stops
			tmpfs(t, a.dir, "")
			if err := unix.Mount("", a.dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
				t.Fatal(err)
			}
		} else if err := os.Chmod(a.dir, 0o500); err != nil {
			t.Fatal(err)
		}
		out, err := serve(a, "--listen", "127.0.0.1:0")
		refusedLine(t, out, err, "data: directory", a.dir)
	})
	t.Run("port in use", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		out, err := serve(newArena(t, ""), "--listen", l.Addr().String())
		refusedLine(t, out, err, "listen: "+l.Addr().String()+" is in use", "choose another address with --listen")
	})
	t.Run("newer database", func(t *testing.T) {
		a := newArena(t, quickLadders(3))
		s := a.serve(t)
		s.Process.Signal(os.Interrupt)
		s.exits(t, cli.ExitGood)
		path := filepath.Join(a.dir, "timba.db")
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("PRAGMA user_version = 99999"); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out, err := serve(a, "--listen", "127.0.0.1:0")
		refusedLine(t, out, err, "newer")
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("the database has changed (%v)", err)
		}
	})
}
