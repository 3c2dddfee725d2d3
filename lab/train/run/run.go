// Package run runs trainings. It calls the steps of a Trainer and manages the directory of the run with its
// configuration, log, metrics, plots, checkpoint and model. lab/README.md describes these files. Begin with
// Method and Run.
package run

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/timba-arena/timba/sample-bots/learned/model"
)

// The names of the files in the directory of a run.
const (
	ConfigFile     = "config.json"
	LogFile        = "log.txt"
	MetricsFile    = "metrics.csv"
	CheckpointFile = "checkpoint"
	ModelFile      = "model.timba"
	ResultFile     = "result.json"
	lockFile       = ".lock"
)

// Folder is the open and locked directory of a run.
type Folder struct {
	Dir     string
	lock    *flock.Flock
	log     *os.File
	metrics *metricsTable
}

// Open opens and locks the directory of a run with the settings config. If resume is false, the directory must be
// empty or not exist. If resume is true, it must have a run that was started with the same settings.
func Open(dir string, config any, resume bool) (*Folder, error) {
	text, err := json.MarshalIndent(config, "", " ")
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	f := &Folder{Dir: dir}
	if resume {
		err = f.checkConfig(text)
	} else {
		err = f.create()
	}
	if err != nil {
		return nil, err
	}
	f.lock = flock.New(f.path(lockFile))
	if held, err := f.lock.TryLock(); err != nil || !held {
		return nil, errors.Join(fmt.Errorf("run %q is in use by another process: wait for its end, or stop it", dir), err)
	}
	if err := f.open(text, resume); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (f *Folder) path(name string) string { return filepath.Join(f.Dir, name) }

// create creates the directory of a new run. It returns an error if the directory exists and is not empty.
func (f *Folder) create() error {
	if err := os.MkdirAll(f.Dir, 0o755); err != nil {
		return err
	}
	files, err := os.ReadDir(f.Dir)
	if err != nil {
		return err
	}
	for _, file := range files {
		if file.Name() == ConfigFile {
			return fmt.Errorf("run %q exists: resume it with --resume, or choose another --out", f.Dir)
		}
	}
	for _, file := range files {
		if file.Name() != lockFile {
			return fmt.Errorf("directory %q is not empty: it has %q; choose another --out", f.Dir, file.Name())
		}
	}
	return nil
}

// checkConfig returns an error unless the run in the directory was started with config, a JSON document with its
// settings. The error names a setting that has another value.
func (f *Folder) checkConfig(config []byte) error {
	was, err := os.ReadFile(f.path(ConfigFile))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("run %q does not exist: leave --resume out to begin it", f.Dir)
	}
	if err != nil || bytes.Equal(was, config) {
		return err
	}
	var before, now map[string]json.RawMessage
	if json.Unmarshal(was, &before) != nil || json.Unmarshal(config, &now) != nil {
		return fmt.Errorf("run %q: %s is not that of a run: choose another --out", f.Dir, ConfigFile)
	}
	for _, sides := range [][2]map[string]json.RawMessage{{before, now}, {now, before}} {
		for name := range sides[0] {
			if compactJSON(before[name]) != compactJSON(now[name]) {
				return fmt.Errorf("run %q was begun with %s %s, not %s: resume it with the same flags, or choose another --out",
					f.Dir, name, cmp.Or(compactJSON(before[name]), "none"), cmp.Or(compactJSON(now[name]), "none"))
			}
		}
	}
	return nil
}

func compactJSON(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// open opens log.txt and metrics.csv. For a new run it also writes config.json. If a resumed run has no
// checkpoint, it empties metrics.csv.
func (f *Folder) open(config []byte, resume bool) (err error) {
	if f.log, err = os.OpenFile(f.path(LogFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644); err != nil {
		return err
	}
	if f.metrics, err = openMetrics(f.path(MetricsFile)); err != nil {
		return err
	}
	if !resume {
		if err := f.replace(ConfigFile, writeBytes(config)); err != nil {
			return err
		}
		return f.metrics.truncate(0)
	}
	if _, err := os.Stat(f.path(CheckpointFile)); errors.Is(err, fs.ErrNotExist) {
		return f.metrics.truncate(0) // without a checkpoint the training starts again
	}
	return nil
}

func writeBytes(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// Close closes the files and unlocks the directory.
func (f *Folder) Close() error {
	var errs []error
	if f.log != nil {
		errs = append(errs, f.log.Close())
	}
	if f.metrics != nil {
		errs = append(errs, f.metrics.file.Close())
	}
	return errors.Join(append(errs, f.lock.Unlock())...)
}

// discard closes and deletes a run that could not start. Its directory can then be used again.
func (f *Folder) discard() {
	f.Close()
	for _, name := range []string{ConfigFile, LogFile, MetricsFile, lockFile} {
		os.Remove(f.path(name))
	}
	os.Remove(f.Dir)
}

// Log adds a line with the current time to log.txt.
func (f *Folder) Log(format string, args ...any) error {
	_, err := fmt.Fprintf(f.log, "%s %s\n", time.Now().UTC().Format(time.RFC3339), fmt.Sprintf(format, args...))
	return err
}

// replace replaces the content of the named file. It calls write to write the new content. If it fails, the old
// content stays.
func (f *Folder) replace(name string, write func(io.Writer) error) error {
	temp, err := os.CreateTemp(f.Dir, ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	err = write(temp)
	if err == nil {
		err = temp.Chmod(0o644)
	}
	if err == nil {
		err = temp.Sync()
	}
	if closeErr := temp.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.path(name), err)
	}
	return os.Rename(temp.Name(), f.path(name))
}

// WriteModel writes the named file with a trained model. It adds the settings of the run to the header h. It calls body
// to write what follows the header.
func (f *Folder) WriteModel(name string, h model.Header, body func(io.Writer) error) error {
	config, err := os.ReadFile(f.path(ConfigFile))
	if err != nil {
		return err
	}
	h.Training = config
	return f.replace(name, func(w io.Writer) error { return model.Write(w, h, body) })
}

// WriteResult writes v, the result of the training, to result.json.
func (f *Folder) WriteResult(v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return f.replace(ResultFile, writeBytes(append(text, '\n')))
}
