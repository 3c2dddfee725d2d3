package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/singleflight"
)

// partSize is the size in bytes of the parts in which the object store keeps files.
const partSize = 1 << 20

// treeKey is the name of the hash of the files in what the object store knows of a bot.
const treeKey = "tree"

// shelf is the server's side of the object store with the bots' built files.
type shelf struct {
	objects jetstream.ObjectStore
	most    int64 // bytes
	upload  singleflight.Group

	mu   sync.Mutex
	used map[string]time.Time // by hash, since the server's start
	tree map[string]string    // by hash, of those that are known to be there
	odd  map[string]bool      // by hash, of those that may be there in part
}

func newShelf(o jetstream.ObjectStore) *shelf {
	return &shelf{objects: o, most: MaxBotBytes, used: map[string]time.Time{}, tree: map[string]string{}, odd: map[string]bool{}}
}

// put makes sure that a bot is in the object store, and returns the hash of its files. built
// returns the directory where they stand.
func (s *shelf) put(ctx context.Context, hash string, built func(context.Context) (string, error)) (tree string, err error) {
	s.mu.Lock()
	s.used[hash] = time.Now()
	tree = s.tree[hash]
	s.mu.Unlock()
	if tree != "" {
		return tree, nil
	}
	upload := func() (any, error) {
		tree, err := s.store(ctx, hash, built)
		if err != nil && ctx.Err() != nil {
			err = ctx.Err()
		}
		return tree, err
	}
	v, err, _ := s.upload.Do(hash, upload)
	for errors.Is(err, context.Canceled) && ctx.Err() == nil { // who began it wants it no more
		v, err, _ = s.upload.Do(hash, upload)
	}
	if err != nil {
		return "", fmt.Errorf("fleet: handing out the bot %s: %w", hash, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tree[hash] = v.(string)
	return v.(string), nil
}

func (s *shelf) store(ctx context.Context, hash string, built func(context.Context) (string, error)) (string, error) {
	info, err := s.objects.GetInfo(ctx, hash)
	if err == nil && info.Metadata[treeKey] != "" && !s.isOdd(hash) {
		return info.Metadata[treeKey], nil
	}
	if err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return "", unavailable(err)
	}
	dir, err := built(ctx)
	if err != nil {
		return "", err
	}
	tree, err := hashTree(dir)
	if err != nil {
		return "", err
	}
	if err := s.makeRoom(ctx, dir); err != nil {
		return "", err
	}
	packed := packTree(dir)
	defer packed.Close()
	_, err = s.objects.Put(ctx, jetstream.ObjectMeta{
		Name: hash, Metadata: map[string]string{treeKey: tree}, Opts: &jetstream.ObjectMetaOptions{ChunkSize: partSize},
	}, packed)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.odd[hash] = true // NATS may have its name and not all of its parts
		return "", unavailable(err)
	}
	delete(s.odd, hash)
	return tree, nil
}

func (s *shelf) isOdd(hash string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.odd[hash]
}

// makeRoom deletes bots until the files of a directory fit, those first that were not needed
// for the longest time.
func (s *shelf) makeRoom(ctx context.Context, dir string) error {
	need, err := sizeOf(dir)
	if err != nil {
		return err
	}
	status, err := s.objects.Status(ctx)
	if err != nil {
		return unavailable(err)
	}
	over := int64(status.Size()) + need - s.most
	if over <= 0 {
		return nil
	}
	all, err := s.objects.List(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		return unavailable(err)
	}
	s.mu.Lock()
	last := func(o *jetstream.ObjectInfo) time.Time {
		if at, ok := s.used[o.Name]; ok {
			return at
		}
		return o.ModTime
	}
	slices.SortFunc(all, func(a, b *jetstream.ObjectInfo) int { return last(a).Compare(last(b)) })
	s.mu.Unlock()
	for _, o := range all {
		if over <= 0 {
			return nil
		}
		s.mu.Lock()
		delete(s.tree, o.Name)
		delete(s.used, o.Name)
		s.mu.Unlock()
		if err := s.objects.Delete(ctx, o.Name); err != nil {
			return unavailable(err)
		}
		over -= int64(o.Size)
	}
	if over > 0 {
		return fmt.Errorf("its %d bytes do not fit into the object store of %d", need, s.most)
	}
	return nil
}

// forget makes put store a bot again: a machine has not found it, or not all of it.
func (s *shelf) forget(hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tree, hash)
	s.odd[hash] = true
}

// forgetAll makes put look again for all bots: the object store may be a new one.
func (s *shelf) forgetAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tree)
}
