package datadir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// TestBundle checks that the path of an upload cannot lead out of the directory.
func TestBundle(t *testing.T) {
	sum := strings.Repeat("0f", 32)
	if path, err := Dir("/data").Bundle(sum); err != nil || path != "/data/bundles/"+sum {
		t.Errorf("%q, %v", path, err)
	}
	for _, bad := range []string{"", "x", "../../etc/passwd", strings.Repeat("A", 64), sum + "\n"} {
		if _, err := Dir("/data").Bundle(bad); err == nil {
			t.Errorf("%q has a path", bad)
		}
	}
}

// TestHideBotPaths checks that logs of bots name files without the directories of a server.
func TestHideBotPaths(t *testing.T) {
	d := Dir("/srv/arena")
	bot := d.Bot(strings.Repeat("0f", 32))
	for _, c := range []struct{ in, want string }{
		{`File "` + bot + `/lib/bot.py", line 3`, `File "lib/bot.py", line 3`},
		{"at play (file://" + bot + "/bot.mjs:3:9)", "at play (bot.mjs:3:9)"},
		{"chdir " + bot + ": not there\n" + bot + "\n", "chdir .: not there\n.\n"},
		{d.Temp() + "/version-12-3456/source/main.go:7 +0x1d", "main.go:7 +0x1d"},
		{"panicked at src/main.rs:2", "panicked at src/main.rs:2"},
		{"/usr/lib/python3/random.py, /tmp/x, /home/bots/ab", "/usr/lib/python3/random.py, /tmp/x, /home/bots/ab"},
	} {
		if got := string(HideBotPaths([]byte(c.in))); got != c.want {
			t.Errorf("%q is shown as %q, want %q", c.in, got, c.want)
		}
	}
}

func TestMkdirTemp(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "new"))
	path := kit.Get[string](t)(d.MkdirTemp("work-*"))
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o755 || filepath.Dir(path) != d.Temp() {
		t.Errorf("%s is %v, %v", path, info, err)
	}
}
