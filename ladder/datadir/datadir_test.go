package datadir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// A hash of an upload cannot lead out of the directory.
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

func TestMkdirTemp(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "new"))
	path := kit.Get[string](t)(d.MkdirTemp("work-*"))
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o755 || filepath.Dir(path) != d.Temp() {
		t.Errorf("%s is %v, %v", path, info, err)
	}
}
