package experiment

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/sample-bots/house"
)

// cache is a directory of trainings, each in a directory of its own that is named after all that
// decides its result. One experiment uses it at a time.
type cache struct {
	dir  string
	most int64 // bytes
	lock *flock.Flock
	used map[string]bool // the entries of this experiment
}

// lockFile is locked as long as an experiment uses the directory.
const lockFile = ".lock"

// openCache opens the directory of models.
func openCache(dir string, most int) (*cache, error) {
	switch {
	case dir == "":
		return nil, errors.New("models: the directory is missing")
	case strings.ContainsAny(dir, ",\n"):
		return nil, fmt.Errorf("models: directory %q cannot have a comma or a line feed: choose another --models", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	c := &cache{dir: dir, most: int64(most) << 20, lock: flock.New(filepath.Join(dir, lockFile)), used: map[string]bool{}}
	if held, err := c.lock.TryLock(); err != nil || !held {
		return nil, errors.Join(fmt.Errorf("models: directory %q is in use by another experiment: wait for its end, or choose another --models", dir), err)
	}
	return c, nil
}

func (c *cache) close() error { return c.lock.Unlock() }

// name returns the name of a training: of its mode and method, and a hash of all that decides its
// result.
func (p *plan) name() string {
	text, err := json.Marshal([]any{house.Version, p.method.Name, p.method.Version, p.settings, p.workers})
	if err != nil {
		panic(err) // the configurations are numbers and words
	}
	sum := sha256.Sum256(text)
	return p.mode + "-" + p.method.Name + "-" + hex.EncodeToString(sum[:8])
}

// entry returns the directory of a training, whether its run has been begun, and what it has taken.
func (c *cache) entry(p *plan) (dir string, begun bool, took run.Times, err error) {
	name := p.name()
	c.used[name] = true
	dir = filepath.Join(c.dir, name)
	if _, err := os.Stat(filepath.Join(dir, run.ConfigFile)); errors.Is(err, fs.ErrNotExist) {
		return dir, false, took, os.RemoveAll(dir) // an end before the beginning was written
	} else if err != nil {
		return dir, false, took, err
	}
	now := time.Now()
	if err := os.Chtimes(dir, now, now); err != nil {
		return dir, true, took, err
	}
	if took, err = run.ReadTimes(dir); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return dir, true, took, err
}

// prune removes the trainings that were used longest ago, until the directory is small enough. Those
// of this experiment stay: if they alone are too large, it is an error.
func (c *cache) prune() error {
	type entry struct {
		path string
		size int64
		used time.Time
	}
	var others []entry
	all := int64(0)
	files, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !f.IsDir() {
			continue
		}
		e := entry{path: filepath.Join(c.dir, f.Name()), used: info.ModTime()}
		if e.size, err = sizeOf(e.path); err != nil {
			return err
		}
		all += e.size
		if _, err := os.Stat(filepath.Join(e.path, run.ConfigFile)); err == nil && !c.used[f.Name()] {
			others = append(others, e)
		}
	}
	slices.SortFunc(others, func(a, b entry) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.path, b.path)) })
	for _, e := range others {
		if all <= c.most {
			return nil
		}
		if err := os.RemoveAll(e.path); err != nil {
			return err
		}
		all -= e.size
	}
	if all > c.most {
		return fmt.Errorf("models: directory %q has %d MiB of this experiment, more than the %d of --models-size: allow more, or train less with --train-scale", c.dir, all>>20, c.most>>20)
	}
	return nil
}

// sizeOf returns the bytes of the files of a directory.
func sizeOf(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		info, err := f.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}
