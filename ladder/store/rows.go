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
	lastMatch, lastGame int64 // IDs; 0: not known
	running             []queries.AddRunningParams
	slots               []queries.AddSlotParams
	attempts            []queries.AddAttemptParams
	begun               []begun
	games               []queries.AddGameParams
	seats               []queries.AddSeatParams
	documents           []queries.AddDocumentParams
	faulty              []queries.MatchSlot
	changes             []queries.AddChangeParams
	entries             []queries.MoveEntryParams
	pairs               []queries.AddPairParams
	ends                []queries.EndAttemptParams
	finished            []queries.FinishMatchParams

	orders       map[int64]int64           // by ladder, of its last match
	fingerprints map[ofLadder]bool         // of the games
	over         map[int64]bool            // matches that are begun or finished
	moved        map[[2]int64]rating.Entry // by ladder and version
}

// begun is a match that waited.
type begun struct{ match, at int64 }

// ofLadder is a game's fingerprint on a ladder.
type ofLadder struct {
	ladder      int64
	fingerprint [16]byte
}

func newRows() rows {
	return rows{orders: map[int64]int64{}, fingerprints: map[ofLadder]bool{}, over: map[int64]bool{}, moved: map[[2]int64]rating.Entry{}}
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
	if err := each(ctx, r.games, tx.AddGame); err != nil {
		return err
	}
	if err := each(ctx, r.seats, tx.AddSeat); err != nil {
		return err
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
	if err := each(ctx, r.finished, tx.FinishMatch); err != nil {
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
