package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/archive"
)

const day = 24 * time.Hour

// moved returns the matches whose documents are in the archive.
func (c *competition) moved() (ids []int64) {
	c.tb.Helper()
	rows, err := c.readers.db.Query("SELECT DISTINCT match_id FROM documents WHERE archive_id IS NOT NULL ORDER BY match_id")
	kit.Must(c.tb, err)
	defer rows.Close()
	for rows.Next() {
		var id int64
		kit.Must(c.tb, rows.Scan(&id))
		ids = append(ids, id)
	}
	kit.Must(c.tb, rows.Err())
	return ids
}

// archived returns the files of the archive.
func (c *competition) archived() (files []archive.File) {
	c.tb.Helper()
	for f, err := range c.archive.List(bg) {
		kit.Must(c.tb, err)
		files = append(files, f)
	}
	return files
}

// What is moved is served as before, verified, and part of a backup.
func TestMove(t *testing.T) {
	t.Parallel()
	c := template(t)
	before := c.keptOf()
	if done, err := c.Move(bg, ladder.Storage{}); err != nil || done.Matches > 0 {
		t.Errorf("moves %+v, %v where matches stay for ever", done, err)
	}
	c.clock.skip(31 * day)
	done := kit.Get[Moved](t)(c.Move(bg, ladder.Storage{Keep: 30 * day}))
	if n := len(c.moved()); n != len(before) || done.Matches != n || done.Files != 1 {
		t.Errorf("%d of %d matches are moved: %+v", n, len(before), done)
	}
	if n := c.count("documents WHERE data IS NOT NULL"); n > 0 {
		t.Errorf("%d documents are in both", n)
	}
	if diff := cmp.Diff(before, c.keptOf()); diff != "" {
		t.Errorf("moved (-before +after): %s", diff)
	}
	wantSound(t, c.Store)
	if done, err := c.Move(bg, ladder.Storage{Keep: 30 * day}); err != nil || done.Matches > 0 {
		t.Errorf("moves %+v again, %v", done, err)
	}

	dir := filepath.Join(t.TempDir(), "backup")
	kit.Must(t, c.Backup(bg, dir, ""))
	backup := openStore(t, dir)
	if diff := cmp.Diff(before, backup.keptOf()); diff != "" {
		t.Errorf("backed up (-before +after): %s", diff)
	}
	wantSound(t, backup.Store)
}

// The last days, the newest of each set of versions and matches with faults stay.
func TestMovePolicy(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	ids := c.ids("@random", "@first", "@greedy")
	var pair, other []int64 // matches
	for range 4 {
		m, _ := c.finished("tebes-4", ids[0], ids[1])
		pair = append(pair, m.ID)
	}
	for range 2 {
		m, _ := c.finished("tebes-4", ids[1], ids[2])
		other = append(other, m.ID)
	}
	turned, _ := c.finished("tebes-4", ids[1], ids[0]) // the same pair
	_, err := c.writer.db.Exec("UPDATE match_slots SET faulty = 1 WHERE match_id = ? AND slot = 0", pair[0])
	kit.Must(t, err)
	running, _ := c.begun("tebes-4", ids[0], ids[2])
	c.clock.skip(10 * day)
	young, _ := c.finished("tebes-4", ids[0], ids[2])

	for _, step := range []struct {
		name  string
		rules ladder.Storage
		moved []int64
	}{
		{"too young", ladder.Storage{Keep: 11 * day}, nil},
		{"more than there are", ladder.Storage{Keep: 5 * day, Matches: 9}, nil},
		{"two of each pair", ladder.Storage{Keep: 5 * day, Matches: 2, Faults: true}, pair[1:3]},
		{"one of each pair", ladder.Storage{Keep: 5 * day, Matches: 1, Faults: true}, slices.Concat(pair[1:], other[:1])},
		{"and faults", ladder.Storage{Keep: 5 * day, Matches: 1}, slices.Concat(pair, other[:1])},
		{"all that are old", ladder.Storage{Keep: 5 * day}, slices.Concat(pair, other, []int64{turned.ID})},
	} {
		if _, err := c.Move(bg, step.rules); err != nil {
			t.Fatal(err)
		}
		if got := c.moved(); !slices.Equal(got, step.moved) {
			t.Errorf("%s: %v are moved, want %v (running %d, young %d)", step.name, got, step.moved, running.ID, young.ID)
		}
	}
}

// Above its size the archive takes no more: the rest stays in the database.
func TestMoveSize(t *testing.T) {
	t.Parallel()
	c := template(t)
	before := c.keptOf()
	c.clock.skip(2 * day)
	var bytes int64
	kit.Must(t, c.readers.db.QueryRow("SELECT sum(length(data)) FROM documents").Scan(&bytes))
	done := kit.Get[Moved](t)(c.Move(bg, ladder.Storage{Keep: day, Size: bytes - 1}))
	if !done.Full || done.Matches > 0 || len(c.archived()) > 0 {
		t.Errorf("moves %+v into files %v", done, c.archived())
	}
	if diff := cmp.Diff(before, c.keptOf()); diff != "" {
		t.Errorf("(-before +after): %s", diff)
	}
	done = kit.Get[Moved](t)(c.Move(bg, ladder.Storage{Keep: day, Size: bytes}))
	if done.Full || done.Bytes != bytes || done.Matches != len(before) {
		t.Errorf("moves %+v of %d matches with %d bytes", done, len(before), bytes)
	}
}

// A damaged file is named, with what it has, and the matches in it; what is read from it is an
// error, not another replay.
func TestMovedDamage(t *testing.T) {
	t.Parallel()
	c := template(t)
	c.clock.skip(2 * day)
	_, err := c.Move(bg, ladder.Storage{Keep: day})
	kit.Must(t, err)
	f := c.archived()[0]
	path := filepath.Join(c.Dir().Archive(), f.Sum.String())
	whole, err := os.ReadFile(path)
	kit.Must(t, err)
	for name, damage := range map[string]func(){
		"it is missing":  func() { kit.Must(t, os.Remove(path)) },
		"unexpected EOF": func() { kit.Must(t, os.WriteFile(path, whole[:len(whole)/2], 0o600)) },
		"the file has the SHA-256": func() {
			kit.Must(t, os.WriteFile(path, slices.Concat(whole[:10], []byte{^whole[10]}, whole[11:]), 0o600))
		},
	} {
		damage()
		found := kit.Get[[]Difference](t)(c.Verify(bg, nil))
		if !slices.ContainsFunc(found, func(d Difference) bool {
			return strings.HasPrefix(d.Where, "archive file "+f.Sum.String()) && strings.Contains(d.What, name)
		}) {
			t.Errorf("%s: found %v", name, found)
		}
		if !slices.ContainsFunc(found, func(d Difference) bool {
			return strings.HasPrefix(d.Where, "match ") && strings.Contains(d.What, f.Sum.String())
		}) {
			t.Errorf("%s: no match is found: %v", name, found)
		}
		kit.Must(t, os.WriteFile(path, whole, 0o600))
	}
	wantSound(t, c.Store)
	kit.Must(t, os.Remove(path))
	if data, err := c.Replay(bg, 1); err == nil {
		t.Errorf("a lost replay is %q", data)
	}
}

// A file that cannot be written, or a stop, moves nothing.
func TestMoveFails(t *testing.T) {
	t.Parallel()
	c := template(t)
	before := c.keptOf()
	c.clock.skip(2 * day)
	good := c.archive
	link := filepath.Join(t.TempDir(), "link") // no directory, and none can be made there
	kit.Must(t, os.Symlink("/nowhere", link))
	c.archive = archive.Directory(link)
	_, err := c.Move(bg, ladder.Storage{Keep: day})
	wantError(t, err, ladder.Unavailable, "archive: mkdir "+link+": file exists: check the disk and the permissions of the directory")
	c.archive = good
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if _, err := c.Move(ctx, ladder.Storage{Keep: day}); !errors.Is(err, context.Canceled) {
		t.Errorf("a stop is %v", err)
	}
	if got := c.moved(); len(got) > 0 {
		t.Errorf("%v are moved", got)
	}
	if diff := cmp.Diff(before, c.keptOf()); diff != "" {
		t.Errorf("(-before +after): %s", diff)
	}
}
