package run

import (
	"context"
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

// InFolder trains in the directory of a run, which is opened as by Open, and notes its beginning, its end
// and its time there. A training that the context has ended returns the context's error; any other
// error, as that of a checkpoint, is one of the run.
func InFolder(ctx context.Context, dir string, config any, resume bool, train func(*Folder) error) error {
	folder, err := Open(dir, config, resume)
	if err != nil {
		return err
	}
	defer folder.Close()
	folder.Log("%s", map[bool]string{false: "begun", true: "resumed"}[resume])
	began := time.Now()
	err = train(folder)
	took := time.Since(began)
	switch {
	case err == nil:
		folder.Log("done in %s", Duration(took))
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		folder.Log("interrupted")
		err = ctx.Err()
	default:
		folder.Log("error: %v", err)
	}
	return errors.Join(err, folder.spend(took, err == nil))
}

// spend adds a time to that of the run.
func (f *Folder) spend(took time.Duration, done bool) error {
	t, err := ReadTimes(f.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := json.Marshal(Times{
		Preparing: t.Preparing + f.prepared.Seconds(), Training: t.Training + (took - f.prepared).Seconds(), Done: done || t.Done,
	})
	if err != nil {
		return err
	}
	return f.replace(TimesFile, writes(append(text, '\n')))
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
