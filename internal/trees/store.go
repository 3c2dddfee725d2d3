package trees

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// Store is a directory of trees, or of single files, each under a key, which is its name. The time of an entry is that
// of its last use. Above its limits a store removes the entries that were not used for the longest time, but none in
// use. Several goroutines, stores and processes may share the directory. An entry is there completely or not at all,
// whenever a process ends.
//
// The directory .trees in it has the file KEY.use for each key, on which each user of the entry has a shared lock, and
// a directory for each entry that is being made or removed. Locks on these files are taken, and the directory is
// changed, only under the lock of .trees/lock.
type Store struct {
	Options
	dir          string
	mu           sync.Mutex // taken before .trees/lock, so that one thread of this process waits for that
	turns        sync.Map   // for each key a channel that has an element while Add works on it
	verifiedKeys sync.Map   // keys of the entries whose hash is right
	sizes        sync.Map   // bytes of entries by their keys
	bytes        atomic.Int64
}

// Options are how a store keeps its entries.
type Options struct {
	Limits                                   // applied by Add
	IsKey  func(name string) bool            // reports whether a name can be a key. Others are left alone. If it is nil, all can.
	Hash   func(path string) (string, error) // returns the hash of an entry, which is its key. If it is nil, entries are not checked.
	Log    *slog.Logger                      // of damaged entries, and of those that cannot be removed. If it is nil, nothing is logged.
	Now    func() time.Time                  // the clock. If it is nil, it is time.Now.
}

// Limits are how much a store keeps.
type Limits struct {
	Bytes int64         // of all entries together. If it is 0, no limit applies.
	Age   time.Duration // since the last use. If it is 0, no limit applies.
}

// Entry is a tree, or a file, in a store. Its size is measured once.
type Entry struct {
	Key    string
	Bytes  int64
	UsedAt time.Time // the last time
}

// NewStore returns the store in a directory, which is made when it is needed.
func NewStore(dir string, o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.IsKey == nil {
		o.IsKey = func(string) bool { return true }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Store{Options: o, dir: dir}
}

// ErrReadOnly is the error for a directory that this user may not change.
var ErrReadOnly = errors.New("the directory is read-only")

// wrap returns an error of the directory with its cause.
func wrap(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("trees: %w: %w", ErrReadOnly, err)
	}
	return fmt.Errorf("trees: %w", err)
}

// Path returns the path of an entry, whether it is there or not.
func (s *Store) Path(key string) string { return filepath.Join(s.dir, key) }

// useLock returns the path of the file that users of an entry lock.
func (s *Store) useLock(key string) string { return s.work(key + useSuffix) }

const useSuffix = ".use"

// work returns the path of a file in the directory for locks and unfinished entries.
func (s *Store) work(name string) string { return filepath.Join(s.dir, ".trees", name) }

// isKey reports whether a name can be that of an entry.
func (s *Store) isKey(name string) bool {
	return name != "" && name[0] != '.' && filepath.Base(name) == name && filepath.IsLocal(name) && s.IsKey(name)
}

func newLock(file string) *flock.Flock { return flock.New(file, flock.SetPermissions(0o644)) }

// withLock calls do while nobody else changes the directory.
func (s *Store) withLock(do func() error) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(s.work(""), 0o755); err != nil {
		return wrap(err)
	}
	l := newLock(s.work("lock"))
	if err := l.Lock(); err != nil {
		return wrap(err)
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return do()
}

// isLocked reports whether somebody has a lock on a file, or may have one. It is called in locked.
func isLocked(file string) bool {
	l := flock.New(file, flock.SetFlag(os.O_RDONLY))
	defer l.Close()
	isFree, err := l.TryLock()
	return !isFree && !errors.Is(err, fs.ErrNotExist)
}

// Hold keeps an entry from being removed, until Release or the end of the process.
type Hold struct {
	Path    string // of the entry
	store   *Store
	lock    *flock.Flock
	release sync.Once
}

// holds are all holds that were not released. The system would end the lock of a hold that is garbage.
var holds sync.Map

func (s *Store) newHold(key string) *Hold {
	return &Hold{Path: s.Path(key), store: s, lock: newLock(s.useLock(key))}
}

// hold locks an entry. It is called in locked.
func (s *Store) hold(key string) (*Hold, error) {
	h := s.newHold(key)
	if ok, err := h.lock.TryRLock(); err != nil || !ok {
		return nil, wrap(cmp.Or(err, fmt.Errorf("%s is locked", h.lock.Path())))
	}
	h.touch()
	holds.Store(h, true)
	return h, nil
}

// touch sets the time of the last use. It fails where the entry belongs to another user.
func (h *Hold) touch() {
	now := h.store.Now()
	os.Chtimes(h.Path, now, now)
}

// Release ends the use of an entry. All calls but the first do nothing.
func (h *Hold) Release() {
	h.release.Do(func() {
		h.touch()
		h.lock.Close()
		holds.Delete(h)
	})
}

// Get returns an entry that is there, without a check. The error is fs.ErrNotExist if it is not there. Where this user
// may not make the files for the locks, the entry is not locked: whoever may write in the directory can remove it.
func (s *Store) Get(key string) (h *Hold, err error) {
	if !s.isKey(key) {
		return nil, fmt.Errorf("trees: %q cannot be a key", key)
	}
	err = s.withLock(func() (err error) {
		if _, err := os.Lstat(s.Path(key)); err != nil {
			return err
		}
		h, err = s.hold(key)
		return err
	})
	if errors.Is(err, ErrReadOnly) {
		_, err = os.Lstat(s.Path(key))
		h = s.newHold(key)
	}
	if err != nil {
		return nil, err
	}
	return h, nil
}

// Add returns an entry. If it is not there, or is damaged, build makes it at a path that does not exist; if that has
// another hash than its key, it is an error. If several calls want the same entry, one of them makes it and the others
// wait. Add then removes entries until the limits hold, but none in use, which a later call may remove.
func (s *Store) Add(ctx context.Context, key string, build func(ctx context.Context, path string) error) (*Hold, error) {
	turn, _ := s.turns.LoadOrStore(key, make(chan struct{}, 1))
	select {
	case turn.(chan struct{}) <- struct{}{}:
		defer func() { <-turn.(chan struct{}) }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	h, err := s.getChecked(key)
	isNew := errors.Is(err, fs.ErrNotExist)
	if isNew {
		h, err = s.add(ctx, key, build)
	}
	switch {
	case err != nil:
		return nil, cmp.Or(ctx.Err(), err)
	case isNew && s.Limits != Limits{}, s.Limits.Bytes > 0 && s.Bytes() > s.Limits.Bytes:
		_, err := s.Evict(s.Limits, nil)
		s.warn(err)
	}
	return h, nil
}

// getChecked returns an entry that is right. One that an earlier run has left, or that Doubt has named, is checked. A
// damaged one is removed.
func (s *Store) getChecked(key string) (*Hold, error) {
	h, err := s.Get(key)
	if _, checked := s.verifiedKeys.Load(key); err != nil || checked {
		return h, err
	}
	damage := s.check(key, h.Path)
	if damage == nil {
		return h, nil
	}
	h.Release()
	s.Log.Warn("an entry is damaged and is made again", "path", h.Path, "err", damage)
	if err := s.withLock(func() error { return s.discard(key) }); err != nil {
		return nil, err
	}
	return nil, fs.ErrNotExist
}

// check returns an error unless the files at a path have the hash that is their key.
func (s *Store) check(key, path string) error {
	if s.Hash == nil {
		return nil
	}
	hash, err := s.Hash(path)
	switch {
	case err != nil:
		return err
	case hash != key:
		return fmt.Errorf("trees: the files have the hash %s, not %s", hash, key)
	}
	s.verifiedKeys.Store(key, true)
	return nil
}

// Recheck makes Add check an entry again.
func (s *Store) Recheck(key string) { s.verifiedKeys.Delete(key) }

// add makes an entry.
func (s *Store) add(ctx context.Context, key string, build func(context.Context, string) error) (h *Hold, err error) {
	var dir string
	var lock *flock.Flock
	err = s.withLock(func() (err error) {
		if dir, err = os.MkdirTemp(s.work(""), "new-"); err != nil {
			return wrap(err)
		}
		lock = newLock(dirLock(dir))
		return errors.Join(lock.Lock(), os.Chmod(dir, 0o755))
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		lock.Close()
		s.warn(os.RemoveAll(dir))
	}()
	path := filepath.Join(dir, "bot")
	if err := build(ctx, path); err != nil {
		return nil, err
	}
	if err := s.check(key, path); err != nil {
		return nil, err
	}
	err = s.withLock(func() error {
		if _, missing := os.Lstat(s.Path(key)); missing != nil { // else another process has made it at the same time
			if err := os.Rename(path, s.Path(key)); err != nil {
				return wrap(err)
			}
		}
		h, err = s.hold(key)
		return err
	})
	return h, err
}

// dirLock returns the path of the file that is locked while an entry is being made in a directory.
func dirLock(dir string) string { return filepath.Join(dir, "lock") }

// warn logs that something cannot be removed.
func (s *Store) warn(err error) {
	if err != nil {
		s.Log.Warn("an entry cannot be removed", "err", err)
	}
}

// discard takes an entry out of the directory. Evict removes its files. It is called in locked.
func (s *Store) discard(key string) error {
	dir, err := os.MkdirTemp(s.work(""), "old-")
	if err == nil {
		err = os.Rename(s.Path(key), filepath.Join(dir, key))
	}
	if err != nil {
		return wrap(err)
	}
	s.sizes.Delete(key)
	return nil
}

// Entries returns the entries, those first that were not used for the longest time. It changes nothing in the directory.
func (s *Store) Entries() ([]Entry, error) {
	names, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, wrap(err)
	}
	var list []Entry
	for _, n := range names {
		if !s.isKey(n.Name()) {
			continue
		}
		info, err := n.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is removed meanwhile
		}
		e := Entry{Key: n.Name()}
		if err == nil {
			e.UsedAt = info.ModTime()
			e.Bytes, err = s.size(e.Key)
		}
		if err != nil {
			return nil, wrap(err)
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b Entry) int { return cmp.Or(a.UsedAt.Compare(b.UsedAt), cmp.Compare(a.Key, b.Key)) })
	return list, nil
}

func (s *Store) size(key string) (int64, error) {
	if bytes, ok := s.sizes.Load(key); ok {
		return bytes.(int64), nil
	}
	bytes, _, err := Size(s.Path(key))
	if err == nil {
		s.sizes.Store(key, bytes)
	}
	return bytes, err
}

// Surplus returns the entries, of a list in the order of Entries, that the limits do not allow. An entry that is needed
// is none of them; needed may be nil.
func (l Limits) Surplus(list []Entry, now time.Time, needed func(key string) bool) (surplus []Entry) {
	total := sum(list)
	for _, e := range list {
		isOld, isTooMuch := l.Age > 0 && e.UsedAt.Before(now.Add(-l.Age)), l.Bytes > 0 && total > l.Bytes
		if (isOld || isTooMuch) && (needed == nil || !needed(e.Key)) {
			surplus = append(surplus, e)
			total -= e.Bytes
		}
	}
	return surplus
}

func sum(list []Entry) (bytes int64) {
	for _, e := range list {
		bytes += e.Bytes
	}
	return bytes
}

// Eviction is what Evict has done.
type Eviction struct {
	Entries        int   // that were removed
	Bytes          int64 // of them
	RemainingBytes int64 // bytes of those that are left
}

// Evict removes entries until the limits hold, those first that were not used for the longest time. Entries that are in
// use or needed stay, even if the limits do not hold then; needed may be nil. It also removes what processes have left
// that ended while they made an entry. Of what cannot be removed it returns the errors.
func (s *Store) Evict(l Limits, needed func(key string) bool) (done Eviction, err error) {
	var unused []string
	err = s.withLock(func() error {
		list, err := s.Entries()
		if err != nil {
			return err
		}
		done.RemainingBytes = sum(list)
		stays := func(key string) bool { return needed != nil && needed(key) || isLocked(s.useLock(key)) }
		for _, e := range l.Surplus(list, s.Now(), stays) {
			if failed := s.discard(e.Key); failed != nil {
				err = errors.Join(err, failed)
				continue
			}
			done.Entries++
			done.Bytes += e.Bytes
			done.RemainingBytes -= e.Bytes
		}
		unused = s.findAbandoned()
		return err
	})
	for _, path := range unused {
		err = errors.Join(err, os.RemoveAll(path))
	}
	s.bytes.Store(done.RemainingBytes)
	return done, err
}

// findAbandoned returns the directories of entries that nobody makes any more. It removes the locks of entries that are not
// there. It is called in locked.
func (s *Store) findAbandoned() (dirs []string) {
	names, _ := os.ReadDir(s.work(""))
	for _, n := range names {
		path := s.work(n.Name())
		if key, ok := strings.CutSuffix(n.Name(), useSuffix); ok {
			if _, missing := os.Lstat(s.Path(key)); missing != nil && !isLocked(path) {
				os.Remove(path)
			}
		} else if n.IsDir() && !isLocked(dirLock(path)) {
			dirs = append(dirs, path)
		}
	}
	return dirs
}

// Bytes returns the bytes of all entries, as the last Evict or Add has found them.
func (s *Store) Bytes() int64 { return s.bytes.Load() }
