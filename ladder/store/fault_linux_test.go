//go:build !race || slowrace

package store

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
)

// smallDisk returns a directory on a file system of the given size, or "" if this user may not mount one.
func smallDisk(t *testing.T, size string) string {
	dir := t.TempDir()
	if err := syscall.Mount("timba-test", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Logf("no file system of its own can be mounted (%v): only the limit of pages is tested", err)
		return ""
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// TestFullDisk checks that a full disk refuses a match completely and leaves other data unchanged, and that the
// same match can be stored when there is room again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "8m")
	if disk == "" {
		return
	}
	c := openStore(t, filepath.Join(disk, "data"))
	c.syncConfig()
	ids := c.liveIDs("@random", "@first")
	c.playRatedMatch("tebes-4", ids...)
	m, seed := c.startRatedMatch("tebes-4", ids...)
	played := playMatch(t, m, seed)
	ballast := filepath.Join(disk, "ballast")
	fillUp(t, ballast)
	_, err := c.Matches.Finish(bg, m.ID, c.lastAttempt(m.ID), played)
	if ladder.CodeOf(err) != ladder.Unavailable {
		t.Errorf("says %v", err)
	}
	if err := c.Backup(bg, filepath.Join(disk, "backup"), ""); ladder.CodeOf(err) != ladder.Unavailable {
		t.Errorf("the backup says %v", err)
	}
	if _, err := os.Stat(filepath.Join(disk, "backup"+partialSuffix)); err == nil {
		t.Error("the backup has left something")
	}
	wantSound(t, c.Store)
	if n := c.countRows("changes"); n != 2 {
		t.Errorf("%d changes are kept, not those of the match before", n)
	}
	kit.Must(t, os.Remove(ballast))
	_, err = c.Matches.Finish(bg, m.ID, c.lastAttempt(m.ID), played)
	kit.Must(t, err)
	wantSound(t, c.Store)
}

func fillUp(t *testing.T, path string) {
	f := kit.Get[*os.File](t)(os.Create(path))
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}

// TestReadOnlyDisk checks that, when a disk becomes read-only, writing fails with a clear error, reading
// continues, and nothing is lost when it becomes writable again.
func TestReadOnlyDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "32m")
	if disk == "" {
		return
	}
	dir := filepath.Join(disk, "data")
	c := openStore(t, dir)
	c.syncConfig()
	ids := c.liveIDs("@random", "@first")
	c.playRatedMatch("tebes-4", ids...)
	kit.Must(t, c.Close())
	kit.Must(t, syscall.Mount("timba-test", disk, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	_, err := Open(dir, Options{Server: true})
	wantUnavailable(t, err, "data: the database cannot be opened: ")
	_, err = Open(dir, Options{})
	wantUnavailable(t, err, "data: the database cannot be opened: ")
	kit.Must(t, syscall.Mount("timba-test", disk, "tmpfs", syscall.MS_REMOUNT, ""))
	c = openStore(t, dir)
	wantSound(t, c.Store)
	c.playRatedMatch("tebes-4", ids...)
}
