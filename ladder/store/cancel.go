package store

import (
	"context"
	"fmt"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// CancelMatch drops a match that is not over, for a reason. Who plays it finds it
// dropped. by is the person who cancels it, 0 for the server; whoever else asked for
// it is told.
func (s *Store) CancelMatch(ctx context.Context, matchID, by int64, reason string) error {
	return s.update(ctx, func(q *queries.Queries) error {
		m, err := q.Match(ctx, matchID)
		if err != nil {
			return none(err, noMatch(matchID))
		}
		if err := s.cancel(ctx, q, m, reason); err != nil {
			return err
		}
		if !m.AskedBy.Valid || m.AskedBy.Int64 == by {
			return nil
		}
		return q.AddMessage(ctx, queries.AddMessageParams{
			PersonID: m.AskedBy.Int64, Text: fmt.Sprintf("match %d is %s", m.ID, reason), Created: stamp(s.now()),
		})
	})
}

func (s *Store) cancel(ctx context.Context, q *queries.Queries, m queries.Match, reason string) error {
	switch ladder.MatchState(m.State) {
	case ladder.Waiting:
	case ladder.Running:
		if err := s.endAttempt(ctx, q, m, reason, false); err != nil {
			return err
		}
	default:
		return conflict("", "match %d is %s already", m.ID, m.State)
	}
	return s.dropMatch(ctx, q, m.ID, reason)
}

// endAll ends what a blocked person has going on: matches that they asked for or that
// their bots play, and their submissions that have begun, whose uploads it returns. Those
// that wait have no turn while the person is blocked.
func (s *Store) endAll(ctx context.Context, q *queries.Queries, p queries.Person) (uploads []string, err error) {
	open, err := q.OpenOfPerson(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	reason := fmt.Sprintf("cancelled: %s is blocked", p.Name)
	for _, m := range open {
		if err := s.cancel(ctx, q, m, reason); err != nil {
			return nil, err
		}
	}
	versions, err := q.OpenVersionsOf(ctx, nullID(p.ID))
	if err != nil {
		return nil, err
	}
	for _, id := range versions {
		row, err := s.open(ctx, q, id)
		if err != nil {
			return nil, err
		}
		uploads = append(uploads, row.Version.Bundle)
		if err := q.SetState(ctx, queries.SetStateParams{State: string(ladder.Failed), Reason: reason, Ended: nullStamp(s.now()), ID: id}); err != nil {
			return nil, err
		}
		if err := s.tell(ctx, q, row, fmt.Sprintf("version %d of %s failed: %s", row.Version.Number, row.Name, reason)); err != nil {
			return nil, err
		}
	}
	return uploads, nil
}
