package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/refereetest"
)

// withHouse resolves BOTs, also house bots, without a log.
var withHouse = Resolver{}

func TestMain(m *testing.M) {
	refereetest.Main(m, nil, func(dir string) error {
		withHouse.Cache = dir + "/builds"
		return os.Mkdir(withHouse.Cache, 0o755)
	})
}

// newDir makes a directory with files. Files whose names end in "+x" are executable.
func newDir(t testing.TB, name string, files map[string]string) string {
	t.Helper()
	return kit.Files(t, filepath.Join(t.TempDir(), name), files)
}

func write(t testing.TB, path, text string) {
	t.Helper()
	kit.Files(t, filepath.Dir(path), map[string]string{filepath.Base(path): text})
}

// refused requires an error that contains all words.
func refused(t testing.TB, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q says nothing of %q", err, w)
		}
	}
}
