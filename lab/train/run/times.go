package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// TimesFile is the name of the file in which a run stores its Times.
const TimesFile = "time.json"

// Times has the durations of a run in seconds. If the run was resumed, they are sums over its processes,
// except those that were killed.
type Times struct {
	Preparing float64 `json:"preparing"` // before the first step
	Training  float64 `json:"training"`
	Done      bool    `json:"done"` // the training is complete
}

// addTimes adds durations to the stored times of the run. prepared is the time before the first step, and trained
// the time after that. If done is true, the training is marked as complete.
func (f *Folder) addTimes(prepared, trained time.Duration, done bool) error {
	t, err := ReadTimes(f.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := json.Marshal(Times{
		Preparing: t.Preparing + prepared.Seconds(), Training: t.Training + trained.Seconds(), Done: done || t.Done,
	})
	if err != nil {
		return err
	}
	return f.replace(TimesFile, writeBytes(append(text, '\n')))
}

// ReadTimes returns the stored times of the run in dir. If the run has neither ended nor been interrupted yet, the
// error wraps fs.ErrNotExist.
func ReadTimes(dir string) (t Times, err error) {
	path := filepath.Join(dir, TimesFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return t, fmt.Errorf("%s is damaged: remove the directory of the run, and train again", path)
	}
	return t, nil
}
