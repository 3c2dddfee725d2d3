package store

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store/queries"
)

const sessionPrefix = "session_"

// SessionTime is how long a session lasts. The session of a token that expires earlier ends with it.
const SessionTime = 30 * 24 * time.Hour

// Limits on the number of sessions. Above a limit, the sessions that were used longest ago end.
const (
	MaxSessions = 20     // per person
	MaxGuests   = 10_000 // of all guests together
)

// SignIn starts a session for the owner of the token with the text token, and returns the key of the session. The
// text may also be that of a link to sign in, which can be used only once. Only a hash of the key is stored. If guest
// is not 0, it is the ID of a guest's session. This session then becomes the person's session and gets the new key.
func (s Sessions) SignIn(ctx context.Context, token string, guest int64) (key string, err error) {
	isLink := strings.HasPrefix(token, linkPrefix)
	if isLink {
		_, _, err = s.read.link(ctx, token, s.options.Now())
	} else {
		_, _, err = s.Authenticate(ctx, token)
	}
	if err != nil {
		return "", machineError(err)
	}
	err = s.update(ctx, func(tx *Tx) error {
		find := tx.authenticate // again, because it may have been revoked meanwhile
		if isLink {
			find = tx.link
		}
		p, t, err := find(ctx, token, tx.now)
		if err != nil {
			return err
		}
		expires := tx.now.Add(SessionTime)
		if isLink {
			if _, err := tx.UseLink(ctx, nullStamp(tx.now), nullStamp(expires), t.ID); err != nil {
				return err
			}
		} else if !t.ExpiresAt.IsZero() && t.ExpiresAt.Before(expires) {
			expires = t.ExpiresAt
		}
		key, _, err = tx.setSession(ctx, queries.SetSessionParams{
			ID: nullID(guest), PersonID: nullID(p.ID), TokenID: nullID(t.ID), Expires: stamp(expires),
		}, MaxSessions)
		return err
	})
	return key, err
}

func (tx *Tx) addGuest(ctx context.Context) (key string, id int64, err error) {
	return tx.setSession(ctx, queries.SetSessionParams{Expires: stamp(tx.now.Add(SessionTime))}, MaxGuests)
}

// sessionUses has the times of last use of some sessions that are not stored yet. Such a time is less than
// useInterval after the stored one.
type sessionUses struct {
	mu   sync.Mutex
	last map[int64]time.Time // by the ID of the session
}

func (u *sessionUses) add(session int64, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last = map[int64]time.Time{}
	}
	u.last[session] = at
}

// take returns the times in u, by session ID, and removes them from u.
func (u *sessionUses) take() map[int64]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	last := u.last
	u.last = nil
	return last
}

// setSession stores the session p with a new key, and returns the key and the session's ID. It ends sessions that
// have expired. It also ends the least recently used sessions of the person (or of all guests together) if there are
// more than limit. Before that, it stores the uses in tx.uses.
func (tx *Tx) setSession(ctx context.Context, p queries.SetSessionParams, limit int64) (key string, id int64, err error) {
	k := newKey(sessionPrefix)
	p.Public, p.Hash, p.Now = k.public, k.hash[:], stamp(tx.now)
	if err := tx.ExpireSessions(ctx, p.Now); err != nil {
		return "", 0, err
	}
	for session, used := range tx.uses.take() {
		if err := tx.UseSession(ctx, stamp(used), session); err != nil {
			return "", 0, err
		}
	}
	if id, err = tx.SetSession(ctx, p); err != nil {
		return "", 0, err
	}
	ended, err := tx.LimitSessions(ctx, p.PersonID, limit)
	if ended > 0 {
		tx.addEvent(events.Event{Kind: events.AccessEnded, Person: p.PersonID.Int64})
	}
	return k.text, id, err
}

// Find returns the session x with the given key, its person p, and the token t used to sign in. For a guest, p
// and t are zero. If the session has ended, it returns an error. It also records the use of the session.
func (s Sessions) Find(ctx context.Context, key string) (x ladder.Session, p ladder.Person, t ladder.Token, err error) {
	k, ok := parseKey(sessionPrefix, key)
	if !ok {
		return x, p, t, sessionEndedError()
	}
	row, err := s.read.SessionByPublic(ctx, k.public)
	if err != nil {
		return x, p, t, machineError(ifNoRows(err, sessionEndedError()))
	}
	now := s.options.Now()
	if !k.hasHash(row.Hash) || row.Expires <= stamp(now) {
		return x, p, t, sessionEndedError()
	}
	if row.TokenID.Valid {
		by, err := s.read.Token(ctx, row.TokenID.Int64)
		if err != nil {
			return x, p, t, machineError(err)
		}
		p, t = person(by.Person), token(by.Token)
	}
	x = session(row)
	if now.Sub(x.UsedAt) < useInterval {
		s.uses.add(x.ID, now)
	} else if !s.options.ReadOnly { // not essential, so an error is ignored
		err := s.update(ctx, func(tx *Tx) error {
			if err := tx.UseToken(ctx, nullStamp(now), t.ID); err != nil {
				return err
			}
			return tx.UseSession(ctx, stamp(now), x.ID)
		})
		if err == nil {
			x.UsedAt = now
		}
	}
	return x, p, t, nil
}

func sessionEndedError() error {
	return ladder.Errorf(ladder.Unauthorized, "sign in again", "the session has ended")
}

// AccessUntil returns when the session with the ID session expires or, if session is 0, when the token with the ID
// tokenID expires. The zero time means that the token does not expire. If the session or token is not valid now, it
// returns an error.
func (s Sessions) AccessUntil(ctx context.Context, session, tokenID int64) (until time.Time, err error) {
	now := s.options.Now()
	if session == 0 {
		row, err := s.read.Token(ctx, tokenID)
		if err != nil {
			return until, machineError(err)
		}
		t := token(row.Token)
		return t.ExpiresAt, checkToken(person(row.Person), t, now)
	}
	row, err := s.read.Session(ctx, session)
	if err != nil {
		return until, machineError(ifNoRows(err, sessionEndedError()))
	}
	if until = moment(row.Expires); !until.After(now) {
		return until, sessionEndedError()
	}
	return until, nil
}

func session(r queries.Session) ladder.Session {
	return ladder.Session{ID: r.ID, Token: r.TokenID.Int64, CreatedAt: moment(r.Created), UsedAt: moment(r.Used), ExpiresAt: moment(r.Expires)}
}

// List returns the sessions of a person, the most recently used first.
func (s Sessions) List(ctx context.Context, personID int64) (list []ladder.Session, err error) {
	rows, err := s.read.SessionsOf(ctx, nullID(personID), stamp(s.options.Now()))
	return convertRows(rows, session), machineError(err)
}

// End ends a session of a person.
func (s Sessions) End(ctx context.Context, personID, id int64) error {
	return s.update(ctx, func(tx *Tx) error {
		n, err := tx.EndSession(ctx, id, nullID(personID))
		if err == nil && n == 0 {
			return notFound("it may have ended", "session %d does not exist", id)
		}
		tx.addEvent(events.Event{Kind: events.AccessEnded, Person: personID})
		return err
	})
}

// EndOthers ends all sessions of a person, except the session with the ID exceptID. If exceptID is 0, it ends all of
// them.
func (s Sessions) EndOthers(ctx context.Context, personID, exceptID int64) error {
	return s.update(ctx, func(tx *Tx) error {
		tx.addEvent(events.Event{Kind: events.AccessEnded, Person: personID})
		return tx.EndSessionsOf(ctx, nullID(personID), exceptID)
	})
}
