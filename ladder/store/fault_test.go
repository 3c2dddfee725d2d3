//go:build !race || slowrace

package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
)

func wantUnavailable(t *testing.T, err error, text string) {
	t.Helper()
	if ladder.CodeOf(err) != ladder.Unavailable || !strings.Contains(err.Error(), text) {
		t.Errorf("says %v (%q), want %s", err, ladder.CodeOf(err), text)
	}
}

// TestFullDatabase checks that a database that cannot grow refuses a match completely, and stores it when there
// is room.
func TestFullDatabase(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	ids := c.liveIDs("@random", "@first")
	m, seed := c.startRatedMatch("tebes-4", ids...)
	played := playMatch(t, m, seed)
	noise := make([]byte, 50_000)
	rand.Read(noise)
	played[1].Logs[0] = noise // needs many pages
	var pages, free int
	kit.Must(t, c.writer.QueryRow("PRAGMA page_count").Scan(&pages))
	for free = 0; ; free++ { // pages by which the database may grow
		_, err := c.writer.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages+free))
		kit.Must(t, err)
		_, err = c.Matches.Finish(bg, m.ID, c.lastAttempt(m.ID), played)
		if err == nil {
			break
		}
		wantUnavailable(t, err, "data: the disk is full: ")
		if !strings.HasSuffix(err.Error(), ": make room on it") {
			t.Errorf("says %v", err)
		}
		wantSound(t, c.Store)
		if n := c.countRows("results"); n != 0 {
			t.Fatalf("%d games were kept", n)
		}
	}
	if free == 0 {
		t.Error("there was room from the start")
	}
	wantSound(t, c.Store)
}

// TestOneServer checks that a directory has at most one server, that commands can work beside it, and that
// Close releases the lock.
func TestOneServer(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	_, err := Open(string(c.Dir()), Options{Server: true})
	wantError(t, err, ladder.Unavailable, fmt.Sprintf("data: directory %q is in use by another server: stop that server, or name another directory", c.Dir()))
	beside, err := Open(string(c.Dir()), Options{})
	kit.Must(t, err)
	_, err = beside.People.Add(bg, "anna", false)
	kit.Must(t, err)
	if _, err := c.People.FindByName(bg, "anna"); err != nil {
		t.Error(err)
	}
	kit.Must(t, beside.Close())
	kit.Must(t, c.Close())
	next := openStore(t, string(c.Dir()))
	_, err = next.People.FindByName(bg, "anna")
	kit.Must(t, err)
}

// TestNewerSchema checks that a database of a newer program is refused and not changed.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	_, err := c.writer.Exec("PRAGMA user_version = 99")
	kit.Must(t, err)
	kit.Must(t, c.Close())
	for _, o := range []Options{{Server: true}, {}, {ReadOnly: true}} {
		_, err = Open(string(c.Dir()), o)
		wantUnavailable(t, err, fmt.Sprintf("data: the database in %q has schema 99, and this timba knows none above ", c.Dir()))
	}
}

// TestNoDatabase checks that only a server creates a database.
func TestNoDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, o := range []Options{{}, {ReadOnly: true}} {
		_, err := Open(dir, o)
		wantError(t, err, ladder.NotFound, fmt.Sprintf("data: directory %q has no timba.db: name the directory of a server, or start one in %s", dir, dir))
	}
	file := filepath.Join(dir, "file")
	kit.Must(t, os.WriteFile(file, nil, 0o600))
	_, err := Open(filepath.Join(file, "data"), Options{Server: true})
	wantUnavailable(t, err, "cannot be made: ")
	kit.Must(t, os.WriteFile(datadir.Dir(dir).Database(), []byte(strings.Repeat("this is no database", 500)), 0o600))
	_, err = Open(dir, Options{Server: true})
	wantUnavailable(t, err, "data: the database is damaged: ")
}

// TestDirNames checks that the name of a directory may contain characters with a meaning in a URI.
func TestDirNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b&c=d ñ#1", "what? 100% %41"} {
		parent := t.TempDir()
		dir := filepath.Join(parent, name)
		s, err := Open(dir, Options{Server: true, NoSync: true}) // which makes it
		kit.Must(t, err)
		kit.Must(t, s.Close())
		if _, err := os.Stat(datadir.Dir(dir).Database()); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if all, err := os.ReadDir(parent); err != nil || len(all) != 1 {
			t.Errorf("%q: beside it there are %v, %v", name, all, err)
		}
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	c := copyBusyCompetition(t)
	s, err := Open(string(c.Dir()), Options{ReadOnly: true})
	kit.Must(t, err)
	defer s.Close()
	_, err = s.People.Add(bg, "anna", false)
	wantError(t, err, ladder.Unavailable, fmt.Sprintf("data: directory %q is open read-only: open it without read-only", c.Dir()))
	wantSound(t, s)
}

// TestRights checks that other users of the machine cannot read the database, whatever the rights of the directory.
func TestRights(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // files have the rights of the directory there
	}
	dir := t.TempDir()
	kit.Must(t, os.Chmod(dir, 0o755))
	s, err := Open(dir, Options{Server: true, NoSync: true}) // which makes them
	kit.Must(t, err)
	kit.Must(t, s.Close())
	c := openStore(t, dir)
	c.syncConfig()
	for _, name := range []string{"timba.db", "timba.db-wal", "timba.db-shm"} {
		info := kit.Get[os.FileInfo](t)(os.Stat(filepath.Join(dir, name)))
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the rights %v", name, info.Mode())
		}
	}
}

// TestPragmas checks that the pragmas are set on every connection.
func TestPragmas(t *testing.T) {
	t.Parallel()
	c := kit.Get[*Store](t)(Open(t.TempDir(), Options{Server: true}))
	defer c.Close()
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "10000"} {
		var got string
		kit.Must(t, c.writer.QueryRow("PRAGMA "+pragma).Scan(&got))
		if got != want {
			t.Errorf("the writer's %s is %s, not %s", pragma, got, want)
		}
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			conn, err := c.readers.Conn(bg)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			if _, err := conn.ExecContext(bg, "DELETE FROM people"); err == nil {
				t.Error("a reader can write")
			}
		})
	}
	group.Wait()
}

// TestBackupFails checks that a failed backup leaves nothing.
func TestBackupFails(t *testing.T) {
	t.Parallel()
	c := copyBusyCompetition(t)
	parent := t.TempDir()
	empty := func() {
		t.Helper()
		left := kit.Get[[]os.DirEntry](t)(os.ReadDir(parent))
		if len(left) > 0 {
			t.Errorf("left %v", left)
		}
	}
	dead, cancel := context.WithCancel(bg)
	cancel()
	if err := c.Backup(dead, filepath.Join(parent, "backup"), ""); !errors.Is(err, context.Canceled) {
		t.Errorf("says %v", err)
	}
	empty()
	hashes, err := c.Versions.Bundles(bg)
	kit.Must(t, err)
	kit.Must(t, os.Remove(filepath.Join(c.Dir().Bundles(), hashes[0])))
	err = c.Backup(bg, filepath.Join(parent, "backup"), "")
	wantError(t, err, ladder.Unavailable, "backup: upload "+hashes[0]+" is missing: a verification lists all that is missing")
	empty()
	file := filepath.Join(parent, "file")
	kit.Must(t, os.WriteFile(file, nil, 0o600))
	wantUnavailable(t, c.Backup(bg, filepath.Join(file, "backup"), ""), "backup: ")
}
