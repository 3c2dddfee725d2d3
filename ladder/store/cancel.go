package store

import (
	"context"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// Cancel drops a match that is waiting or running. For a match in another state it returns an error. If a machine is
// playing the match, its result is later refused with ErrAttemptOver. by is the ID of the person who cancels the
// match, or 0 for the server. The person who requested the match gets a message, unless that person has cancelled it.
func (s Matches) Cancel(ctx context.Context, matchID, by int64, reason phrase.Text) error {
	return s.update(ctx, func(tx *Tx) error {
		m, err := tx.Match(ctx, matchID)
		if err != nil {
			return ifNoRows(err, noMatchError(matchID))
		}
		return tx.cancel(ctx, m, by, reason)
	})
}

func (tx *Tx) cancel(ctx context.Context, m queries.MatchRow, by int64, reason phrase.Text) error {
	switch ladder.MatchState(m.State) {
	case ladder.Waiting:
	case ladder.Running:
		if err := tx.endAttempt(ctx, m, reason, false); err != nil {
			return err
		}
	default:
		return conflict("", "match %d is %s already", m.ID, m.State)
	}
	return tx.dropMatch(ctx, m, by, reason)
}

// cancelAllOf cancels unfinished matches and submissions of a person, for the given reason. The matches are those
// that the person requested or that the person's bots play. The submissions are those that are being processed and,
// if queued is true, those that wait in the queue. It returns the hashes of the uploads of the cancelled submissions.
func (tx *Tx) cancelAllOf(ctx context.Context, id int64, reason phrase.Text, queued bool) (uploads []string, err error) {
	open, err := tx.OpenOfPerson(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, m := range open {
		if err := tx.cancel(ctx, m, id, reason); err != nil {
			return nil, err
		}
	}
	versions, err := tx.OpenVersionsOf(ctx, nullID(id), boolColumn(queued))
	if err != nil {
		return nil, err
	}
	for _, version := range versions {
		row, err := tx.pendingVersion(ctx, version)
		if err != nil {
			return nil, err
		}
		uploads = append(uploads, row.Bundle)
		if err := tx.endSubmission(ctx, row, ladder.Cancelled, reason); err != nil {
			return nil, err
		}
		if err := tx.messageOwner(ctx, row, ladder.MessageFailed, 0, reason); err != nil {
			return nil, err
		}
	}
	return uploads, nil
}
