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
	"github.com/timba-arena/timba/ladder/datadir"
)

// builds has the built files of bots on the server, packed for other machines. Each bot has one file; its name is
// the hash of the bot's built files.
type builds struct {
	*trees.Store
	trees sync.Map // trees.Hash of the built files, by the hash of the version; computed once in each run
}

// build identifies the packed files of a bot.
type build struct {
	Tree string `json:"tree"` // trees.Hash of the built files
	Size int64  `json:"size"` // of the packed files, in bytes
}

// openBuilds opens the packed files in dir. Files from earlier runs stay there, so that machines can still
// fetch them.
func openBuilds(dir string, log *slog.Logger) (*builds, error) {
	s, err := openStore(dir, MaxBotBytes, trees.HashPacked, log)
	return &builds{Store: s}, err
}

// ensurePacked packs the files of the bot with the given hash, unless they are packed already. The packed file is not
// removed until ctx ends. The function built returns the directory with the built files of the bot.
func (b *builds) ensurePacked(ctx context.Context, hash string, built func(context.Context) (string, error)) (packed build, err error) {
	dir, err := built(ctx)
	if err == nil {
		packed, err = b.pack(ctx, hash, dir)
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w: %w", attempt.ErrUnavailable, err) // not the fault of the bot
		}
	}
	if err != nil {
		return packed, fmt.Errorf("fleet: handing out the bot %s: %w", hash, err)
	}
	return packed, nil
}

func (b *builds) pack(ctx context.Context, hash, dir string) (packed build, err error) {
	if packed.Tree, err = b.tree(hash, dir); err != nil {
		return packed, err
	}
	h, err := b.Add(ctx, packed.Tree, func(_ context.Context, path string) error { return packInto(path, dir) })
	if err != nil {
		return packed, err
	}
	context.AfterFunc(ctx, h.Release)
	packed.Size, _, err = trees.Size(h.Path)
	return packed, err
}

// tree returns the trees.Hash of the built files in the directory dir. hash is the hash of the bot; the result is
// cached under it.
func (b *builds) tree(hash, dir string) (string, error) {
	if tree, ok := b.trees.Load(hash); ok {
		return tree.(string), nil
	}
	tree, err := trees.Hash(dir)
	if err == nil {
		b.trees.Store(hash, tree)
	}
	return tree, err
}

func packInto(path, dir string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(trees.Pack(f, dir), f.Close())
}

// recheck makes the next call of ensurePacked check the packed files of a bot again, because a machine may not have
// been able to use them. hash is the hash of the bot.
func (b *builds) recheck(hash string) {
	if tree, ok := b.trees.LoadAndDelete(hash); ok {
		b.Recheck(tree.(string))
	}
}

// read returns a part of the packed file of the bot whose built files have the trees.Hash tree: at most
// PartSize bytes, beginning at offset.
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
		err = nil // a short part is the last one
	}
	return part[:n], err
}

// handleFile answers the request of a machine for a part of a bot's packed files. If there is no such part, the
// answer is empty. Requests for parts that the machine sends while another of its requests is being answered get no
// answer.
func (h *Dispatcher) handleFile(msg *nats.Msg) {
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
