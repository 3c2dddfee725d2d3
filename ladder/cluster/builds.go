package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/datadir"
)

// builds are the built files of bots that the server has for its machines: each packed into one file, whose name is the
// hash of the files.
type builds struct {
	*trees.Store

	mu    sync.Mutex
	trees map[string]string // trees.Hash of the built files by Bot.Hash, of this run
}

// build names the packed files of a bot.
type build struct {
	Tree string `json:"tree"` // trees.Hash of the files
	Size int64  `json:"size"` // of the packed files
}

// openBuilds opens a directory. What an earlier server has packed stays for the machines that fetch it.
func openBuilds(dir string, log *slog.Logger) (*builds, error) {
	s := trees.NewStore(dir, trees.Options{Limits: trees.Limits{Bytes: MaxBotBytes}, IsKey: datadir.IsHash, Check: checkPacked, Log: log})
	if _, err := s.Evict(s.Limits, nil); err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	return &builds{Store: s, trees: map[string]string{}}, nil
}

// checkPacked returns an error unless a file has the packed files with a hash.
func checkPacked(tree, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	switch got, err := trees.HashPacked(f); {
	case err != nil:
		return err
	case got != tree:
		return fmt.Errorf("its files have the hash %s", got)
	}
	return nil
}

// put makes sure that a bot is packed, and stays so until the context has ended. built returns the directory with its
// files.
func (b *builds) put(ctx context.Context, hash string, built func(context.Context) (string, error)) (build, error) {
	packed, err := b.pack(ctx, hash, built)
	if err != nil {
		return packed, fmt.Errorf("fleet: handing out the bot %s: %w", hash, err)
	}
	return packed, nil
}

func (b *builds) pack(ctx context.Context, hash string, built func(context.Context) (string, error)) (packed build, err error) {
	dir, err := built(ctx)
	if err != nil {
		return packed, err
	}
	if packed.Tree, err = b.tree(hash, dir); err != nil {
		return packed, err
	}
	var tooLarge error
	h, err := b.Add(ctx, packed.Tree, func(_ context.Context, path string) error {
		if err := packInto(path, dir); err != nil {
			return err
		}
		size, _, err := trees.Size(path)
		if err == nil && size > b.Limits.Bytes {
			tooLarge = fmt.Errorf("its %s do not fit into the %s for built bots", bundle.Size(size), bundle.Size(b.Limits.Bytes))
			err = tooLarge
		}
		return err
	})
	if err != nil && ctx.Err() == nil && tooLarge == nil {
		err = fmt.Errorf("%w: %w", attempt.ErrUnavailable, err) // it is not the bot's fault
	}
	if err != nil {
		return packed, err
	}
	context.AfterFunc(ctx, h.Release)
	packed.Size, _, err = trees.Size(h.Path)
	return packed, err
}

// tree returns the trees.Hash of a bot's built files, which are hashed once in a run.
func (b *builds) tree(hash, dir string) (string, error) {
	b.mu.Lock()
	tree := b.trees[hash]
	b.mu.Unlock()
	if tree != "" {
		return tree, nil
	}
	tree, err := trees.Hash(dir)
	if err == nil {
		b.mu.Lock()
		b.trees[hash] = tree
		b.mu.Unlock()
	}
	return tree, err
}

// packInto packs a directory into a new file.
func packInto(path, dir string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(trees.Pack(f, dir), f.Close())
}

// doubt makes put check the packed files of a bot: a machine could not use what it fetched.
func (b *builds) doubt(hash string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Doubt(b.trees[hash])
	delete(b.trees, hash)
}

// read returns the bytes of packed files from an offset on, at most PartSize.
func (b *builds) read(tree string, offset int64) ([]byte, error) {
	if !datadir.IsHash(tree) {
		return nil, fmt.Errorf("%q is not a hash of files", tree)
	}
	f, err := os.Open(b.Path(tree))
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
