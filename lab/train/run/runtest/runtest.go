// Package runtest provides helpers for the tests of trainings. Begin with CheckDeterminism.
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

// Train runs a training with the settings s in a new directory. It returns this directory and the result.
func Train[R run.TrainingResult](t testing.TB, s run.TrainingSettings) (dir string, result R) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	r := kit.Get[run.TrainingResult](t)(run.Run(t.Context(), dir, s, run.Input{Workers: 2}, false, func(int, int) {}))
	return dir, r.(R)
}

// Files returns the contents, one after another, of those files of the run in dir that depend only on the
// configuration: the model, the metrics and the result.
func Files(t testing.TB, dir string) (text string) {
	t.Helper()
	for _, name := range []string{run.ModelFile, run.MetricsFile, run.ResultFile} {
		text += string(kit.Get[[]byte](t)(os.ReadFile(filepath.Join(dir, name))))
	}
	return text
}

// CheckDeterminism trains once without interruption, and then with 1 and with 7 workers, interrupted after each
// step. It checks that all these runs write the same files, and that a finished run does not change when it is
// resumed. It returns the contents of the files.
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

// trainStep runs one step of a training and reports whether the training has ended.
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
