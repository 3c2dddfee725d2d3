// Package service performs what people may ask of a competition, for the API and the site. A method takes the
// Actor who asks, returns an error of package ladder if the actor may not do it, and wakes the runner if there
// is something new to play. What everybody may read is read directly from the store.
package service

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store"
)

// Options are the dependencies of a Service. Store and Config are required.
type Options struct {
	Store  *store.Store
	Config *config.Config
	// Wake is called after a submission or a match was added or changed, so that the runner looks for work. It may
	// be nil.
	Wake func()
	// Memory is the memory for the bots that play at the same time. A requested match that needs more is refused.
	Memory ladder.MemoryBudget
	// IsAway reports whether a remote version (on its owner's machine) has been disconnected for longer than a match
	// waits for it. If IsAway is nil, no version is away.
	IsAway func(version int64) bool
	Now    func() time.Time // if nil, the system clock is used
}

// Service performs requests of people. Its methods are safe for concurrent use.
type Service struct {
	Options

	// Tests may replace the following fields.

	Events EventSource
	Unpack func(file, into string, l bundle.Limits) (bundle.Tree, error)
}

// EventSource sends the events of a competition to subscribers, as events.Bus does.
type EventSource interface {
	Subscribe(n int, filter func(events.Event) bool) (<-chan events.Event, func())
}

// New returns a Service with the options o.
func New(o Options) *Service {
	if o.Wake == nil {
		o.Wake = func() {}
	}
	if o.IsAway == nil {
		o.IsAway = func(int64) bool { return false }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Service{o, o.Store.Events(), bundle.Unpack}
}

// Actor is the sender of a request: a person with a token, a guest (who has no account) with a session, or
// somebody unknown. A person in a browser has a session that was started with a token.
type Actor struct {
	Person  ladder.Person // zero for a guest or nobody
	Token   ladder.Token  // token of the person with which the request or the session is authorized
	Session int64         // ID of the browser session; 0 if there is none
	Address netip.Addr    // from which the request comes
}

// IsSame reports whether a and b are the same person or have the same session. A guest who signs in keeps the
// session.
func (a Actor) IsSame(b Actor) bool {
	return a.Person.ID != 0 && a.Person.ID == b.Person.ID || a.Session != 0 && a.Session == b.Session
}

// scopes is ordered: each scope includes those before it.
var scopes = []ladder.Scope{ladder.ScopeRead, ladder.ScopeSubmit, ladder.ScopeAll}

// HasScope reports whether the actor's token includes the rights of a scope.
func (a Actor) HasScope(scope ladder.Scope) bool {
	return slices.Index(scopes, a.Token.Scope) >= slices.Index(scopes, scope)
}

// CheckScope returns an error unless the actor's token includes the rights of a scope. what is the beginning of the
// error message, such as "to list tokens".
func (a Actor) CheckScope(scope ladder.Scope, what string) error {
	switch {
	case a.Person.ID == 0:
		return ladder.Errorf(ladder.Unauthorized, ladder.HintSendToken, "%s needs a token of scope %q", what, scope)
	case !a.HasScope(scope):
		return ladder.Errorf(ladder.Forbidden, "", "%s needs the scope %q, this token has %q", what, scope, a.Token.Scope).Try("use a token of scope %s", scope)
	}
	return nil
}

// IsAdmin reports whether the actor is an admin with a token of scope ScopeAll.
func (a Actor) IsAdmin() bool { return a.Person.Admin && a.Token.Scope == ladder.ScopeAll }

// CheckAdmin returns an error unless the actor is an admin with a token of scope ScopeAll. what is the beginning of
// the error message, such as "to list people".
func (a Actor) CheckAdmin(what string) error {
	if err := a.CheckScope(ladder.ScopeAll, what); err != nil || a.Person.Admin {
		return err
	}
	return ladder.Errorf(ladder.Forbidden, "use the token of an admin", "%s is for admins", what)
}

// Owns reports whether the actor may act as the owner of something that belongs to the person with the ID owner.
// Only that person and admins may. For a house bot (part of timba) owner is 0, and only admins may act as its owner.
func (a Actor) Owns(owner int64) bool {
	return a.Token.ID != 0 && (a.Person.ID == owner && owner != 0 || a.IsAdmin())
}

// CheckOwner returns an error unless Owns(owner) is true. what names the action for the error message, which is "only
// the owner may" followed by what.
func (a Actor) CheckOwner(owner int64, what string) error {
	if a.Owns(owner) {
		return nil
	}
	return ladder.Errorf(ladder.Forbidden, "", "only the owner may %s", what)
}

// checkChange returns an error unless the actor may change something that belongs to the person with the ID owner.
// The actor must be that person or an admin, and needs a token of scope ScopeSubmit. what names the action for the
// error message, such as "withdraw a bot".
func (a Actor) checkChange(owner int64, what string) error {
	if err := a.CheckScope(ladder.ScopeSubmit, "to "+what); err != nil {
		return err
	}
	return a.CheckOwner(owner, what)
}

// TokenActor returns the Actor for a token: the owner of the token with the given text. It returns an error if the
// token is not valid.
func (s *Service) TokenActor(ctx context.Context, token string) (a Actor, err error) {
	a.Person, a.Token, err = s.Store.Sessions.Authenticate(ctx, token)
	return a, err
}
