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

// Store is a directory of entries. An entry is a directory tree or a single file, whose name is its key. The
// modification time of an entry is the time of its last use. If a store exceeds its limits, it removes the least
// recently used entries, except entries in use. Several goroutines, stores and processes may share the directory. An
// entry is always complete, even if a process is killed.
//
// The subdirectory .trees has a file KEY.use for each key, on which each user of the entry holds a shared lock, and a
// directory for each entry that is being made or removed. A process may acquire locks on these files and change the
// directory only while it holds the lock .trees/lock.
type Store struct {
	Options
	dir          string
	mu           sync.Mutex // acquired before .trees/lock, so that only one goroutine of this process waits for it
	turns        sync.Map   // by key: a channel of capacity 1 that is full while Add works on the entry
	verifiedKeys sync.Map   // keys of the entries whose hash was checked
	sizes        sync.Map   // by key: bytes of the entry
	bytes        atomic.Int64
}

// Options configures a Store. Each field may be zero.
type Options struct {
	Limits // applied by Add
	// IsKey reports whether name can be a key. The store ignores other files in its directory. If IsKey is nil, every
	// name can be a key.
	IsKey func(name string) bool
	// Hash returns the hash of the entry at path. An entry is damaged if its hash differs from its key. If Hash is
	// nil, entries are not checked.
	Hash func(path string) (string, error)
	// Log receives messages about damaged entries, and about entries that cannot be removed. If it is nil,
	// nothing is logged.
	Log *slog.Logger
	Now func() time.Time // the clock; time.Now if nil
}

// Limits bounds the content of a Store. If a limit is exceeded, the least recently used entries are removed, except
// entries in use.
type Limits struct {
	Bytes int64         // size of all entries together; 0 means no limit
	Age   time.Duration // time since the last use; 0 means no limit
}

// Entry describes an entry of a Store, a tree or a file.
type Entry struct {
	Key    string
	Bytes  int64
	UsedAt time.Time // time of the last use
}

// NewStore returns the store in the directory dir. The directory is created only when it is needed.
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

// ErrReadOnly is wrapped by the errors of a store whose directory this user may not change.
var ErrReadOnly = errors.New("the directory is read-only")

// wrap adds context to an error about the directory of a store. If the reason is that the directory cannot
// be written, the result also wraps ErrReadOnly.
func wrap(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("trees: %w: %w", ErrReadOnly, err)
	}
	return fmt.Errorf("trees: %w", err)
}

// Path returns the path that the entry with a key has, or would have if it existed.
func (s *Store) Path(key string) string { return filepath.Join(s.dir, key) }

func (s *Store) useLockPath(key string) string { return s.workPath(key + useSuffix) }

const useSuffix = ".use"

func (s *Store) workPath(name string) string { return filepath.Join(s.dir, ".trees", name) }

func (s *Store) isKey(name string) bool {
	return name != "" && name[0] != '.' && filepath.Base(name) == name && filepath.IsLocal(name) && s.IsKey(name)
}

func newLock(file string) *flock.Flock { return flock.New(file, flock.SetPermissions(0o644)) }

// withLock calls do while it holds the lock of the store's directory, which no other goroutine or process can hold at
// the same time. It returns the error of do, or an error if it cannot lock the directory.
func (s *Store) withLock(do func() error) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(s.workPath(""), 0o755); err != nil {
		return wrap(err)
	}
	l := newLock(s.workPath("lock"))
	if err := l.Lock(); err != nil {
		return wrap(err)
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return do()
}

// isLocked reports whether anybody holds a lock on a file. If isLocked cannot find out, it returns true. The caller
// must hold the lock of the store's directory.
func isLocked(file string) bool {
	l := flock.New(file, flock.SetFlag(os.O_RDONLY))
	defer l.Close()
	isFree, err := l.TryLock()
	return !isFree && !errors.Is(err, fs.ErrNotExist)
}

// Hold protects an entry of a Store while the entry is used: the entry is not removed until Release is called or the
// process ends.
type Hold struct {
	Path    string // path of the entry
	store   *Store
	lock    *flock.Flock
	release sync.Once
}

// holds contains all holds that were not released. Otherwise the garbage collector would close their locks.
var holds sync.Map

func (s *Store) newHold(key string) *Hold {
	return &Hold{Path: s.Path(key), store: s, lock: newLock(s.useLockPath(key))}
}

// hold returns a Hold for an existing entry, which must not be removed while it is used, and records the time of this
// use. The caller must hold the lock of the store's directory.
func (s *Store) hold(key string) (*Hold, error) {
	h := s.newHold(key)
	if ok, err := h.lock.TryRLock(); err != nil || !ok {
		return nil, wrap(cmp.Or(err, fmt.Errorf("%s is locked", h.lock.Path())))
	}
	h.touch()
	holds.Store(h, true)
	return h, nil
}

// touch sets the time of the entry's last use to now. It does nothing if the entry belongs to another user.
func (h *Hold) touch() {
	now := h.store.Now()
	os.Chtimes(h.Path, now, now)
}

// Release ends the use of the entry, which may then be removed. Calls after the first do nothing.
func (h *Hold) Release() {
	h.release.Do(func() {
		h.touch()
		h.lock.Close()
		holds.Delete(h)
	})
}

// Get returns a Hold for an existing entry, which protects the entry until Release. It does not check the hash of the
// entry. If there is no such entry, the error is fs.ErrNotExist. If this user may not write in the directory, the
// entry is not protected, and other users can remove it at any time.
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

// Add returns a Hold for the entry with a key, which protects the entry until Release. If the entry does not exist or
// is damaged, Add calls build, which must create it at the given path, where nothing exists. It is an error if the
// hash of the new entry is not the key. If several calls want the same entry, one of them creates it and the others
// wait. Then Add removes other entries until the limits hold, except entries in use.
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
		h, err = s.addNew(ctx, key, build)
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

// getChecked is like Get but also checks the hash of the entry, unless the hash was checked since the start of this
// process and the last call of Recheck. If the entry is damaged, getChecked removes it and returns fs.ErrNotExist.
func (s *Store) getChecked(key string) (*Hold, error) {
	h, err := s.Get(key)
	if _, checked := s.verifiedKeys.Load(key); err != nil || checked {
		return h, err
	}
	damage := s.checkHash(key, h.Path)
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

// checkHash returns an error unless the files at path have the hash key. It returns nil if the store does not check
// hashes.
func (s *Store) checkHash(key, path string) error {
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

// Recheck makes the next call of Add for the entry with the given key check its hash again.
func (s *Store) Recheck(key string) { s.verifiedKeys.Delete(key) }

// addNew creates the entry with a key by calling build, and returns a Hold for it. If another process has created the
// same entry meanwhile, addNew uses that entry.
func (s *Store) addNew(ctx context.Context, key string, build func(context.Context, string) error) (h *Hold, err error) {
	var dir string
	var lock *flock.Flock
	err = s.withLock(func() (err error) {
		if dir, err = os.MkdirTemp(s.workPath(""), "new-"); err != nil {
			return wrap(err)
		}
		lock = newLock(dirLockPath(dir))
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
	if err := s.checkHash(key, path); err != nil {
		return nil, err
	}
	err = s.withLock(func() error {
		if _, missing := os.Lstat(s.Path(key)); missing != nil { // otherwise another process has made it meanwhile
			if err := os.Rename(path, s.Path(key)); err != nil {
				return wrap(err)
			}
		}
		h, err = s.hold(key)
		return err
	})
	return h, err
}

func dirLockPath(dir string) string { return filepath.Join(dir, "lock") }

func (s *Store) warn(err error) {
	if err != nil {
		s.Log.Warn("an entry cannot be removed", "err", err)
	}
}

// discard removes an entry from the store. It only moves the files to the subdirectory .trees, from which Evict
// deletes them later. The caller must hold the lock of the store's directory.
func (s *Store) discard(key string) error {
	dir, err := os.MkdirTemp(s.workPath(""), "old-")
	if err == nil {
		err = os.Rename(s.Path(key), filepath.Join(dir, key))
	}
	if err != nil {
		return wrap(err)
	}
	s.sizes.Delete(key)
	return nil
}

// Entries returns all entries, the least recently used first. It does not change the store.
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
			continue // the entry was removed meanwhile
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

// Surplus returns the entries that would have to be removed at the time now so that the limits hold. list must be in
// the order of Store.Entries. Surplus skips entries for which needed returns true; needed may be nil.
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

// Eviction is the result of Store.Evict: what was removed, and what remains.
type Eviction struct {
	Entries        int   // number of removed entries
	Bytes          int64 // bytes of removed entries
	RemainingBytes int64 // bytes of the entries that remain
}

// Evict removes the least recently used entries until the limits in l hold. It never removes entries that are in use
// or for which needed returns true, so that the limits may still be exceeded; needed may be nil. Evict also removes
// the unfinished entries of processes that have ended. The error joins the errors of all entries that could not be
// removed.
func (s *Store) Evict(l Limits, needed func(key string) bool) (done Eviction, err error) {
	var unused []string
	err = s.withLock(func() error {
		list, err := s.Entries()
		if err != nil {
			return err
		}
		done.RemainingBytes = sum(list)
		stays := func(key string) bool { return needed != nil && needed(key) || isLocked(s.useLockPath(key)) }
		for _, e := range l.Surplus(list, s.Now(), stays) {
			if failed := s.discard(e.Key); failed != nil {
				err = errors.Join(err, failed)
				continue
			}
			done.Entries++
			done.Bytes += e.Bytes
			done.RemainingBytes -= e.Bytes
		}
		unused = s.cleanUp()
		return err
	})
	for _, path := range unused {
		err = errors.Join(err, os.RemoveAll(path))
	}
	s.bytes.Store(done.RemainingBytes)
	return done, err
}

// cleanUp deletes the lock files of entries that do not exist. It returns the directories of
// unfinished and removed entries that no process works on, which the caller must delete. The caller must
// hold the lock of the store's directory.
func (s *Store) cleanUp() (dirs []string) {
	names, _ := os.ReadDir(s.workPath(""))
	for _, n := range names {
		path := s.workPath(n.Name())
		if key, ok := strings.CutSuffix(n.Name(), useSuffix); ok {
			if _, missing := os.Lstat(s.Path(key)); missing != nil && !isLocked(path) {
				os.Remove(path)
			}
		} else if n.IsDir() && !isLocked(dirLockPath(path)) {
			dirs = append(dirs, path)
		}
	}
	return dirs
}

// Bytes returns the total size of all entries in bytes. It is the size after the last call of Evict, which Add also
// calls, and 0 before.
func (s *Store) Bytes() int64 { return s.bytes.Load() }
