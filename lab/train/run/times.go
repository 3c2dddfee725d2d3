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

// TimesFile is what a run has taken.
const TimesFile = "time.json"

// Times is what a run has taken with all its resumes, in seconds, but for a process that was killed.
type Times struct {
	Preparing float64 `json:"preparing"` // before the first step
	Training  float64 `json:"training"`
	Done      bool    `json:"done"` // the run has ended as it should
}

// addTimes adds times to those of the run.
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

// ReadTimes returns what the run of a directory has taken; the error of one that has not ended or
// been interrupted is fs.ErrNotExist.
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
