package main

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
)

// longLadder has matches of some seconds.
const longLadder = `[[ladder]]
name = "brisca"
game = "brisca"
deals = 300
clock = {movetime = 10000, startup = 60000}
house = ["@random", "@first", "@greedy"]
`

// playing waits until matches are being played.
func (s *served) playing(t *testing.T) {
	t.Helper()
	until(t, "a match is played", func() bool { return strings.Contains(s.log(), "match begins") })
}

// On SIGTERM, or when the terminal is closed, running matches finish if they have time; else they
// are interrupted, and wait.
func TestServeStop(t *testing.T) {
	t.Parallel()
	// The tests may run with SIGHUP ignored, as under nohup, which servers would inherit.
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	for _, test := range []struct {
		name, grace string
		signal      syscall.Signal
		state       ladder.MatchState // of the matches that run
	}{
		{"time to finish", "5m", syscall.SIGTERM, ladder.Finished},
		{"no time", "0s", syscall.SIGTERM, ladder.Waiting},
		{"no terminal", "0s", syscall.SIGHUP, ladder.Waiting},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := newArena(t, longLadder)
			s := a.serve(t, "--log-level", "debug", "--grace", test.grace)
			s.playing(t)
			if err := s.Process.Signal(test.signal); err != nil {
				t.Fatal(err)
			}
			s.exits(t, exitGood)
			begun := 0
			for id, m := range a.matches(t) {
				if len(m.Attempts) == 0 {
					continue // chosen, but not begun when the signal came
				}
				begun++
				if m.State != test.state {
					t.Errorf("match %d is %s, want %s\n%s", id, m.State, test.state, s.log())
				}
				for _, attempt := range m.Attempts {
					if attempt.Seed == nil || test.state == ladder.Waiting && attempt.Reason != "the server stopped" {
						t.Errorf("match %d has the attempt %+v", id, attempt)
					}
				}
			}
			if begun == 0 {
				t.Error("no match has begun")
			}
			a.sound(t)
		})
	}
}

// A second signal ends the server at once, and leaves nothing more behind than kill -9.
func TestServeStopTwice(t *testing.T) {
	t.Parallel()
	a := newArena(t, longLadder)
	s := a.serve(t, "--log-level", "debug", "--grace", "1h")
	s.playing(t)
	world := a.world(t, s)
	until(t, "it has ended", func() bool {
		s.Process.Signal(syscall.SIGTERM)
		select {
		case <-s.ended:
			return true
		default:
			return false
		}
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

// The server reports its health and its metrics, and no secrets.
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
	s.exits(t, exitGood)
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

// refusedLine requires a command to have ended with status 2 and one line.
func refusedLine(t *testing.T, out string, err error, texts ...string) {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitError || strings.Count(out, "\n") != 1 {
		t.Errorf("%v, want status %d and one line:\n%s", err, exitError, out)
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

// TestServeRefuses: a server that cannot start says why in one line.
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
		s.exits(t, exitGood)
		path := filepath.Join(a.dir, "timba.db")
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)"); err != nil {
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

// TestServeFullDisk: on a full disk, or at a limit on file sizes, the server reports the failure,
// pauses, loses nothing, and resumes when it can write again.
func TestServeFullDisk(t *testing.T) {
	kit.Slow(t)
	ways := map[string]func(*testing.T, *arena, *served) (undo func()){"limit of files": limitFiles}
	sizes, flags := map[string]string{}, map[string][]string{}
	if os.Geteuid() == 0 {
		ways["full disk"], sizes["full disk"] = fillDisk, "size=24m"
		// The results of workers are on the disk, too.
		ways["full disk of a cluster"], sizes["full disk of a cluster"] = fillDisk, "size=48m"
		flags["full disk of a cluster"] = []string{"--cluster", "127.0.0.1:0"}
	}
	for name, fill := range ways {
		t.Run(name, func(t *testing.T) {
			a := newArena(t, quickLadders(5))
			if sizes[name] != "" {
				tmpfs(t, a.dir, sizes[name])
				if err := os.WriteFile(filepath.Join(a.dir, "timba.toml"), []byte(quickLadders(5)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s := a.serve(t, flags[name]...)
			until(t, "a match is finished", func() bool { return len(finishedIn(s.log())) > 0 })
			undo := fill(t, a, s)
			until(t, "it is paused", func() bool {
				status, body := s.get(t, "/healthz")
				return status == http.StatusServiceUnavailable && strings.Contains(body, "no matches have been played since")
			})
			undo()
			told := len(finishedIn(s.log()))
			until(t, "it goes on", func() bool {
				status, _ := s.get(t, "/healthz")
				return status == http.StatusOK && len(finishedIn(s.log())) > told+3
			})
			if err := s.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			s.exits(t, exitGood)
			a.sound(t)
			all := a.matches(t)
			for _, id := range finishedIn(s.log()) {
				if all[id].State != ladder.Finished {
					t.Errorf("match %d was reported as finished and is %q", id, all[id].State)
				}
			}
			for id, m := range all {
				if m.State != ladder.Finished {
					t.Errorf("match %d is %s: %s\n%s", id, m.State, m.Reason, s.log())
				}
			}
			if !strings.Contains(s.log(), "the server cannot play: paused") || !strings.Contains(s.log(), "the server can play again") {
				t.Errorf("the log says nothing of it:\n%s", s.log())
			}
		})
	}
}

// fillDisk writes until the disk is full.
func fillDisk(t *testing.T, a *arena, _ *served) (undo func()) {
	t.Helper()
	path := filepath.Join(a.dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	f.Close()
	return func() {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}

// limitFiles sets the limit on file sizes so that the server can extend no file.
func limitFiles(t *testing.T, _ *arena, s *served) (undo func()) {
	t.Helper()
	var was unix.Rlimit
	if err := unix.Prlimit(s.Process.Pid, unix.RLIMIT_FSIZE, nil, &was); err != nil {
		t.Fatal(err)
	}
	small := unix.Rlimit{Cur: 4096, Max: was.Max}
	if err := unix.Prlimit(s.Process.Pid, unix.RLIMIT_FSIZE, &small, nil); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := unix.Prlimit(s.Process.Pid, unix.RLIMIT_FSIZE, &was, nil); err != nil {
			t.Error(fmt.Errorf("giving the limit back: %w", err))
		}
	}
}

// TestServeRestore covers docs/operating.md, "Backup and restore": a backup of a running server is
// complete, and a server on it resumes the competition, with people's bots built again from their
// uploads. The old token works there, and the operator can make another.
func TestServeRestore(t *testing.T) {
	kit.Slow(t)
	t.Parallel()
	a := newArena(t, quickLadders(3))
	s := a.serve(t)
	a.timba(t, s.token, "login", s.url, "--token-file", "-")
	dir := filepath.Join(a.home, "newcomer")
	a.timba(t, "", "init", "python", dir)
	a.timba(t, "", "submit", dir)
	told := len(finishedIn(s.log()))
	until(t, "matches go on", func() bool { return len(finishedIn(s.log())) > told+5 })
	b := &arena{program: a.program, dir: filepath.Join(t.TempDir(), "restored"), home: a.home}
	a.timba(t, "", "admin", "backup", "--data", a.dir, b.dir)
	if out := a.timba(t, "", "admin", "verify", "--data", b.dir); !strings.Contains(out, "0 differences found") {
		t.Errorf("verify says\n%s", out)
	}
	before := b.matches(t)
	again := b.serve(t)
	if again.token != "" {
		t.Error("it makes another admin")
	}
	newcomer := func(m ladder.Match) bool { return m.State == ladder.Finished && slices.Contains(m.Bots, "newcomer") }
	seen := 0
	until(t, "the newcomer plays", func() bool {
		ids := finishedIn(again.log())
		if len(ids) == seen {
			return false
		}
		seen = len(ids)
		all := b.matches(t)
		return slices.ContainsFunc(ids, func(id int64) bool { return newcomer(all[id]) })
	})
	b.timba(t, s.token, "login", again.url, "--token-file", "-")
	other := b.timba(t, "", "admin", "token", "--data", b.dir, "admin")
	b.timba(t, other, "login", again.url, "--token-file", "-")
	if err := again.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	again.exits(t, exitGood)
	b.sound(t)
	for id, m := range before {
		if m.State != ladder.Finished {
			continue
		}
		if diff := cmp.Diff(m, b.matches(t)[id]); diff != "" {
			t.Errorf("match %d is not what it was (-was +is):\n%s", id, diff)
		}
		break
	}
}
