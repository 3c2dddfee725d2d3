package cluster

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// A worker checks the files of bots that an earlier run left, and fetches changed ones again.
func TestCacheChecks(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	w := a.startWorker("lab-1")
	j := job(1, 1, greedy, a.incompressibleBot(2, 1000))
	play := func() {
		t.Helper()
		r, err := a.Play(t.Context(), "lab-1", j)
		a.checkComplete(j, r, err)
		j.Match++
	}
	play()
	file := kit.Get[[]string](t)(filepath.Glob(filepath.Join(w.Dir, "bots", "*", "bot.sh")))[0]
	whole := kit.Get[[]byte](t)(os.ReadFile(file))
	kit.Must(t, errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, []byte("evil"), 0o600)))
	w.cache.Recheck(filepath.Base(filepath.Dir(file))) // as in another run
	play()
	if got := kit.Get[[]byte](t)(os.ReadFile(file)); !bytes.Equal(got, whole) {
		t.Errorf("the bot plays with the file %q", got)
	}
}
