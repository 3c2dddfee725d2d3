package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/kit"
)

// What another test mounts and removes is no attack's doing; what is mounted, or
// unmounted and left, is.
func TestMountChanges(t *testing.T) {
	if os.Getuid() != 0 {
		kit.Lacks(t, "root, who may mount")
	}
	dir := t.TempDir()
	theirs, ours, fresh := filepath.Join(dir, "theirs"), filepath.Join(dir, "ours"), filepath.Join(dir, "fresh")
	for _, d := range []string{theirs, ours, fresh} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tmpfs := func(on string) {
		if err := unix.Mount("none", on, "tmpfs", 0, "size=64k"); err != nil {
			t.Error(err)
		}
	}
	tmpfs(theirs) // as another test does, in the namespace that all share
	defer unix.Unmount(theirs, unix.MNT_DETACH)
	table := func() mountTable {
		data, err := os.ReadFile("/proc/thread-self/mountinfo")
		if err != nil {
			t.Error(err)
		}
		return tableOf(data)
	}
	var removed, added, gone []string
	ask, answer := make(chan bool), make(chan bool)
	go func() {
		defer close(answer)
		runtime.LockOSThread() // it ends with its namespace
		for _, err := range []error{unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS), unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")} {
			if err != nil {
				t.Error(err)
			}
		}
		tmpfs(ours)
		before := table()
		answer <- true
		<-ask
		now := table()
		if len(now) != len(before)-1 {
			t.Errorf("%d mounts are %d: the removed one should be gone here, too", len(before), len(now))
		}
		removed = before.changes(now)
		tmpfs(fresh)
		added = now.changes(table()) // before has the number of the removed one, which may be given again
		if err := unix.Unmount(fresh, 0); err != nil {
			t.Error(err)
		}
		if err := unix.Unmount(ours, 0); err != nil {
			t.Error(err)
		}
		gone = before.changes(table())
	}()
	<-answer
	if err := unix.Unmount(theirs, 0); err != nil {
		t.Error(err)
	}
	if err := os.Remove(theirs); err != nil {
		t.Error(err)
	}
	ask <- true
	<-answer
	if len(removed) > 0 {
		t.Errorf("what another test has removed: %v", removed)
	}
	if got := strings.Join(added, "; "); got != "a mount on "+fresh+" is new" {
		t.Errorf("a new mount: %q", got)
	}
	if got := strings.Join(gone, "; "); got != "the mount on "+ours+" is gone" {
		t.Errorf("a mount that is gone: %q", got)
	}
}
