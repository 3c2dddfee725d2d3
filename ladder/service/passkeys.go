package service

import (
	"context"

	"github.com/timba-arena/timba/ladder"
)

// CheckPasskey returns an error unless the actor may add a passkey, which needs the scope ScopeAll.
func (s *Service) CheckPasskey(a Actor) error {
	return a.CheckScope(ladder.ScopeAll, "to add a passkey")
}

// AddPasskey adds a passkey, with which the actor can sign in. credential is the passkey's ID, data a JSON document
// that has its public key, and label a note for the actor.
func (s *Service) AddPasskey(ctx context.Context, a Actor, label string, credential, data []byte) error {
	if err := s.CheckPasskey(a); err != nil {
		return err
	}
	return s.Store.Sessions.AddPasskey(ctx, a.Person.ID, label, credential, data)
}

// SignInByPasskey is like SignIn, but for the owner of the passkey with the given credential ID. The caller must have
// checked the signature. data replaces the passkey's JSON document, because it has a new count of uses.
func (s *Service) SignInByPasskey(ctx context.Context, credential, data []byte, from Actor) (key string, err error) {
	return s.signIn(ctx, from, func(guest int64) (string, error) {
		return s.Store.Sessions.SignInByPasskey(ctx, credential, data, guest)
	})
}
