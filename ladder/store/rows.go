package store

import (
	"context"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/referee/rules"
)

// rows has what a transaction of starts and results adds, in the order in which they came. It is
// written at the end of the transaction: until then a change that is refused has added nothing.
type rows struct {
	lastMatch, lastResult int64 // IDs; 0: not known
	running               []queries.AddRunningParams
	slots                 []queries.AddSlotParams
	attempts              []queries.AddAttemptParams
	begun                 []begun
	results               []queries.AddResultParams
	documents             []queries.AddDocumentParams
	faulty                []queries.MatchSlot
	changes               []queries.AddChangeParams
	entries               []queries.MoveEntryParams
	pairs                 []queries.AddPairParams
	ends                  []queries.EndAttemptParams
	finished              []queries.MatchRow

	orders map[int64]int64           // by ladder, of its last match
	first  map[[2]int64]int64        // by ladder and fingerprint, the orders of the first matches that had them
	over   map[int64]bool            // matches that are begun or finished
	moved  map[[2]int64]rating.Entry // by ladder and version
}

// begun is a match that waited.
type begun struct{ match, at int64 }

func newRows() rows {
	return rows{orders: map[int64]int64{}, first: map[[2]int64]int64{}, over: map[int64]bool{}, moved: map[[2]int64]rating.Entry{}}
}

// nextMatch returns the ID of a new match.
func (r *rows) nextMatch(ctx context.Context, tx *Tx) (_ int64, err error) {
	if r.lastMatch == 0 {
		if r.lastMatch, err = tx.LastMatchID(ctx); err != nil {
			return 0, err
		}
	}
	r.lastMatch++
	return r.lastMatch, nil
}

// write writes all.
func (r *rows) write(ctx context.Context, tx *Tx) error {
	for _, step := range []func(context.Context, *Tx) error{r.writeStarts, r.writeGames, r.writeRatings, r.writeEnds} {
		if err := step(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

func (r *rows) writeStarts(ctx context.Context, tx *Tx) error {
	if err := each(ctx, r.running, tx.AddRunning); err != nil {
		return err
	}
	if err := each(ctx, r.slots, tx.AddSlot); err != nil {
		return err
	}
	if err := each(ctx, r.attempts, tx.AddAttempt); err != nil {
		return err
	}
	return each(ctx, r.begun, func(ctx context.Context, b begun) error { return tx.BeginMatch(ctx, someID(b.at), b.match) })
}

func (r *rows) writeGames(ctx context.Context, tx *Tx) error {
	if err := each(ctx, r.results, tx.AddResult); err != nil {
		return err
	}
	for game, order := range r.first {
		if err := tx.AddFingerprint(ctx, game[0], game[1], order); err != nil {
			return err
		}
	}
	if err := each(ctx, r.documents, tx.AddDocument); err != nil {
		return err
	}
	return each(ctx, r.faulty, func(ctx context.Context, s queries.MatchSlot) error { return tx.MarkFaulty(ctx, s.MatchID, s.Slot) })
}

func (r *rows) writeRatings(ctx context.Context, tx *Tx) error {
	if err := each(ctx, r.changes, tx.AddChange); err != nil {
		return err
	}
	if err := each(ctx, r.entries, tx.MoveEntry); err != nil {
		return err
	}
	return each(ctx, r.pairs, tx.AddPair)
}

func (r *rows) writeEnds(ctx context.Context, tx *Tx) error {
	if err := each(ctx, r.ends, tx.EndAttempt); err != nil {
		return err
	}
	if err := each(ctx, r.finished, func(ctx context.Context, m queries.MatchRow) error {
		return tx.FinishMatch(ctx, m.Finished, m.Reason, m.ID)
	}); err != nil {
		return err
	}
	for id, order := range r.orders {
		if err := tx.SetFinished(ctx, order, id); err != nil {
			return err
		}
	}
	return nil
}

// each writes rows one by one.
func each[R any](ctx context.Context, list []R, write func(context.Context, R) error) error {
	for _, row := range list {
		if err := write(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// running is an attempt that runs, of a match that was begun as a new one.
type running struct {
	match    ladder.Match
	ladderID int64
	variant  *rules.Variant
	attempt  queries.Attempt // its number and its seed
}
