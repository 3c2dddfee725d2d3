package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sync/singleflight"

	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/lab/train/run"
)

// cache is a directory of trained models. Each model has a subdirectory whose name contains a hash of
// everything that determines its training. Only one experiment can use the directory at a time.
type cache struct {
	dir      string
	maxBytes int64
	lock     *flock.Flock
	used     sync.Map           // keys: the entries that this experiment uses
	training singleflight.Group // by entry: models of one experiment can share a data set
}

// lockFile is the name of a file in the directory of models. An experiment that uses the directory locks it.
const lockFile = ".lock"

// openCache opens or creates the directory of models and locks it. Its size limit is given in MiB.
func openCache(dir string, mebibytes int) (*cache, error) {
	switch {
	case dir == "":
		return nil, errors.New("models: the directory is missing")
	case strings.ContainsAny(dir, ",\n"):
		return nil, fmt.Errorf("models: directory %q cannot have a comma or a line feed: choose another --models", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	held, err := lock(filepath.Join(dir, lockFile), fmt.Sprintf("models: directory %q", dir), "models")
	if err != nil {
		return nil, err
	}
	return &cache{dir: dir, maxBytes: int64(mebibytes) << 20, lock: held}, nil
}

// lock locks the file at path for this experiment. It returns an error if another experiment has locked it. In the
// error, what names the resource that is in use, and flag is the flag by which the user can choose another one.
func lock(path, what, flag string) (*flock.Flock, error) {
	l := flock.New(path)
	if held, err := l.TryLock(); err != nil || !held {
		const used = "%s is in use by another experiment: wait for its end, or choose another --%s"
		return nil, errors.Join(fmt.Errorf(used, what, flag), err)
	}
	return l, nil
}

func (c *cache) close() error { return c.lock.Unlock() }

// train trains model l in its directory and returns the time that this took. It resumes an interrupted
// training. If l is already trained, it only returns the time. If another goroutine is training the same entry, train
// waits for its result. Progress messages have the given title.
func (c *cache) train(ctx context.Context, o *Options, l *TrainedModel, title string) (run.Times, error) {
	c.used.Store(l.entry, true)
	result, err, _ := c.training.Do(l.entry, func() (any, error) { return c.trainEntry(ctx, o, l, title) })
	return result.(run.Times), err
}

func (c *cache) trainEntry(ctx context.Context, o *Options, l *TrainedModel, title string) (took run.Times, err error) {
	_, err = os.Stat(filepath.Join(l.Dir, run.ConfigFile))
	begun := err == nil
	if begun {
		now := time.Now()
		err = os.Chtimes(l.Dir, now, now)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = os.RemoveAll(l.Dir) // a process ended before it had written the configuration
	}
	if err != nil {
		return took, err
	}
	took, err = run.ReadTimes(l.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || took.Done {
		return took, err
	}
	if err := ctx.Err(); err != nil {
		return took, err
	}
	done := func(done, all int) { o.Progress(title, l.method.Unit, done, all) }
	in := run.Input{Workers: l.Workers, Resolver: o.Resolver}
	if _, err := run.Run(ctx, l.Dir, l.settings, in, begun, done); err != nil {
		return took, err
	}
	// The checkpoint, which may be large, is no longer needed.
	if err := os.RemoveAll(filepath.Join(l.Dir, run.CheckpointFile)); err != nil {
		return took, err
	}
	if err := c.prune(); err != nil {
		return took, err
	}
	return run.ReadTimes(l.Dir)
}

// prune removes the least recently used models until the directory is within its size limit. It never removes
// models of this experiment; if they alone exceed the limit, it returns an error.
func (c *cache) prune() error {
	isTraining := func(name string) bool {
		_, err := os.Stat(filepath.Join(c.dir, name, run.ConfigFile))
		return err == nil
	}
	s := trees.NewStore(c.dir, trees.Options{IsKey: isTraining})
	done, err := s.Evict(trees.Limits{Bytes: c.maxBytes}, func(name string) bool { _, ok := c.used.Load(name); return ok })
	if err == nil && done.RemainingBytes > c.maxBytes {
		const large = "models: directory %q has %d MiB of this experiment, more than the %d of --models-size: " +
			"allow more, or train less with --train-scale"
		err = fmt.Errorf(large, c.dir, done.RemainingBytes>>20, c.maxBytes>>20)
	}
	return err
}
