package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/timba-arena/timba/ladder/datadir"
)

// cache has the built files of bots in a directory, each under the hash of its files. What is in
// it was verified in this run. Beyond its size, those go that were not used for the longest time;
// one that plays stays.
type cache struct {
	dir   string
	most  int64
	log   *slog.Logger
	fetch singleflight.Group

	mu      sync.Mutex
	entries map[string]*cached
	size    int64
}

type cached struct {
	size     int64
	used     time.Time
	users    int
	verified bool
}

// openCache opens a cache. What an earlier run left is verified when it is needed.
func openCache(dir string, most int64, log *slog.Logger) (*cache, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	found, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	c := &cache{dir: dir, most: most, log: log, entries: map[string]*cached{}}
	for _, e := range found {
		path := filepath.Join(dir, e.Name())
		info, err := e.Info()
		size, _, sizeErr := datadir.Size(path)
		if !datadir.IsHash(e.Name()) || err != nil || sizeErr != nil { // the remains of an unfinished one
			if err := os.RemoveAll(path); err != nil {
				return nil, fmt.Errorf("cache: %w", err)
			}
			continue
		}
		c.entries[e.Name()] = &cached{size: size, used: info.ModTime()}
		c.size += size
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.evict("")
	return c, nil
}

// use returns the directory of a bot, which stays until done is called. get unpacks a bot
// that is not there into a new directory.
func (c *cache) use(ctx context.Context, tree string, get func(ctx context.Context, into string) error) (dir string, done func(), err error) {
	if !datadir.IsHash(tree) {
		return "", nil, fmt.Errorf("cache: %q is not a hash of files", tree)
	}
	for {
		if c.take(tree) {
			return filepath.Join(c.dir, tree), sync.OnceFunc(func() { c.release(tree) }), nil
		}
		_, err, shared := c.fetch.Do(tree, func() (any, error) { return nil, c.add(ctx, tree, get) })
		ended := shared && errors.Is(err, context.Canceled) && ctx.Err() == nil // another match that got it
		if err != nil && !ended {
			return "", nil, err
		}
	}
}

// take counts a user of a bot that is there and verified.
func (c *cache) take(tree string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[tree]
	if e == nil || !e.verified {
		return false
	}
	e.users++
	c.touch(tree, e)
	return true
}

// touch notes the use of a bot, for later runs in the time of its directory.
func (c *cache) touch(tree string, e *cached) {
	e.used = time.Now()
	os.Chtimes(filepath.Join(c.dir, tree), e.used, e.used) // without it, it goes sooner than others
}

func (c *cache) release(tree string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[tree]
	e.users--
	c.touch(tree, e)
	c.evict("")
}

// add verifies a bot that stands there, or gets it.
func (c *cache) add(ctx context.Context, tree string, get func(context.Context, string) error) error {
	dir := filepath.Join(c.dir, tree)
	if c.verify(tree, dir) {
		return nil
	}
	fresh, err := os.MkdirTemp(c.dir, "new-")
	if err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	defer os.RemoveAll(fresh)
	if err := os.Chmod(fresh, 0o755); err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	into := filepath.Join(fresh, "bot")
	if err := get(ctx, into); err != nil {
		return err
	}
	got, err := hashTree(into)
	if err != nil {
		return err
	}
	if got != tree {
		return fmt.Errorf("cache: the files of a bot have the hash %s, not %s", got, tree)
	}
	size, _, err := datadir.Size(into)
	if err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	if err := os.Rename(into, dir); err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[tree] = &cached{size: size, used: time.Now(), verified: true}
	c.size += size
	c.evict(tree)
	return nil
}

// verify reports whether a bot stands there as it should. One that does not is removed.
func (c *cache) verify(tree, dir string) bool {
	c.mu.Lock()
	e := c.entries[tree]
	c.mu.Unlock()
	if e == nil {
		return false
	}
	got, err := hashTree(dir)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[tree] != e {
		return false // it went meanwhile
	}
	if err == nil && got == tree {
		e.verified, e.used = true, time.Now()
		return true
	}
	c.log.Warn("a bot in the cache has changed and is fetched again", "bot", tree, "err", err)
	c.remove(tree, e)
	return false
}

// evict removes bots until the rest fits, but for one that has just come and is about to be
// used. Whoever calls it holds the lock.
func (c *cache) evict(fresh string) {
	var idle []string
	for tree, e := range c.entries {
		if e.users == 0 && tree != fresh {
			idle = append(idle, tree)
		}
	}
	slices.SortFunc(idle, func(a, b string) int { return c.entries[a].used.Compare(c.entries[b].used) })
	for _, tree := range idle {
		if c.size <= c.most {
			return
		}
		c.remove(tree, c.entries[tree])
	}
}

func (c *cache) remove(tree string, e *cached) {
	if err := os.RemoveAll(filepath.Join(c.dir, tree)); err != nil {
		c.log.Warn("a bot in the cache cannot be removed", "bot", tree, "err", err)
		return
	}
	delete(c.entries, tree)
	c.size -= e.size
}

// bytes returns the size of all bots in the cache.
func (c *cache) bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}

// errNoBot is the error for a bot that is not packed on the server.
var errNoBot = errors.New("the server does not have it")

// from returns the packed files of a bot, which come from the server a part at a time. After a cut they go on where
// they were.
func (b build) from(part func(filePart) ([]byte, error)) io.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(packedBot{b.Tree, part}, 0, b.Size), PartSize)
}

type packedBot struct {
	tree string
	part func(filePart) ([]byte, error)
}

// ReadAt implements io.ReaderAt.
func (p packedBot) ReadAt(b []byte, offset int64) (int, error) {
	part, err := p.part(filePart{p.tree, offset})
	return copy(b, part), err
}
