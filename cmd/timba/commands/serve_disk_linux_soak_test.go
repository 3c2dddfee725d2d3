//go:build soak && linux

package commands

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
)

// TestServeFullDisk checks that on a full disk, or at a limit on file sizes, the server reports the failure,
// pauses, loses nothing, and continues when it can write again.
func TestServeFullDisk(t *testing.T) {
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
				kit.Must(t, os.WriteFile(filepath.Join(a.dir, "timba.toml"), []byte(quickLadders(5)), 0o600))
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
			kit.Must(t, s.Process.Signal(os.Interrupt))
			s.exits(t, cli.ExitGood)
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
	kit.Must(t, err)
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

// limitFiles sets the limit on file sizes so that the server cannot extend any file.
func limitFiles(t *testing.T, _ *arena, s *served) (undo func()) {
	t.Helper()
	var was unix.Rlimit
	kit.Must(t, unix.Prlimit(s.Process.Pid, unix.RLIMIT_FSIZE, nil, &was))
	small := unix.Rlimit{Cur: 4096, Max: was.Max}
	kit.Must(t, unix.Prlimit(s.Process.Pid, unix.RLIMIT_FSIZE, &small, nil))
	return func() {
		if err := unix.Prlimit(s.Process.Pid, unix.RLIMIT_FSIZE, &was, nil); err != nil {
			t.Error(fmt.Errorf("giving the limit back: %w", err))
		}
	}
}

// TestServeRestore covers docs/operating.md, "Backup and restore". A backup of a running server is complete.
// A server with the backup continues the competition, and builds people's bots again from their uploads. The
// old token is valid there, and the operator can make another one.
func TestServeRestore(t *testing.T) {
	t.Parallel()
	a := newArena(t, quickLadders(3))
	s := a.serve(t)
	a.timba(t, s.token, "login", s.url, "--token-file", "-")
	dir := filepath.Join(a.home, "newcomer")
	a.timba(t, "", "init", "python", dir)
	a.timba(t, "", "submit", dir)
	told := len(finishedIn(s.log()))
	until(t, "matches go on", func() bool { return len(finishedIn(s.log())) > told+5 })
	b := *a
	b.dir = filepath.Join(t.TempDir(), "restored")
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
	kit.Must(t, again.Process.Signal(os.Interrupt))
	again.exits(t, cli.ExitGood)
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
