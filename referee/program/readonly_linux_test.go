package program

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/kit"
)

// unprivileged calls do in a thread without rights to ignore file permissions.
func unprivileged(t testing.TB, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // the thread ends with this goroutine
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var rights [2]unix.CapUserData
		kit.Must(t, unix.Capget(&header, &rights[0]))
		rights[0].Effective &^= 1 << unix.CAP_DAC_OVERRIDE
		kit.Must(t, unix.Capset(&header, &rights[0]))
		do()
	}()
	kit.Wait(t, "the calls without rights", done)
}

// In a cache where this user may not write, what is built is used, also where an earlier version of timba has left it.
// For what is not built the error says what to try.
func TestReadOnlyCache(t *testing.T) {
	dir, builds := counted(t)
	r := Resolver{Cache: t.TempDir()}
	built := kit.Get[Program](t)(r.Resolve(t.Context(), dir))
	locks := filepath.Join(r.Cache, ".trees")
	for _, state := range []string{"as it was left", "with other locks", "without locks"} {
		switch state {
		case "with other locks":
			kit.Must(t, os.Remove(filepath.Join(locks, filepath.Base(built.Dir)+".use")))
		case "without locks":
			kit.Must(t, os.RemoveAll(locks))
		}
		setModes(t, 0o555, r.Cache, locks)
		unprivileged(t, func() {
			if p, err := r.Resolve(t.Context(), dir); err != nil || p.Dir != built.Dir || builds() != 1 {
				t.Errorf("%s: %d builds, the program in %s, %v", state, builds(), p.Dir, err)
			}
			write(t, filepath.Join(dir, "source"), "#!/bin/sh\n# another\n")
			_, err := r.Resolve(t.Context(), dir)
			refused(t, err, "read-only", r.Cache, ": set XDG_CACHE_HOME to a writable directory")
			write(t, filepath.Join(dir, "source"), "#!/bin/sh\n")
		})
		setModes(t, 0o755, r.Cache, locks)
	}
}

// setModes sets the permissions of the directories that exist.
func setModes(t testing.TB, mode os.FileMode, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		if err := os.Chmod(dir, mode); err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
	}
}
