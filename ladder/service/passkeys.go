package service

import (
	"context"

	"github.com/timba-arena/timba/ladder"
)

// CheckPasskey returns an error unless the actor may add a passkey.
func (s *Service) CheckPasskey(a Actor) error {
	return a.CheckScope(ladder.ScopeAll, "to add a passkey")
}

// AddPasskey adds a passkey, with which the actor can sign in. credential is the ID of its key pair, and data is the
// JSON document with which its signatures are checked. label is a note for the owner.
func (s *Service) AddPasskey(ctx context.Context, a Actor, label string, credential, data []byte) error {
	if err := s.CheckPasskey(a); err != nil {
		return err
	}
	return s.Store.Sessions.AddPasskey(ctx, a.Person.ID, label, credential, data)
}

// SignInByPasskey is SignIn for the person who has the passkey with the given credential ID. The caller has checked the
// signature. data replaces the data of the passkey, which count its uses.
func (s *Service) SignInByPasskey(ctx context.Context, credential, data []byte, from Actor) (key string, err error) {
	return s.signIn(ctx, from, func(guest int64) (string, error) {
		return s.Store.Sessions.SignInByPasskey(ctx, credential, data, guest)
	})
}
