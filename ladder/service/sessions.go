package service

import (
	"context"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
)

// SessionActor returns the Actor for a session: the person or guest whose session has the given key. It returns an
// error if the session has ended.
func (s *Service) SessionActor(ctx context.Context, key string) (a Actor, err error) {
	x, p, t, err := s.Store.Sessions.Find(ctx, key)
	return Actor{Person: p, Token: t, Session: x.ID}, err
}

// AwaitAccessEnd waits until the actor's session has ended or the actor's token is no longer valid, and returns an
// error with the reason. If over is closed first, it returns nil.
func (s *Service) AwaitAccessEnd(a Actor, over <-chan struct{}) error {
	news, stop := s.Events.Subscribe(1, func(e events.Event) bool {
		return e.Kind == events.AccessEnded && (e.Person == a.Person.ID || a.Person.ID == 0) // a guest may have signed in
	})
	defer stop()
	for {
		until, err := s.Store.Sessions.AccessUntil(context.Background(), a.Session, a.Token.ID)
		var again <-chan time.Time
		switch code := ladder.CodeOf(err); {
		case code == ladder.Unauthorized || code == ladder.Forbidden:
			return err
		case err != nil: // the store cannot answer now, so try again
			again = time.After(time.Second)
		case !until.IsZero():
			again = time.After(max(until.Sub(s.Now()), time.Second))
		}
		select {
		case _, more := <-news:
			if !more { // the server stops
				news = nil
			}
		case <-again:
		case <-over:
			return nil
		}
	}
}

// SignIn starts a session for the owner of the token with the text token and returns the session's key. from is the
// sender of the request. If from is a guest, the guest's session is continued as the new session, with the new key.
// If from is a person who is signed in, that person's session ends.
func (s *Service) SignIn(ctx context.Context, token string, from Actor) (key string, err error) {
	return s.signIn(ctx, from, func(guest int64) (string, error) { return s.Store.Sessions.SignIn(ctx, token, guest) })
}

// signIn calls start to start a session, and returns the key of the session. The argument from is the one who signs
// in. If from is a guest, start gets the ID of the guest's session, otherwise 0. If from is a person who is signed
// in, that person's session ends.
func (s *Service) signIn(ctx context.Context, from Actor, start func(guest int64) (string, error)) (key string, err error) {
	if from.Person.ID == 0 {
		return start(from.Session)
	}
	if key, err = start(0); err != nil {
		return "", err
	}
	if err = s.EndSession(ctx, from, from.Session); ladder.CodeOf(err) == ladder.NotFound { // it has ended in the meantime
		err = nil
	}
	return key, err
}

// Sessions returns the actor's sessions, the most recently used first.
func (s *Service) Sessions(ctx context.Context, a Actor) ([]ladder.Session, error) {
	if err := a.CheckScope(ladder.ScopeRead, "to list sessions"); err != nil {
		return nil, err
	}
	return s.Store.Sessions.List(ctx, a.Person.ID)
}

// EndSession ends a session of the actor. The actor needs the scope ScopeAll. To end the session that the request
// itself uses, ScopeRead suffices.
func (s *Service) EndSession(ctx context.Context, a Actor, id int64) error {
	scope := ladder.ScopeAll
	if id == a.Session {
		scope = ladder.ScopeRead
	}
	if err := a.CheckScope(scope, "to end a session"); err != nil {
		return err
	}
	return s.Store.Sessions.End(ctx, a.Person.ID, id)
}

// EndOtherSessions ends all sessions of the actor except the one in which the actor makes the request.
func (s *Service) EndOtherSessions(ctx context.Context, a Actor) error {
	if err := a.CheckScope(ladder.ScopeAll, "to end a session"); err != nil {
		return err
	}
	return s.Store.Sessions.EndOthers(ctx, a.Person.ID, a.Session)
}
