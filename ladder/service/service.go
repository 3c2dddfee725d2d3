// Package service is what a person may ask of a competition. Who may do what is decided here, once, for the API
// and for the site: a method takes who asks as an Actor, returns an error of package ladder to who may not, and
// wakes the runner if there is something new to play. What anybody may read is in the store.
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

// Options are the parts of a service. Store and Config are required.
type Options struct {
	Store  *store.Store
	Config *config.Config
	// Wake is called when there is something new to do: a submission or a match.
	Wake func()
	// Memory is the memory that asked matches have to fit into.
	Memory ladder.MemoryBudget
	// IsAway reports whether a remote version is away for longer than a match waits for it; nil: none is.
	IsAway func(version int64) bool
	Now    func() time.Time // nil: the system's clock
}

// Service is what people may ask of a competition.
type Service struct {
	Options

	// Tests replace what follows.

	Events EventSource
	Unpack func(file, into string, l bundle.Limits) (bundle.Tree, error)
}

// EventSource tells what happens in the competition: it is the hub of the store.
type EventSource interface {
	Subscribe(n int, wanted func(events.Event) bool) (<-chan events.Event, func())
}

// New returns a service.
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

// Actor is who asks: a person with a token, in a session that a token has begun, or nobody. A guest is
// nobody in a session.
type Actor struct {
	Person  ladder.Person // ID 0: nobody
	Token   ladder.Token  // theirs
	Session int64         // of the site; 0: none
	Address netip.Addr    // they ask from
}

// IsSame reports whether two actors are one: the same person, or the same session, in which a guest may
// have signed in meanwhile.
func (a Actor) IsSame(b Actor) bool {
	return a.Person.ID != 0 && a.Person.ID == b.Person.ID || a.Session != 0 && a.Session == b.Session
}

// scopes are ordered: each includes those before it.
var scopes = []ladder.Scope{ladder.ScopeRead, ladder.ScopeSubmit, ladder.ScopeAll}

// HasScope reports whether the actor's token permits a scope.
func (a Actor) HasScope(scope ladder.Scope) bool {
	return slices.Index(scopes, a.Token.Scope) >= slices.Index(scopes, scope)
}

// CheckScope returns an error unless the actor is somebody whose token permits a scope; what is what needs it.
func (a Actor) CheckScope(scope ladder.Scope, what string) error {
	switch {
	case a.Person.ID == 0:
		return ladder.Errorf(ladder.Unauthorized, ladder.HintSendToken, "%s needs a token of scope %q", what, scope)
	case !a.HasScope(scope):
		return ladder.Errorf(ladder.Forbidden, "", "%s needs the scope %q, this token has %q", what, scope, a.Token.Scope).Try("use a token of scope %s", scope)
	}
	return nil
}

// IsAdmin reports whether the actor has an admin's rights: an admin's token of scope all.
func (a Actor) IsAdmin() bool { return a.Person.Admin && a.Token.Scope == ladder.ScopeAll }

// CheckAdmin returns an error unless the actor has an admin's rights; what is what needs them.
func (a Actor) CheckAdmin(what string) error {
	if err := a.CheckScope(ladder.ScopeAll, what); err != nil || a.Person.Admin {
		return err
	}
	return ladder.Errorf(ladder.Forbidden, "use the token of an admin", "%s is for admins", what)
}

// Owns reports whether the actor owns a thing, or is an admin. The owner 0 of a house bot is nobody.
func (a Actor) Owns(owner int64) bool {
	return a.Token.ID != 0 && (a.Person.ID == owner && owner != 0 || a.IsAdmin())
}

// CheckOwner returns an error unless the actor owns a thing, or is an admin; what is what only the owner may do.
func (a Actor) CheckOwner(owner int64, what string) error {
	if a.Owns(owner) {
		return nil
	}
	return ladder.Errorf(ladder.Forbidden, "", "only the owner may %s", what)
}

// checkChange returns an error unless the actor owns a thing and the token permits to change it.
func (a Actor) checkChange(owner int64, what string) error {
	if err := a.CheckScope(ladder.ScopeSubmit, "to "+what); err != nil {
		return err
	}
	return a.CheckOwner(owner, what)
}

// TokenActor returns who has a token.
func (s *Service) TokenActor(ctx context.Context, token string) (a Actor, err error) {
	a.Person, a.Token, err = s.Store.Sessions.Authenticate(ctx, token)
	return a, err
}
