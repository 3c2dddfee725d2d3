//go:build !race || slowrace

package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/size"
	"github.com/timba-arena/timba/ladder"
)

const day = 24 * time.Hour

// archivedMatches returns the IDs of the matches whose documents are in the archive.
func (c *competition) archivedMatches() (ids []int64) {
	c.tb.Helper()
	_, rows := c.rows("SELECT DISTINCT match_id FROM documents WHERE archive_id IS NOT NULL ORDER BY match_id")
	for _, row := range rows {
		ids = append(ids, row[0].(int64))
	}
	return ids
}

func (c *competition) archiveFiles() (files []string) {
	entries, _ := os.ReadDir(c.Dir().Archive()) // none before the first is written
	for _, e := range entries {
		files = append(files, e.Name())
	}
	return files
}

// TestMoveDocuments checks that moved documents are served as before, verified, and included in backups.
func TestMoveDocuments(t *testing.T) {
	// limit: storage.days
	t.Parallel()
	c := copyBusyCompetition(t)
	before := c.storedDocuments()
	if done, err := c.MoveDocuments(bg, ladder.Storage{}); err != nil || done.Matches > 0 {
		t.Errorf("moves %+v, %v where matches stay for ever", done, err)
	}
	c.clock.skip(31 * day)
	done := kit.Get[MoveReport](t)(c.MoveDocuments(bg, ladder.Storage{Days: 30}))
	if n := len(c.archivedMatches()); n != len(before) || done.Matches != n || done.Files != 1 {
		t.Errorf("%d of %d matches are moved: %+v", n, len(before), done)
	}
	if n := c.countRows("documents WHERE data IS NOT NULL"); n > 0 {
		t.Errorf("%d documents are in both", n)
	}
	if diff := cmp.Diff(before, c.storedDocuments()); diff != "" {
		t.Errorf("moved (-before +after): %s", diff)
	}
	wantSound(t, c.Store)
	if done, err := c.MoveDocuments(bg, ladder.Storage{Days: 30}); err != nil || done.Matches > 0 {
		t.Errorf("moves %+v again, %v", done, err)
	}

	dir := filepath.Join(t.TempDir(), "backup")
	kit.Must(t, c.Backup(bg, dir, ""))
	backup := openStore(t, dir)
	if diff := cmp.Diff(before, backup.storedDocuments()); diff != "" {
		t.Errorf("backed up (-before +after): %s", diff)
	}
	wantSound(t, backup.Store)
}

// TestMoveKeepsTheLast checks that recent and unfinished matches stay in the database.
func TestMoveKeepsTheLast(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	ids := c.liveIDs("@random", "@first", "@greedy")
	old, _ := c.playRatedMatch("tebes-4", ids[0], ids[1])
	c.startRatedMatch("tebes-4", ids[0], ids[2])
	c.clock.skip(10 * day)
	c.playRatedMatch("tebes-4", ids[0], ids[2])
	for _, x := range []struct {
		days  int
		moved []int64
	}{{11, nil}, {5, []int64{old.ID}}} {
		kit.Get[MoveReport](t)(c.MoveDocuments(bg, ladder.Storage{Days: x.days}))
		if got := c.archivedMatches(); !slices.Equal(got, x.moved) {
			t.Errorf("of matches older than %d days %v are moved, want %v", x.days, got, x.moved)
		}
	}
}

// TestMoveAfterWrongClock checks that a match that finished while the clock was wrong stays, and does not hold
// up later matches.
func TestMoveAfterWrongClock(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	ids := c.liveIDs("@random", "@first")
	c.clock.skip(1000 * day)
	early, _ := c.playRatedMatch("tebes-4", ids...)
	c.clock.skip(-1000 * day)
	later, _ := c.playRatedMatch("tebes-4", ids...)
	c.clock.skip(31 * day)
	kit.Get[MoveReport](t)(c.MoveDocuments(bg, ladder.Storage{Days: 30}))
	if got := c.archivedMatches(); !slices.Equal(got, []int64{later.ID}) {
		t.Errorf("%v are moved, and not %d; %d is of the future", got, later.ID, early.ID)
	}
}

// wantMoveContinues opens a directory in which a move was interrupted, continues the move, and checks that
// nothing stays behind, is lost or is duplicated.
func wantMoveContinues(t *testing.T, dir, what string, before map[int64]storedDocument) {
	t.Helper()
	c := openStore(t, dir)
	c.clock.skip(31 * day)
	kit.Get[MoveReport](t)(c.MoveDocuments(bg, ladder.Storage{Days: 30}))
	if n := c.countRows("documents WHERE archive_id IS NULL"); n > 0 {
		t.Errorf("%s: %d documents stay", what, n)
	}
	files := kit.Get[[]os.DirEntry](t)(os.ReadDir(c.Dir().Archive()))
	if n := c.countRows("archives"); len(files) != n {
		t.Errorf("%s: there are %d files, and %d have names", what, len(files), n)
	}
	if diff := cmp.Diff(before, c.storedDocuments()); diff != "" {
		t.Errorf("%s (-before +after): %s", what, diff)
	}
	wantSound(t, c.Store)
	kit.Must(t, c.Close())
}

// moveByTwo is MoveDocuments with two matches per file.
func (c *competition) moveByTwo(ctx context.Context) error {
	m := c.mover(ctx, ladder.Storage{Days: 30})
	m.maxMatches = 2
	if err := m.sweep(); err != nil {
		return err
	}
	return m.run()
}

// TestMoveKilled checks that a move continues after a server was killed before a file was written, before the
// database referred to it, or after that.
func TestMoveKilled(t *testing.T) {
	t.Parallel()
	c := copyBusyCompetition(t)
	before := c.storedDocuments()
	c.clock.skip(31 * day)
	var mu sync.Mutex // package sql looks at a transaction's context, too, even when the transaction has ended
	var over bool
	var left []string // copies of the directory
	kill := func() {
		mu.Lock()
		defer mu.Unlock()
		if over {
			return
		}
		dir := filepath.Join(t.TempDir(), "data")
		kit.Must(t, os.CopyFS(dir, os.DirFS(string(c.Dir()))))
		left = append(left, dir)
	}
	now := c.options.Now
	c.options.Now = func() time.Time { // called by who is about to name a file
		kill()
		return now()
	}
	kit.Must(t, c.moveByTwo(&contextAt{bg, kill})) // who is about to write a file looks at it
	kill()
	mu.Lock()
	over = true
	mu.Unlock()
	if len(left) < 8 {
		t.Errorf("it is killed only %d times", len(left))
	}
	for i, dir := range left {
		if i%2 == 0 { // in the middle of a file
			kit.Must(t, os.MkdirAll(filepath.Join(dir, "archive"), 0o700))
			kit.Must(t, os.WriteFile(filepath.Join(dir, "archive", ".new-1"), []byte("half"), 0o600))
		}
		wantMoveContinues(t, dir, fmt.Sprintf("kill %d of %d", i, len(left)), before)
	}
}

// contextAt is a context that calls look when its error is read.
type contextAt struct {
	context.Context
	look func()
}

func (w *contextAt) Err() error {
	w.look()
	return w.Context.Err()
}

// TestMoveStopped checks that a move can continue after its context ended at any moment.
func TestMoveStopped(t *testing.T) {
	t.Parallel()
	from := makeTemplate(t)
	before := copyBusyCompetition(t).storedDocuments()
	stride := 17
	if kit.Soak {
		stride = 1
	}
	for n := 0; ; n += stride {
		dir := filepath.Join(t.TempDir(), "data")
		kit.Must(t, os.CopyFS(dir, os.DirFS(from)))
		c := openStore(t, dir)
		c.clock.skip(31 * day)
		ctx := newCountingContext(n)
		err := c.moveByTwo(ctx)
		kit.Must(t, c.Close())
		wantMoveContinues(t, dir, fmt.Sprintf("stopped after %d looks", n), before)
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("stopped after %d looks: %v", n, err)
		}
	}
}

// countingContext is a context that ends when it was used a given number of times.
type countingContext struct {
	context.Context
	cancel context.CancelFunc
	left   atomic.Int64
}

func newCountingContext(n int) *countingContext {
	c := new(countingContext)
	c.Context, c.cancel = context.WithCancel(bg)
	c.left.Store(int64(n))
	return c
}

func (c *countingContext) Err() error {
	c.count()
	return c.Context.Err()
}

func (c *countingContext) Done() <-chan struct{} {
	c.count()
	return c.Context.Done()
}

func (c *countingContext) count() {
	if c.left.Add(-1) < 0 {
		c.cancel()
	}
}

// TestMoveSize checks that the archive does not exceed its size limit: other documents stay in the database.
func TestMoveSize(t *testing.T) {
	// limit: storage.size
	t.Parallel()
	c := copyBusyCompetition(t)
	before := c.storedDocuments()
	c.clock.skip(2 * day)
	var bytes int64
	kit.Must(t, c.readers.QueryRow("SELECT sum(length(data)) FROM documents").Scan(&bytes))
	done := kit.Get[MoveReport](t)(c.MoveDocuments(bg, ladder.Storage{Days: 1, Size: size.Bytes(bytes - 1)}))
	if !done.Full || done.Matches > 0 || len(c.archiveFiles()) > 0 {
		t.Errorf("moves %+v into files %v", done, c.archiveFiles())
	}
	if diff := cmp.Diff(before, c.storedDocuments()); diff != "" {
		t.Errorf("(-before +after): %s", diff)
	}
	done = kit.Get[MoveReport](t)(c.MoveDocuments(bg, ladder.Storage{Days: 1, Size: size.Bytes(bytes)}))
	if done.Full || done.Bytes != bytes || done.Matches != len(before) {
		t.Errorf("moves %+v of %d matches with %d bytes", done, len(before), bytes)
	}
}

// TestMovedDamage checks that Verify names a damaged archive file with its matches, and that reading from it
// returns an error and never another replay.
func TestMovedDamage(t *testing.T) {
	t.Parallel()
	c := copyBusyCompetition(t)
	c.clock.skip(2 * day)
	_, err := c.MoveDocuments(bg, ladder.Storage{Days: 1})
	kit.Must(t, err)
	f := c.archiveFiles()[0]
	path := filepath.Join(c.Dir().Archive(), f)
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
			return strings.HasPrefix(d.Place, "archive file "+f) && strings.Contains(d.Description, name)
		}) {
			t.Errorf("%s: found %v", name, found)
		}
		if !slices.ContainsFunc(found, func(d Difference) bool {
			return strings.HasPrefix(d.Place, "documents match_id=") && strings.Contains(d.Description, f)
		}) {
			t.Errorf("%s: no match is found: %v", name, found)
		}
		kit.Must(t, os.WriteFile(path, whole, 0o600))
	}
	wantSound(t, c.Store)
	kit.Must(t, os.Remove(path))
	if data, err := c.Matches.Replay(bg, gameIDFactor); err == nil {
		t.Errorf("a lost replay is %q", data)
	}
}

// TestMoveFails checks that nothing is moved if the file cannot be written or the context has ended.
func TestMoveFails(t *testing.T) {
	t.Parallel()
	c := copyBusyCompetition(t)
	before := c.storedDocuments()
	c.clock.skip(2 * day)
	good := c.archive
	link := filepath.Join(t.TempDir(), "link") // no directory, and none can be made there
	kit.Must(t, os.Symlink("/nowhere", link))
	c.archive = archive(link)
	_, err := c.MoveDocuments(bg, ladder.Storage{Days: 1})
	wantError(t, err, ladder.Unavailable, "data: the archive cannot be changed: mkdir "+link+": file exists: check the disk and the permissions of the directory")
	c.archive = good
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if _, err := c.MoveDocuments(ctx, ladder.Storage{Days: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("a stop is %v", err)
	}
	if got := c.archivedMatches(); len(got) > 0 {
		t.Errorf("%v are moved", got)
	}
	if diff := cmp.Diff(before, c.storedDocuments()); diff != "" {
		t.Errorf("(-before +after): %s", diff)
	}
}
