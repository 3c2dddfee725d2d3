package store

import (
	"context"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// Cancel drops a match that is not over. A machine that plays it finds it dropped. by is the ID of the person
// who cancels it, or 0 for the server. The person who requested it gets a message, unless the same person
// cancels it.
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

// cancelAllOf cancels what a blocked person has going on: the matches that the person requested or that the
// person's bots play, and submissions that have started, whose uploads it returns. Submissions in the queue
// stay there, and are not processed while the person is blocked.
func (tx *Tx) cancelAllOf(ctx context.Context, p queries.Person) (uploads []string, err error) {
	open, err := tx.OpenOfPerson(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	reason := phrase.New("cancelled: %s is blocked", p.Name)
	for _, m := range open {
		if err := tx.cancel(ctx, m, p.ID, reason); err != nil {
			return nil, err
		}
	}
	versions, err := tx.OpenVersionsOf(ctx, nullID(p.ID))
	if err != nil {
		return nil, err
	}
	for _, id := range versions {
		row, err := tx.pendingVersion(ctx, id)
		if err != nil {
			return nil, err
		}
		uploads = append(uploads, row.Bundle)
		if err := tx.fail(ctx, row, reason); err != nil {
			return nil, err
		}
		if err := tx.messageOwner(ctx, row, ladder.MessageFailed, 0, reason); err != nil {
			return nil, err
		}
	}
	return uploads, nil
}
