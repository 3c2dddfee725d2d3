package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/refereetest"
)

// withHouse resolves house bots as well, and says nothing.
var withHouse = Resolver{}

func TestMain(m *testing.M) {
	refereetest.Main(m, nil, func(dir string) error {
		withHouse.Cache = dir + "/builds"
		return os.Mkdir(withHouse.Cache, 0o755)
	})
}

// newDir makes a directory with a name and files; names that end in "+x" can be run.
func newDir(t testing.TB, name string, files map[string]string) string {
	t.Helper()
	return kit.Files(t, filepath.Join(t.TempDir(), name), files)
}

func write(t testing.TB, path, text string) {
	t.Helper()
	kit.Files(t, filepath.Dir(path), map[string]string{filepath.Base(path): text})
}

// refused wants an error that names all words.
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
