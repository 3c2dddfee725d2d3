package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/singleflight"

	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/datadir"
)

// builds are the built files of bots that the server has for its machines: each packed into one file, which
// is named by the hash of what is in it; see hashTree.
type builds struct {
	dir     string
	most    int64 // bytes
	packing singleflight.Group

	mu     sync.Mutex
	packed map[string]build // by Bot.Hash, those of this run
}

// build names the packed files of a bot.
type build struct {
	Tree string `json:"tree"` // hash of the files; see hashTree
	Size int64  `json:"size"` // of them packed
}

// openBuilds opens a directory. What an earlier server has packed stays for the machines that fetch it.
func openBuilds(dir string) (*builds, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	unfinished, err := filepath.Glob(filepath.Join(dir, "new-*"))
	for _, file := range unfinished {
		err = errors.Join(err, os.Remove(file))
	}
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	return &builds{dir: dir, most: MaxBotBytes, packed: map[string]build{}}, nil
}

func (b *builds) path(tree string) string { return filepath.Join(b.dir, tree) }

// put makes sure that a bot is packed. built returns the directory where its files stand.
func (b *builds) put(ctx context.Context, hash string, built func(context.Context) (string, error)) (build, error) {
	b.mu.Lock()
	known, ok := b.packed[hash]
	b.mu.Unlock()
	if now := time.Now(); ok && os.Chtimes(b.path(known.Tree), now, now) == nil {
		return known, nil
	}
	pack := func() (any, error) {
		made, err := b.pack(ctx, hash, built)
		if err != nil && ctx.Err() != nil {
			err = ctx.Err()
		}
		return made, err
	}
	v, err, _ := b.packing.Do(hash, pack)
	for errors.Is(err, context.Canceled) && ctx.Err() == nil { // who began it wants it no more
		v, err, _ = b.packing.Do(hash, pack)
	}
	if err != nil {
		return build{}, fmt.Errorf("fleet: handing out the bot %s: %w", hash, err)
	}
	return v.(build), nil
}

func (b *builds) pack(ctx context.Context, hash string, built func(context.Context) (string, error)) (made build, err error) {
	dir, err := built(ctx)
	if err != nil {
		return made, err
	}
	if made.Tree, err = hashTree(dir); err != nil {
		return made, err
	}
	if made.Size, err = b.write(dir, made.Tree); err != nil {
		return made, fmt.Errorf("%w: %w", attempt.ErrUnavailable, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.makeRoom(made); err != nil {
		return made, err
	}
	b.packed[hash] = made
	return made, nil
}

// write packs a directory into the file of its tree, completely or not at all.
func (b *builds) write(dir, tree string) (size int64, err error) {
	f, err := os.CreateTemp(b.dir, "new-*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name()) // unless it has its name by then
	err = packTree(f, dir)
	info, statErr := f.Stat()
	if err := errors.Join(err, statErr, f.Close()); err != nil {
		return 0, err
	}
	return info.Size(), os.Rename(f.Name(), b.path(tree))
}

// makeRoom removes bots until those that stay fit, first those that were not needed for the longest time, but
// not a fresh one. Whoever calls it holds the lock.
func (b *builds) makeRoom(fresh build) error {
	if fresh.Size > b.most {
		return errors.Join(fmt.Errorf("its %s do not fit into the %s for built bots", bundle.Size(fresh.Size), bundle.Size(b.most)),
			os.Remove(b.path(fresh.Tree)))
	}
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return fmt.Errorf("%w: %w", attempt.ErrUnavailable, err)
	}
	var all []fs.FileInfo
	over := -b.most
	for _, e := range entries {
		if info, err := e.Info(); err == nil && datadir.IsHash(e.Name()) { // else it is not finished, or just gone
			all = append(all, info)
			over += info.Size()
		}
	}
	slices.SortFunc(all, func(x, y fs.FileInfo) int {
		return cmp.Or(x.ModTime().Compare(y.ModTime()), cmp.Compare(x.Name(), y.Name()))
	})
	for _, info := range all {
		if over <= 0 {
			return nil
		}
		if info.Name() == fresh.Tree {
			continue
		}
		if err := os.Remove(b.path(info.Name())); err != nil {
			return fmt.Errorf("%w: %w", attempt.ErrUnavailable, err)
		}
		over -= info.Size()
	}
	return nil
}

// forget makes put pack a bot again: a machine could not use what it fetched.
func (b *builds) forget(hash string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.packed, hash)
}

// read returns the bytes of packed files from an offset on, at most PartSize.
func (b *builds) read(tree string, offset int64) ([]byte, error) {
	if !datadir.IsHash(tree) {
		return nil, fmt.Errorf("%q is not a hash of files", tree)
	}
	f, err := os.Open(b.path(tree))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	part := make([]byte, PartSize)
	n, err := f.ReadAt(part, offset)
	if n > 0 {
		err = nil // it is the last one
	}
	return part[:n], err
}

// handleFile takes a message in which a machine asks for a part of a bot's packed files. The answer is empty where
// there is none. Each machine gets one part at a time: what else it asks meanwhile is not answered.
func (h *Hub) handleFile(msg *nats.Msg) {
	name := machineOf(msg.Subject)
	var p filePart
	if err := json.Unmarshal(msg.Data, &p); err != nil {
		h.Log.Debug("a machine asks for what cannot be read", "machine", name, "err", err)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.machine(name)
	if m == nil || m.reading || h.ending.Err() != nil {
		return
	}
	m.reading = true
	h.running.Go(func() {
		part, err := h.builds.read(p.Tree, p.Offset)
		if err != nil {
			h.Log.Debug("a part of a bot cannot be read", "machine", name, "err", err)
		}
		h.mu.Lock()
		m.reading = false
		h.mu.Unlock()
		h.respond(msg, part)
	})
}
