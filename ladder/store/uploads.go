package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
)

// Bundles lists the uploads that versions need, by their hash: those are never
// deleted. A version that failed before it was built needs none.
func (s Versions) Bundles(ctx context.Context) ([]string, error) {
	hashes, err := s.read.Bundles(ctx)
	return hashes, machineError(err)
}

// NeededBuilds lists the hashes of the versions that play or are on their way, and of those in matches
// that wait or run and in games of people, in their order.
func (s Versions) NeededBuilds(ctx context.Context) ([]string, error) {
	hashes, err := s.read.NeededBuilds(ctx)
	return hashes, machineError(err)
}

// dropUploads deletes the uploads among some that no version needs. It holds the writer, so that nobody
// keeps the same upload meanwhile. It has no error: the versions are over, and SweepUploads deletes what
// is left.
func (s *db) dropUploads(ctx context.Context, sums ...string) {
	s.update(context.WithoutCancel(ctx), func(tx *Tx) error {
		for _, sum := range sums {
			path, err := s.dir.Bundle(sum)
			if err != nil {
				continue // a version without an upload
			}
			if n, err := tx.CountBundle(ctx, sum); err == nil && n == 0 {
				os.Remove(path)
			}
		}
		return nil
	})
}

// SweepUploads deletes the uploads that no version needs, which a server that was
// killed has left, and returns how many they were. The directory's server calls it
// before it takes uploads.
func (s Versions) SweepUploads(ctx context.Context) (swept int, err error) {
	needed, err := s.Bundles(ctx)
	if err != nil {
		return 0, err
	}
	entries, err := os.ReadDir(s.dir.Bundles())
	if err != nil {
		return 0, unavailable("look at the directory and its rights", "data: the uploads cannot be listed: %w", err)
	}
	for _, e := range entries {
		if _, found := slices.BinarySearch(needed, e.Name()); found || !datadir.IsHash(e.Name()) {
			continue
		}
		path, err := s.dir.Bundle(e.Name())
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			return swept, unavailable("look at the directory and its rights", "data: an upload that nobody needs cannot be deleted: %w", err)
		}
		swept++
	}
	return swept, nil
}

// OpenUpload opens the upload of a version, as it came.
func (s Versions) OpenUpload(v ladder.Version) (*os.File, error) {
	gone := notFound("a version that was never built has none, nor has a house bot", "the upload of %s@%d is not kept", v.Bot, v.Number)
	path, err := s.dir.Bundle(v.Bundle)
	if err != nil || v.State == ladder.Failed && v.Hash == "" { // as Bundles has it; its file may be about to go
		return nil, gone
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, gone
	}
	if err != nil {
		return nil, unavailable("try again later", "data: the upload cannot be read: %w", err)
	}
	return f, nil
}
