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

// Train trains in a new directory and returns it with the result.
func Train[R run.TrainingResult](t testing.TB, s run.TrainingSettings) (dir string, result R) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	r := kit.Get[run.TrainingResult](t)(run.Run(t.Context(), dir, s, run.Input{Workers: 2}, false, func(int, int) {}))
	return dir, r.(R)
}

// Files returns the files that the configuration alone decides: the model, the metrics and the result.
func Files(t testing.TB, dir string) (text string) {
	t.Helper()
	for _, name := range []string{run.ModelFile, run.MetricsFile, run.ResultFile} {
		text += string(kit.Get[[]byte](t)(os.ReadFile(filepath.Join(dir, name))))
	}
	return text
}

// CheckDeterminism trains as a whole, and again with 1 worker and with 7, interrupted after each step, and
// checks that the files are the same, also after the run that has ended is resumed. It returns them.
func CheckDeterminism(t testing.TB, s run.TrainingSettings) string {
	t.Helper()
	dir, _ := Train[run.TrainingResult](t, s)
	whole := Files(t, dir)
	for _, workers := range []int{1, 7} {
		dir, parts := filepath.Join(t.TempDir(), "run"), 1
		for ; !trainStep(t, dir, s, parts > 1, workers); parts++ {
		}
		if parts < 3 {
			t.Errorf("with %d workers it was interrupted %d times", workers, parts-1)
		}
		if Files(t, dir) != whole {
			t.Errorf("with %d workers and interruptions the files differ", workers)
		}
		if trainStep(t, dir, s, true, workers); Files(t, dir) != whole {
			t.Errorf("with %d workers the files differ after the run that has ended is resumed", workers)
		}
	}
	return whole
}

// trainStep goes on with a training for a step, and reports whether it has ended.
func trainStep(t testing.TB, dir string, s run.TrainingSettings, resume bool, workers int) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls := 0
	_, err := run.Run(ctx, dir, s, run.Input{Workers: workers}, resume, func(int, int) {
		if calls++; calls > 1 {
			cancel()
		}
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return err == nil
}
