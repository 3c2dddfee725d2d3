package submission

import (
	"context"
	"slices"
	"time"

	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/store"
)

// newBuilds returns the store of built bots in a data directory. now is the clock; if it is nil, the system
// clock is used.
func newBuilds(dir datadir.Dir, now func() time.Time) *trees.Store {
	return trees.NewStore(dir.Bots(), trees.Options{IsKey: datadir.IsHash, Now: now})
}

// maxUnused is how long a build that no version or match needs stays after its last use.
const maxUnused = 30 * 24 * time.Hour

func buildLimits(rules ladder.Storage) trees.Limits {
	return trees.Limits{Bytes: int64(rules.Room), Age: maxUnused}
}

// neededBuilds returns a function that reports whether the built files with the given hash are needed: by a
// version that plays or is being checked, by an unfinished match, or by an open game of people.
func neededBuilds(ctx context.Context, s *store.Store) (func(hash string) bool, error) {
	hashes, err := s.Versions.NeededBuilds(ctx)
	return func(hash string) bool {
		_, found := slices.BinarySearch(hashes, hash)
		return found
	}, err
}

// SurplusBuilds returns the builds that can be removed: no version or match needs them, and they are too old or
// exceed the size limit in rules. now is the current time. The least recently used builds come first. The list
// includes builds that a running server uses, which SweepBuilds would keep.
func SurplusBuilds(ctx context.Context, s *store.Store, rules ladder.Storage, now time.Time) ([]trees.Entry, error) {
	needed, err := neededBuilds(ctx, s)
	if err != nil {
		return nil, err
	}
	list, err := newBuilds(s.Dir(), nil).Entries()
	return buildLimits(rules).Surplus(list, now, needed), buildsError(err)
}

// SweepBuilds removes builds that are too old or exceed the configured size. It keeps builds that are in use, or that
// a version or a match needs. If a removed build is needed later, Resolve makes it again from the upload.
func (p *Pipeline) SweepBuilds(ctx context.Context) (done trees.Eviction, err error) {
	needed, err := neededBuilds(ctx, p.Store)
	if err != nil {
		return done, err
	}
	done, err = p.builds.Evict(buildLimits(p.Config.Storage), needed)
	return done, buildsError(err)
}

// buildsError wraps err in an error for people: the built bots cannot be read. If err is nil, it returns nil.
func buildsError(err error) error {
	if err == nil {
		return nil
	}
	return ladder.Errorf(ladder.Unavailable, "look at the directory and its rights", "data: the built bots cannot be looked at: %w", err)
}
