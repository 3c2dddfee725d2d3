package service

import (
	"context"

	"github.com/timba-arena/timba/ladder"
)

// CheckPasskey returns an error unless the actor may add a passkey, which needs the scope ScopeAll.
func (s *Service) CheckPasskey(a Actor) error {
	return a.CheckScope(ladder.ScopeAll, "to add a passkey")
}

// AddPasskey adds a passkey, so that the actor can sign in with it. credential is the ID of the passkey. data is a
// JSON document with its public key. label is a note for the actor.
func (s *Service) AddPasskey(ctx context.Context, a Actor, label string, credential, data []byte) error {
	if err := s.CheckPasskey(a); err != nil {
		return err
	}
	return s.Store.Sessions.AddPasskey(ctx, a.Person.ID, label, credential, data)
}

// SignInByPasskey is like SignIn, but signs in the owner of the passkey whose ID is credential. The caller must have
// checked the passkey's signature. data replaces the JSON document of the passkey, because the count of uses in it
// has changed.
func (s *Service) SignInByPasskey(ctx context.Context, credential, data []byte, from Actor) (key string, err error) {
	return s.signIn(ctx, from, func(guest int64) (string, error) {
		return s.Store.Sessions.SignInByPasskey(ctx, credential, data, guest)
	})
}
