package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
)

// NewMatch is a match to be played. A rated one names its ladder, which gives game,
// options, clock and deals; an unrated one brings those.
type NewMatch struct {
	Ladder   string
	Versions []int64 // by slot

	Game    string
	Options map[string]string
	Clock   referee.Clock
	Deals   int
	AskedBy int64 // the person, 0 for nobody
	// Open is how many unrated matches that person may have that are not over; 0
	// for any number.
	Open int
	// Time is how long an unrated match may take by its rules; 0: any time.
	Time time.Duration
	// Room is the memory that an unrated match has to fit into.
	Room ladder.Room
	// Allowance is added to the margin of the clock of a match with a remote version.
	Allowance time.Duration
}

// AddMatch takes a match in, which waits then. The versions of a rated one have to
// be active on the ladder; those of an unrated one only have to be built.
func (s *Store) AddMatch(ctx context.Context, n NewMatch) (out ladder.Match, err error) {
	err = s.update(ctx, func(q *queries.Queries) error {
		params, err := s.newMatch(ctx, q, n)
		if err != nil {
			return err
		}
		params.Created = stamp(s.now())
		if params.Clock, err = s.clock(ctx, q, n, params.Clock); err != nil {
			return err
		}
		m, err := q.AddMatch(ctx, params)
		if err != nil {
			return err
		}
		for slot, id := range n.Versions {
			row, err := s.player(ctx, q, m.LadderID.Int64, id)
			if err != nil {
				return err
			}
			if slices.Contains(n.Versions[:slot], id) {
				return invalid("name different versions", "match: version %d of %s cannot play against itself", row.Version.Number, row.Name)
			}
			if !m.LadderID.Valid && !plays(row, m.Game) {
				return invalid("choose a bot that does", "match: version %d of %s does not play %s", row.Version.Number, row.Name, m.Game)
			}
			if err := q.AddSlot(ctx, queries.AddSlotParams{MatchID: m.ID, Slot: int64(slot), VersionID: id, BotID: row.Version.BotID}); err != nil {
				return err
			}
		}
		list, err := s.fill(ctx, q, []queries.Match{m})
		if err != nil {
			return err
		}
		out = list[0]
		if out.Rated {
			return nil
		}
		return n.fits(out)
	})
	return out, err
}

// clock returns the clock of a match as text, with the allowance for the wire where a
// remote version plays.
func (s *Store) clock(ctx context.Context, q *queries.Queries, n NewMatch, clock string) (string, error) {
	for _, id := range n.Versions {
		row, err := q.VersionByID(ctx, id)
		if err = none(err, nil); err != nil {
			return "", err
		}
		if row.Version.Remote == 0 {
			continue
		}
		var c referee.Clock
		if err := parse("a clock", clock, &c); err != nil {
			return "", err
		}
		c.Margin += n.Allowance
		return text(c), nil
	}
	return clock, nil
}

// fits refuses an unrated match that takes more time or memory than it may.
func (n *NewMatch) fits(m ladder.Match) error {
	v, err := m.Variant()
	if err != nil {
		return err
	}
	if n.Time > 0 {
		if err := ladder.CheckTime(v, m.Clock, len(m.Versions), m.Deals, n.Time); err != nil {
			return err
		}
	}
	return n.Room.Check("match", v, m.House())
}

func (s *Store) newMatch(ctx context.Context, q *queries.Queries, n NewMatch) (p queries.AddMatchParams, err error) {
	if n.Ladder == "" {
		return s.newUnrated(ctx, q, n)
	}
	l, err := s.ladder(ctx, q, n.Ladder)
	if err != nil {
		return p, err
	}
	switch {
	case l.Active == 0:
		return p, conflict("", "ladder %q is not played any more", n.Ladder)
	case n.AskedBy != 0:
		return p, invalid("request an unrated one", "match: rated matches cannot be requested")
	case len(n.Versions) != int(l.Slots):
		return p, invalid("", "match: %d versions cannot play on ladder %q, which takes %d", len(n.Versions), n.Ladder, l.Slots)
	}
	return queries.AddMatchParams{LadderID: nullID(l.ID), Game: l.Game, Options: l.Options, Clock: l.Clock, Deals: l.Deals}, nil
}

// maxUnratedDeals keeps what a person can ask for small.
const maxUnratedDeals = 100

func (s *Store) newUnrated(ctx context.Context, q *queries.Queries, n NewMatch) (p queries.AddMatchParams, err error) {
	g, err := games.Find(n.Game)
	if err != nil {
		return p, invalid("", "match: %w", err)
	}
	v, err := rules.Resolve(g, n.Options)
	if err != nil {
		return p, invalid("", "match: %w", err)
	}
	if _, err := ladder.SlotSides(v, len(n.Versions)); err != nil {
		return p, invalid("", "match: %w", err)
	}
	if err := referee.Clock(n.Clock).Check(); err != nil {
		return p, invalid("", "match: %w", err)
	}
	if n.Deals < 1 || n.Deals > maxUnratedDeals {
		return p, invalid(fmt.Sprintf("try 1 to %d", maxUnratedDeals), "match: deals cannot be %d", n.Deals)
	}
	if n.Open > 0 && n.AskedBy != 0 {
		open, err := q.CountAsked(ctx, nullID(n.AskedBy))
		if err != nil {
			return p, err
		}
		if open >= int64(n.Open) {
			return p, conflict("wait until one is over, or cancel one: timba matches cancel ID", "%d unrated matches at a time are the limit", n.Open)
		}
	}
	return queries.AddMatchParams{Game: n.Game, Options: text(v.Settings().Map()), Clock: text(n.Clock), Deals: int64(n.Deals), AskedBy: nullID(n.AskedBy)}, nil
}

// player finds a version that may be in a match of a ladder, 0 for an unrated one.
func (s *Store) player(ctx context.Context, q *queries.Queries, ladderID, id int64) (queries.VersionByIDRow, error) {
	row, err := q.VersionByID(ctx, id)
	if err != nil {
		return row, none(err, noVersion(id))
	}
	if ladderID == 0 {
		if b, err := q.Bot(ctx, row.Version.BotID); err != nil || b.Withdrawn.Valid {
			return row, cmp.Or(err, error(conflict("choose another bot", "match: bot %q is withdrawn by its owner", row.Name)))
		}
		switch ladder.State(row.Version.State) {
		case ladder.Live, ladder.Resting, ladder.Benched:
			return row, nil
		}
		return row, conflict("choose one that is live, resting or benched", "match: version %d of %s is %s", row.Version.Number, row.Name, row.Version.State)
	}
	e, err := q.Entry(ctx, ladderID, id)
	if err = none(err, nil); err != nil {
		return row, err
	}
	if e.Active == 0 {
		return row, conflict("", "match: version %d of %s does not play on that ladder", row.Version.Number, row.Name)
	}
	return row, nil
}

func plays(row queries.VersionByIDRow, game string) bool {
	v, err := version(row)
	return err == nil && v.Plays(game)
}

// maxFailures is how often a match is begun that the referee fails at.
const maxFailures = 3

// BeginAttempt starts a match that waits. The commitment is public from now on,
// the seed when the attempt is over.
func (s *Store) BeginAttempt(ctx context.Context, matchID int64, commitment, seed referee.Hex) (out ladder.Attempt, err error) {
	if want := referee.Commitment(rules.Seed(seed)); commitment != want {
		return out, invalid("", "match %d: the commitment is not the seed's", matchID)
	}
	err = s.update(ctx, func(q *queries.Queries) error {
		m, err := s.matchIn(ctx, q, matchID, ladder.Waiting)
		if err != nil {
			return err
		}
		last, err := q.LastAttempt(ctx, m.ID)
		if err = none(err, nil); err != nil {
			return err
		}
		now := stamp(s.now())
		row := queries.AddAttemptParams{MatchID: m.ID, Number: last.Number + 1, Commitment: commitment[:], Seed: seed[:], Began: now}
		if err := q.AddAttempt(ctx, row); err != nil {
			return err
		}
		out = ladder.Attempt{Number: int(row.Number), Commitment: commitment, Began: moment(now)}
		return q.BeginMatch(ctx, nullStamp(s.now()), m.ID)
	})
	return out, err
}

// matchIn finds a match in some state; in any other it is too late, or too early.
func (s *Store) matchIn(ctx context.Context, q *queries.Queries, id int64, state ladder.MatchState) (queries.Match, error) {
	m, err := q.Match(ctx, id)
	if err != nil {
		return m, none(err, noMatch(id))
	}
	if m.State != string(state) {
		return m, conflict("", "match %d is %s, not %s", id, m.State, state)
	}
	return m, nil
}

func noMatch(id int64) error { return notFound("", "match %d does not exist", id) }

// Break ends the attempt at a running match; its seed is public then, and the
// match waits again. failed says that the referee failed, which is the end of the
// match at the third time; a stop of the server is not. Dropped tells that it was
// given up, for that or for a version that no longer plays.
func (s *Store) Break(ctx context.Context, matchID int64, reason string, failed bool) (dropped bool, err error) {
	err = s.update(ctx, func(q *queries.Queries) error {
		m, err := s.matchIn(ctx, q, matchID, ladder.Running)
		if err != nil {
			return err
		}
		if err := s.breakOff(ctx, q, m, reason, failed); err != nil {
			return err
		}
		if m, err = q.Match(ctx, matchID); err != nil {
			return err
		}
		dropped = m.State == string(ladder.Dropped)
		return nil
	})
	return dropped && err == nil, err
}

func (s *Store) breakOff(ctx context.Context, q *queries.Queries, m queries.Match, reason string, failed bool) error {
	if err := s.endAttempt(ctx, q, m, reason, failed); err != nil {
		return err
	}
	failures, err := q.CountFailed(ctx, m.ID)
	if err != nil {
		return err
	}
	if failures >= maxFailures {
		return q.DropMatch(ctx, reason, nullStamp(s.now()), m.ID)
	}
	if err := q.WaitAgain(ctx, m.ID); err != nil {
		return err
	}
	return s.dropIdle(ctx, q)
}

// endAttempt ends the attempt that runs.
func (s *Store) endAttempt(ctx context.Context, q *queries.Queries, m queries.Match, reason string, failed bool) error {
	last, err := q.LastAttempt(ctx, m.ID)
	if err != nil {
		return err
	}
	return q.EndAttempt(ctx, queries.EndAttemptParams{Ended: nullStamp(s.now()), Reason: reason, Failed: oneIf(failed), MatchID: m.ID, Number: last.Number})
}

// ReleaseRunning interrupts every match that is marked as running, when a server
// starts: nobody plays them. They wait again, with a new seed to come.
func (s *Store) ReleaseRunning(ctx context.Context) (n int, err error) {
	err = s.update(ctx, func(q *queries.Queries) error {
		rows, err := q.OldestIn(ctx, string(ladder.Running), noLimit)
		if err != nil {
			return err
		}
		for _, m := range rows {
			if err := s.breakOff(ctx, q, m, "the server stopped", false); err != nil {
				return err
			}
		}
		n = len(rows)
		return nil
	})
	return n, err
}
