package store

import (
	"context"

	"github.com/timba-arena/timba/ladder/store/queries"
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
	bots   map[int64]int64                 // by version
}

type packedMatch struct {
	played    []*referee.Result
	documents []packedDocument
}

// Filler returns a filler of the store.
func (s *Store) Filler() *Filler {
	return &Filler{store: s, packed: map[*referee.Result]packedMatch{}, bots: map[int64]int64{}}
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
	row, err := tx.newMatch(ctx, NewMatch{Ladder: p.Ladder, Versions: p.Versions})
	if err != nil {
		return err
	}
	settings, err := tx.settings(ctx, row)
	if err != nil {
		return err
	}
	row.ID, err = tx.AddMatch(ctx, queries.AddMatchParams{LadderID: row.LadderID, SettingsID: settings, Created: stamp(tx.now)})
	if err != nil {
		return err
	}
	for slot, id := range p.Versions {
		if err := f.addSlot(ctx, tx, row.ID, slot, id); err != nil {
			return err
		}
	}
	if err := tx.AddAttempt(ctx, queries.AddAttemptParams{MatchID: row.ID, Number: 1, Seed: p.Seed[:], Began: stamp(tx.now)}); err != nil {
		return err
	}
	if err := tx.BeginMatch(ctx, nullStamp(tx.now), row.ID); err != nil {
		return err
	}
	end := &finish{ctx: ctx, tx: tx, store: f.store, now: tx.now, played: packed.played, documents: packed.documents}
	if err := end.load(row.ID, 1); err != nil {
		return err
	}
	if err := end.check(); err != nil {
		return err
	}
	if _, err := end.rate(); err != nil {
		return err
	}
	return end.keep()
}

func (f *Filler) addSlot(ctx context.Context, tx *Tx, match int64, slot int, version int64) error {
	if f.bots[version] == 0 {
		row, err := tx.VersionByID(ctx, version)
		if err != nil {
			return err
		}
		f.bots[version] = row.Version.BotID
	}
	return tx.AddSlot(ctx, queries.AddSlotParams{MatchID: match, Slot: int64(slot), VersionID: version, BotID: f.bots[version]})
}
