package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/sample-bots/learned/model"
)

type config struct {
	Games int    `json:"games"`
	Mode  string `json:"mode"`
}

func open(t *testing.T, dir string, c config, resume bool) *Folder {
	t.Helper()
	return kit.Get[*Folder](t)(Open(dir, c, resume))
}

func read(t *testing.T, f *Folder, name string) string {
	t.Helper()
	return string(kit.Get[[]byte](t)(os.ReadFile(f.path(name))))
}

// metrics adds a line of metrics for each step from from to to.
func metrics(t *testing.T, f *Folder, from, to int) {
	t.Helper()
	for i := from; i <= to; i++ {
		kit.Must(t, f.AddMetrics(i, Metric{"loss", 1 / float64(i)}, Metric{"won", float64(i)}))
	}
}

func save(t *testing.T, f *Folder, n int) {
	t.Helper()
	kit.Must(t, f.SaveCheckpoint(func(w io.Writer) error { _, err := fmt.Fprint(w, n); return err }))
}

// TestResume checks that a resumed run has the same metrics as an uninterrupted one.
func TestResume(t *testing.T) {
	c := config{5, "tute2"}
	whole := open(t, filepath.Join(t.TempDir(), "a"), c, false)
	metrics(t, whole, 1, 5)
	kit.Must(t, whole.Plot("loss", "title", "step", "loss", "loss", "won"))
	if svg := read(t, whole, "loss.svg"); !strings.Contains(svg, "title") || !strings.Contains(svg, "won") {
		t.Error("the plot has no title or no legend")
	}

	dir := filepath.Join(t.TempDir(), "b")
	f := open(t, dir, c, false)
	metrics(t, f, 1, 2)
	save(t, f, 2)
	metrics(t, f, 3, 4) // they are lost
	f.Close()
	f = open(t, dir, c, true)
	n := 0
	if err := f.LoadCheckpoint(func(r io.Reader) error { _, err := fmt.Fscan(r, &n); return err }); err != nil || n != 2 {
		t.Fatal(n, err)
	}
	metrics(t, f, n+1, 5)
	if got, want := read(t, f, MetricsFile), read(t, whole, MetricsFile); got != want {
		t.Errorf("resumed:\n%s\nwhole:\n%s", got, want)
	}
	if err := f.AddMetrics(6, Metric{"loss", 1}); err == nil || !strings.Contains(err.Error(), "columns") {
		t.Errorf("other columns: %v", err)
	}
	f.Close()
}

// TestResumeAfterHalfLine checks that an incomplete last line of metrics, as after a power failure, is
// removed by a resume, with and without a checkpoint.
func TestResumeAfterHalfLine(t *testing.T) {
	for name, test := range map[string]struct {
		saved bool
		half  string
	}{
		"half a line": {true, "12,0."}, "half a line of names": {false, "st"}, "a line too long": {true, "1,2,3,4\n\"5"},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		f := open(t, dir, config{}, false)
		if test.saved {
			metrics(t, f, 1, 2)
			save(t, f, 2)
		}
		want := read(t, f, MetricsFile)
		if _, err := f.metrics.file.WriteString(test.half); err != nil {
			t.Fatal(err)
		}
		f.Close()
		f, err := Open(dir, config{}, true)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := f.LoadCheckpoint(func(r io.Reader) error { _, err := io.ReadAll(r); return err }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := read(t, f, MetricsFile); got != want {
			t.Errorf("%s: metrics %q, not %q", name, got, want)
		}
		metrics(t, f, 3, 3)
		f.Close()
	}
}

// stub is a training with one step.
type stub struct{ step func() error }

func (s *stub) Params() []Param                                         { return nil }
func (s *stub) Complete(func(string) bool) error                        { return nil }
func (s *stub) Prepare(context.Context, Input) (Trainer, error)         { return s, nil }
func (s *stub) Progress() (done, all int)                               { return 0, 1 }
func (s *stub) Step(context.Context) error                              { return s.step() }
func (s *stub) Report(*Folder) error                                    { return nil }
func (s *stub) Save(io.Writer) error                                    { return nil }
func (s *stub) Load(io.Reader) error                                    { return nil }
func (s *stub) Finish(context.Context, *Folder) (TrainingResult, error) { return nil, nil }
func (s *stub) Size() (memory, disk int64)                              { return 0, 0 }

// TestDoInterrupted checks that a training returns the error of its context, unless saving then fails.
func TestDoInterrupted(t *testing.T) {
	full := errors.New("disk full")
	for _, test := range []struct{ end, want error }{
		{context.Canceled, context.Canceled},
		{fmt.Errorf("game 3: %w", context.Canceled), context.Canceled},
		{full, full},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		dir := filepath.Join(t.TempDir(), "run")
		_, err := Run(ctx, dir, &stub{func() error { cancel(); return test.end }}, Input{}, false, func(int, int) {})
		if !errors.Is(err, test.want) || errors.Is(err, context.Canceled) != errors.Is(test.want, context.Canceled) {
			t.Errorf("%v ends with %v, not %v", test.end, err, test.want)
		}
		log, err := os.ReadFile(filepath.Join(dir, LogFile))
		if err != nil || strings.Contains(string(log), "disk full") != (test.want == full) {
			t.Errorf("%v: log %q, %v", test.end, log, err)
		}
	}
}

// TestInterruptedWithoutTimes checks that the error is not that of the context if the times cannot be written.
func TestInterruptedWithoutTimes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	dir := filepath.Join(t.TempDir(), "run")
	_, err := Run(ctx, dir, &stub{func() error {
		cancel()
		return errors.Join(os.Mkdir(filepath.Join(dir, TimesFile), 0o755), context.Canceled)
	}}, Input{}, false, func(int, int) {})
	if err == nil || errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), TimesFile) {
		t.Error(err)
	}
}

// unprepared is a training whose preparation fails.
type unprepared struct {
	stub
	prepare func() error
}

func (u *unprepared) Prepare(context.Context, Input) (Trainer, error) { return nil, u.prepare() }

// TestTimesOfPreparation checks that an interrupted preparation adds nothing to the training time.
func TestTimesOfPreparation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		dir := filepath.Join(t.TempDir(), "run")
		interrupted := func() error { time.Sleep(time.Minute); return context.Canceled }
		if _, err := Run(ctx, dir, &unprepared{prepare: interrupted}, Input{}, false, nil); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if took := kit.Get[Times](t)(ReadTimes(dir)); took != (Times{Preparing: 60}) {
			t.Errorf("%+v", took)
		}
	})
}

// TestNothingLeftOfABadBeginning checks that a training that cannot be prepared leaves no directory.
func TestNothingLeftOfABadBeginning(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	bad := &unprepared{prepare: func() error { return errors.New("no such bot") }}
	if _, err := Run(t.Context(), dir, bad, Input{}, false, nil); err == nil || !strings.Contains(err.Error(), "no such bot") {
		t.Error(err)
	}
	if files, err := os.ReadDir(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v are left, %v", files, err)
	}
}

// TestInterrupted checks that the error is that of the checkpoint if it cannot be written when the context ends.
func TestInterrupted(t *testing.T) {
	f := open(t, t.TempDir(), config{}, false)
	defer f.Close()
	good := func(w io.Writer) error { _, err := fmt.Fprint(w, 1); return err }
	bad := func(io.Writer) error { return errors.New("disk full") }
	if err := f.SaveInterrupted(context.Canceled, good); err != context.Canceled {
		t.Error(err)
	}
	if err := f.SaveInterrupted(context.Canceled, bad); errors.Is(err, context.Canceled) || !strings.Contains(fmt.Sprint(err), "disk full") {
		t.Error(err)
	}
}

// TestResumeWithoutCheckpoint checks that a run without a checkpoint starts again.
func TestResumeWithoutCheckpoint(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir, config{}, false)
	metrics(t, f, 1, 2)
	f.Close()
	f = open(t, dir, config{}, true)
	defer f.Close()
	kit.Must(t, f.LoadCheckpoint(nil))
	if got := read(t, f, MetricsFile); got != "" {
		t.Errorf("metrics are left: %s", got)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "run")
	f := open(t, run, config{1, "tute2"}, false)
	save(t, f, 1)
	if _, err := Open(run, config{1, "tute2"}, true); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("twice at once: %v", err)
	}
	f.Close()
	file := filepath.Join(dir, "file")
	kit.Must(t, os.WriteFile(file, nil, 0o600))
	for _, test := range []struct {
		dir    string
		config config
		resume bool
		want   string
	}{
		{run, config{1, "tute2"}, false, "exists: resume it with --resume"},
		{run, config{2, "tute2"}, true, "was begun with games 1, not 2"},
		{filepath.Join(dir, "none"), config{}, true, "does not exist: leave --resume out"},
		{dir, config{}, false, "is not empty"},
		{file, config{}, false, file},
	} {
		if _, err := Open(test.dir, test.config, test.resume); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// TestCheckpointErrors checks that a checkpoint that is damaged, does not match the metrics or cannot be
// written is an error, and that a failed write keeps the previous one.
func TestCheckpointErrors(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir, config{}, false)
	defer f.Close()
	metrics(t, f, 1, 1)
	save(t, f, 1234)
	if err := f.SaveCheckpoint(func(io.Writer) error { return io.ErrShortWrite }); err == nil {
		t.Error("a checkpoint that could not be written is no error")
	}
	good := read(t, f, CheckpointFile)
	for name, bad := range map[string]string{
		"cut": good[:len(good)-3], "empty": "", "other": "x\n", "long": good + good,
		"changed": good[:len(good)-5] + "x" + good[len(good)-4:], "metrics": strings.Replace(good, "1 ", "1 9", 1),
	} {
		kit.Must(t, os.WriteFile(f.path(CheckpointFile), []byte(bad), 0o600))
		n := 0
		if err := f.LoadCheckpoint(func(r io.Reader) error { _, err := fmt.Fscan(r, &n); return err }); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestModelAndResult(t *testing.T) {
	f := open(t, t.TempDir(), config{3, "brisca2"}, false)
	defer f.Close()
	h := model.Header{Kind: model.GA, Mode: "brisca2"}
	kit.Must(t, f.WriteModel(ModelFile, h, func(w io.Writer) error { return model.WriteFloats(w, []float32{1}) }))
	got, b, err := model.Read(strings.NewReader(read(t, f, ModelFile)))
	kit.Must(t, err)
	kit.Must(t, model.ReadFloats(b, make([]float32, 1)))
	if err := b.CheckEnd(); err != nil || !bytes.Contains(got.Training, []byte(`"games":3`)) {
		t.Errorf("%s, %v", got.Training, err)
	}
	if err := f.WriteResult(map[string]int{"won": 3}); err != nil || !strings.Contains(read(t, f, ResultFile), `"won": 3`) {
		t.Errorf("%v", err)
	}
}

func TestCost(t *testing.T) {
	var b strings.Builder
	Cost{Work: 128000, Unit: "games", Time: 90 * time.Second, Memory: 3 << 20, Disk: 10 << 20}.Write(&b)
	if got := b.String(); got != "games   128,000\ntime    about 90 s, as a short sample took on this machine now\nmemory  about 3.0 MiB\ndisk    about 10 MiB\n" {
		t.Errorf("%s", got)
	}
	if a, b := FormatDuration(3*time.Second), FormatDuration(5*time.Hour); a != "3.0 s" || b != "5.0 h" {
		t.Errorf("%s, %s", a, b)
	}
}
