// Package runtest has what the tests of all trainings have in common.
package runtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/lab/train/run"
)

// Start begins a training with so many workers.
type Start[R any] func(workers int) func(context.Context) (run.Trainer[R], error)

// Train trains in a new directory and returns it with the result.
func Train[R any](t testing.TB, config any, start Start[R]) (dir string, result R) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	f := kit.Get[*run.Folder](t)(run.Open(dir, config, false))
	defer f.Close()
	return dir, kit.Get[R](t)(run.Train(t.Context(), f, start(2), func(int, int) {}))
}

// Files returns the files that the configuration alone decides: the model, the metrics and the result.
func Files(t testing.TB, dir string) (text string) {
	t.Helper()
	for _, name := range []string{run.ModelFile, run.MetricsFile, run.ResultFile} {
		text += string(kit.Get[[]byte](t)(os.ReadFile(filepath.Join(dir, name))))
	}
	return text
}

// Same trains as a whole, and again with 1 worker and with 7, interrupted after each step, and
// checks that the files are the same. It returns them.
func Same[R any](t testing.TB, config any, start Start[R]) string {
	t.Helper()
	dir, _ := Train(t, config, start)
	whole := Files(t, dir)
	for _, workers := range []int{1, 7} {
		dir, parts := filepath.Join(t.TempDir(), "run"), 1
		for ; !part(t, dir, config, parts > 1, start(workers)); parts++ {
		}
		if parts < 3 {
			t.Errorf("with %d workers it was interrupted %d times", workers, parts-1)
		}
		if Files(t, dir) != whole {
			t.Errorf("with %d workers and interruptions the files differ", workers)
		}
	}
	return whole
}

// part goes on with a training for a step, and reports whether it has ended.
func part[R any](t testing.TB, dir string, config any, resume bool, start func(context.Context) (run.Trainer[R], error)) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := kit.Get[*run.Folder](t)(run.Open(dir, config, resume))
	defer f.Close()
	calls := 0
	_, err := run.Train(ctx, f, start, func(int, int) {
		if calls++; calls > 1 {
			cancel()
		}
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return err == nil
}
