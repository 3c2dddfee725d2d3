package submission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/store"
)

// holds counts who uses each build, so that none is removed under them. Its zero value is ready.
type holds struct {
	mu    sync.Mutex
	count map[string]int // by hash
}

// hold keeps the build with a hash, which may not stand yet, from being removed until release.
func (h *holds) hold(hash string) (release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.count == nil {
		h.count = map[string]int{}
	}
	h.count[hash]++
	return sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.count[hash]--; h.count[hash] == 0 {
			delete(h.count, hash)
		}
	})
}

// unlessHeld calls do while nobody can begin to hold a build, unless somebody does already.
func (h *holds) unlessHeld(hash string, do func() error) (done bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.count[hash] > 0 {
		return false, nil
	}
	return true, do()
}

// used notes that a build is needed now. It is only worth a try: a build that looks older than it is
// is made again when it is needed.
func (p *Pipeline) used(hash string) {
	now := p.Now()
	_ = os.Chtimes(p.Dir.Bot(hash), now, now)
}

// StoredBuild is a bot that stands built in a data directory.
type StoredBuild struct {
	Hash   string
	Bytes  int64     // of its files
	Used   time.Time // last
	Needed bool      // by a version that plays, or is on its way, or by a match that waits or runs
}

// Builds returns the bots that stand built in the directory of a store, those that were not used for
// the longest time first.
func Builds(ctx context.Context, s *store.Store) (list []StoredBuild, err error) {
	needed, err := s.Versions.NeededBuilds(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(s.Dir().Bots())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, buildsError(err)
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !datadir.IsHash(e.Name()) {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, buildsError(err)
		}
		bytes, _, err := datadir.Size(s.Dir().Bot(e.Name()))
		if err != nil {
			return nil, buildsError(err)
		}
		_, found := slices.BinarySearch(needed, e.Name())
		list = append(list, StoredBuild{Hash: e.Name(), Bytes: bytes, Used: info.ModTime(), Needed: found})
	}
	slices.SortStableFunc(list, func(a, b StoredBuild) int { return cmp.Or(a.Used.Compare(b.Used), cmp.Compare(a.Hash, b.Hash)) })
	return list, nil
}

func buildsError(err error) error {
	return ladder.Errorf(ladder.Unavailable, "look at the directory and its rights", "data: the built bots cannot be looked at: %w", err)
}

// Swept is what SweepBuilds has done.
type Swept struct {
	Builds int   // that were removed
	Bytes  int64 // of them
	Left   int64 // bytes of those that stand
	Over   bool  // what is left has more bytes than it may have
}

// unused is the time without use after which a build that nobody needs goes.
const unused = 30 * 24 * time.Hour

// Choose returns which of the builds go by the rules of the configuration, at a time: of those that nobody
// needs, the ones that were not used for so long, and as many more as are too much for the limit.
func Choose(list []StoredBuild, rules ladder.Storage, now time.Time) (remove []StoredBuild) {
	var total int64
	for _, b := range list {
		total += b.Bytes
	}
	for _, b := range list { // the oldest first
		old := b.Used.Before(now.Add(-unused))
		if b.Needed || !old && !over(total, rules) {
			continue
		}
		remove = append(remove, b)
		total -= b.Bytes
	}
	return remove
}

func over(bytes int64, rules ladder.Storage) bool { return rules.Room > 0 && bytes > int64(rules.Room) }

// SweepBuilds removes builds by the rules of the configuration. Those that anybody has resolved and may still
// use stay; a removed one is made again from its upload when it is resolved.
func (p *Pipeline) SweepBuilds(ctx context.Context) (done Swept, err error) {
	list, err := Builds(ctx, p.Store)
	if err != nil {
		return done, err
	}
	for _, b := range list {
		done.Left += b.Bytes
	}
	for _, b := range Choose(list, p.Config.Storage, p.Now()) {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		removed, err := p.remove(b.Hash)
		if err != nil {
			return done, err
		}
		if removed {
			done.Builds++
			done.Bytes += b.Bytes
			done.Left -= b.Bytes
		}
	}
	done.Over = over(done.Left, p.Config.Storage)
	return done, nil
}

// remove removes a build that nobody uses. It goes away as a whole, into the directory for temporary
// files, which a server empties at its start; its files may take longer.
func (p *Pipeline) remove(hash string) (removed bool, err error) {
	work, err := p.Dir.MkdirTemp("remove-")
	if err != nil {
		return false, buildsError(err)
	}
	defer func() {
		if gone := os.RemoveAll(work); gone != nil && err == nil {
			err = buildsError(gone)
		}
	}()
	removed, err = p.holds.unlessHeld(hash, func() error {
		return os.Rename(p.Dir.Bot(hash), filepath.Join(work, "bot"))
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, buildsError(fmt.Errorf("%s: %w", hash, err))
	}
	return removed, nil
}
