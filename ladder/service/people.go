package service

import (
	"context"
	"time"

	"github.com/timba-arena/timba/ladder"
)

// Register opens an account called name. code is the code of an invite; it may be empty if the configuration allows
// open registration. token is the text of a new token with all rights. The store has only a hash of it.
func (s *Service) Register(ctx context.Context, code, name string) (p ladder.Person, token string, err error) {
	return s.Store.People.Register(ctx, code, name, s.Config.HasOpenRegistration())
}

// Tokens returns the actor's tokens, including revoked ones.
func (s *Service) Tokens(ctx context.Context, a Actor) ([]ladder.Token, error) {
	if err := a.CheckScope(ladder.ScopeAll, "to list tokens"); err != nil {
		return nil, err
	}
	return s.Store.Sessions.Tokens(ctx, a.Person.ID)
}

// AddToken creates a token for the actor and returns its text. The store has only a hash of the text. label is a note
// for the owner. If expires is zero, the token does not expire.
func (s *Service) AddToken(ctx context.Context, a Actor, label string, scope ladder.Scope, expires time.Time) (text string, t ladder.Token, err error) {
	if err := a.CheckScope(ladder.ScopeAll, "to make a token"); err != nil {
		return "", t, err
	}
	return s.Store.Sessions.AddToken(ctx, a.Person.ID, label, scope, expires)
}

// RevokeToken revokes a token of the actor. The actor needs the scope ScopeAll. To revoke the token that the request
// itself uses, ScopeRead suffices.
func (s *Service) RevokeToken(ctx context.Context, a Actor, id int64) error {
	scope := ladder.ScopeAll
	if id == a.Token.ID {
		scope = ladder.ScopeRead
	}
	if err := a.CheckScope(scope, "to revoke a token"); err != nil {
		return err
	}
	return s.Store.Sessions.RevokeToken(ctx, a.Person.ID, id)
}

// Invites returns the invites that can still be used. Only admins may call it.
func (s *Service) Invites(ctx context.Context, a Actor) ([]ladder.Invite, error) {
	if err := a.CheckAdmin("to list invites"); err != nil {
		return nil, err
	}
	return s.Store.People.Invites(ctx)
}

// AddInvite creates an invite and returns its code. One account can be opened with the code, of which the store has
// only a hash. If name is not empty, the account must have that name. If expires is zero, the invite does not expire.
// Only admins may call AddInvite.
func (s *Service) AddInvite(ctx context.Context, a Actor, name string, expires time.Time) (code string, i ladder.Invite, err error) {
	if err := a.CheckAdmin("to make an invite"); err != nil {
		return "", i, err
	}
	if !expires.IsZero() && !expires.After(s.Now()) {
		return "", i, ladder.Errorf(ladder.Invalid, "choose a time in the future", "an invite cannot expire at %s", expires.UTC().Format("2006-01-02T15:04:05Z"))
	}
	code, i, err = s.Store.People.AddInvite(ctx, a.Person.ID, name, expires)
	i.Issuer = a.Person.Name
	return code, i, err
}

// RevokeInvite deletes an invite that nobody has used. Only admins may call it.
func (s *Service) RevokeInvite(ctx context.Context, a Actor, id int64) error {
	if err := a.CheckAdmin("to revoke an invite"); err != nil {
		return err
	}
	return s.Store.People.RevokeInvite(ctx, id)
}

// People returns all people in the order in which they joined. Only admins may call it.
func (s *Service) People(ctx context.Context, a Actor) ([]ladder.Person, error) {
	if err := a.CheckAdmin("to list people"); err != nil {
		return nil, err
	}
	return s.Store.People.List(ctx)
}

// SetBlocked blocks the person called name, or unblocks the person if blocked is false. Only admins may call it.
func (s *Service) SetBlocked(ctx context.Context, a Actor, name string, blocked bool) (p ladder.Person, err error) {
	if err := a.CheckAdmin("to block people"); err != nil {
		return p, err
	}
	if p, err = s.Store.People.FindByName(ctx, name); err != nil {
		return p, err
	}
	if blocked && p.ID == a.Person.ID {
		return p, ladder.Errorf(ladder.Conflict, "ask another admin", "you cannot block %q, which is your own account", p.Name)
	}
	if err := s.Store.People.SetBlocked(ctx, p.ID, blocked); err != nil {
		return p, err
	}
	s.Wake() // what they have going on has ended
	return s.Store.People.Find(ctx, p.ID)
}

// RemovePerson removes the person called name forever, as store.People.Remove does, and returns the person, who has a
// new name then. Only admins may call it.
func (s *Service) RemovePerson(ctx context.Context, a Actor, name string) (p ladder.Person, err error) {
	if err := a.CheckAdmin("to remove people"); err != nil {
		return p, err
	}
	if p, err = s.Store.People.FindByName(ctx, name); err != nil {
		return p, err
	}
	if err := s.Store.People.Remove(ctx, p.ID); err != nil {
		return p, err
	}
	s.Wake() // what they have going on has ended
	return s.Store.People.Find(ctx, p.ID)
}

// SetAnnouncement replaces the announcement that all pages show; an empty text removes it. Only admins may call it.
func (s *Service) SetAnnouncement(ctx context.Context, a Actor, text string) error {
	if err := a.CheckAdmin("to announce something"); err != nil {
		return err
	}
	return s.Store.People.SetAnnouncement(ctx, text)
}

// AddLink creates a link for the person called name, for example because the person has lost all tokens. The person
// can sign in with it once, before the time expires. text is the secret part of the link; the store has only a hash
// of it. Only admins may call AddLink.
func (s *Service) AddLink(ctx context.Context, a Actor, name string) (text string, expires time.Time, err error) {
	if err := a.CheckAdmin("to make a link to sign in"); err != nil {
		return "", expires, err
	}
	p, err := s.Store.People.FindByName(ctx, name)
	if err != nil {
		return "", expires, err
	}
	return s.Store.Sessions.AddLink(ctx, p.ID, "link of "+a.Person.Name)
}

// ResetTokens helps a person who has lost all tokens: it revokes the person's tokens, ends the person's sessions, and
// returns the text of a new token. The store has only a hash of the text. Only admins may call it, and not for
// themselves.
func (s *Service) ResetTokens(ctx context.Context, a Actor, name string) (text string, err error) {
	if err := a.CheckAdmin("to reset a token"); err != nil {
		return "", err
	}
	p, err := s.Store.People.FindByName(ctx, name)
	if err != nil {
		return "", err
	}
	if p.ID == a.Person.ID {
		return "", ladder.Errorf(ladder.Conflict, ladder.HintOwnToken, "you cannot reset the token of %q, which is your own account", p.Name)
	}
	text, err = s.Store.Sessions.ResetTokens(ctx, p.ID, "reset by "+a.Person.Name)
	if err == nil {
		s.Wake() // what they have going on has ended
	}
	return text, err
}
