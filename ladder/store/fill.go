package store

import (
	"context"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
)

// Played is a match that was played, with the seed that its replays reveal.
type Played struct {
	Ladder   string
	Versions []int64
	Seed     rules.Seed
	Games    []*referee.Result
}

// Filler keeps matches that were played elsewhere, many in one transaction: for benchmarks, which
// keep the same games for many matches. It keeps what AddMatch, Begin and Finish keep. It
// must not be used by several goroutines.
type Filler struct {
	store  *Store
	packed map[*referee.Result]packedMatch // by its first game
}

type packedMatch struct {
	played    []*referee.Result
	documents []packedDocument
}

// Filler returns a filler of the store.
func (s *Store) Filler() *Filler {
	return &Filler{store: s, packed: map[*referee.Result]packedMatch{}}
}

// Keep keeps finished matches on their ladders in one transaction, in their order.
func (f *Filler) Keep(ctx context.Context, list []Played) error {
	return f.store.update(ctx, func(tx *Tx) error {
		for _, p := range list {
			if err := f.keep(ctx, tx, p); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *Filler) keep(ctx context.Context, tx *Tx, p Played) error {
	packed, ok := f.packed[p.Games[0]]
	if !ok {
		packed.played, packed.documents = f.store.pack(p.Games)
		f.packed[p.Games[0]] = packed
	}
	begun, err := tx.begin(ctx, Start{New: &NewMatch{Ladder: p.Ladder, Versions: p.Versions}, Seed: p.Seed})
	if err != nil {
		return err
	}
	_, err = f.store.finish(ctx, tx, begun.Match.ID, 1, packed.played, packed.documents)
	return err
}
