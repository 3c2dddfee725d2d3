package interpreter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/sandbox/internal/plan"
)

// TestManagerHangs checks that a version manager that does not answer is an error for its own programs only.
func TestManagerHangs(t *testing.T) {
	limit := askTimeout
	t.Cleanup(func() { askTimeout = limit })
	askTimeout = 10 * time.Millisecond
	home := t.TempDir()
	t.Setenv("HOME", home)
	never := home + "/never"
	kit.Must(t, unix.Mkfifo(never, 0o600))
	t.Cleanup(func() { // ends what reads it
		f := kit.Get[*os.File](t)(os.OpenFile(never, os.O_RDWR, 0))
		f.Close()
	})
	hangs := "#!/bin/sh\ncat " + never + "\nexit 1\n"
	for _, name := range []string{"/tools/shims/ruby", "/bin/tools"} {
		kit.Must(t, os.MkdirAll(filepath.Dir(home+name), 0o755))
		kit.Must(t, os.WriteFile(home+name, []byte(hangs), 0o755))
	}
	t.Setenv("PATH", home+"/tools/shims:"+home+"/bin:/usr/bin:/bin")
	if _, err := Find("ruby", ""); err == nil || !strings.Contains(err.Error(), "tools which ruby: no answer in 10ms") {
		t.Errorf("the error is %v", err)
	}
	if p := installedInterpreters(); plan.IsWithin(home+"/tools/shims/ruby", p.VisiblePaths...) {
		t.Errorf("it shows %q", p.VisiblePaths)
	}
}
