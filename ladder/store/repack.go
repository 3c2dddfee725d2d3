package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/timba-arena/timba/ladder/store/queries"
)

// repackBatch is how many matches are packed anew in one transaction, so that others do not wait long.
const repackBatch = 16

// Repack compresses the documents of matches together that an earlier timba kept game by game, a
// few in each transaction, and returns how many matches it has packed. What is damaged stays as it
// is. It can be ended at any time and goes on where it was.
func (s *Store) Repack(ctx context.Context) (packed int, err error) {
	for after := int64(0); ; {
		n, last, err := s.repackSome(ctx, after)
		packed += n
		if err != nil || last == after {
			return packed, err
		}
		after = last
	}
}

// repackSome packs some matches whose games come after one, and returns the last game seen.
func (s *Store) repackSome(ctx context.Context, after int64) (packed int, last int64, err error) {
	type old struct {
		match     int64
		documents []packedDocument
	}
	var list []old
	last = after
	for range repackBatch {
		var match queries.OldMatchAfterRow
		var documents []packedDocument
		err := s.view(ctx, func(tx *Tx) (err error) {
			if match, err = tx.OldMatchAfter(ctx, last); err != nil {
				return err
			}
			documents, err = s.packOld(ctx, tx, match.MatchID)
			return err
		})
		if errors.Is(err, sql.ErrNoRows) {
			break
		}
		if err != nil {
			return 0, after, err
		}
		last = match.LastGame
		if documents != nil {
			list = append(list, old{match.MatchID, documents})
		}
	}
	if len(list) == 0 {
		return 0, last, nil
	}
	err = s.update(ctx, func(tx *Tx) error {
		for _, m := range list {
			if err := addDocuments(ctx, tx, m.match, m.documents); err != nil {
				return err
			}
			if err := errors.Join(tx.DeleteOldReplays(ctx, m.match), tx.DeleteOldLogs(ctx, m.match)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, after, err
	}
	return len(list), last, nil
}

// packOld returns the documents of a match that is not packed yet; nil if they are damaged.
func (s *Store) packOld(ctx context.Context, tx *Tx, matchID int64) (documents []packedDocument, err error) {
	for _, kind := range []string{replaysKind, logsKind} {
		parts, err := s.oldParts(ctx, tx, matchID, kind)
		var d damage
		if errors.As(err, &d) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		documents = append(documents, s.packParts(kind, parts)...)
	}
	return documents, nil
}
