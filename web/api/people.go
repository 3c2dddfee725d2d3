package api

import (
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/wire"
)

// PersonDoc returns the document of a person.
func PersonDoc(p ladder.Person) wire.Person {
	return wire.Person{Name: p.Name, Admin: p.Admin, Created: p.Created, Blocked: p.Blocked}
}

func tokenDoc(t ladder.Token) wire.Token {
	return wire.Token{
		ID: t.ID, Label: t.Label, Scope: string(t.Scope), Created: t.Created,
		Used: t.Used, Expires: t.Expires, Revoked: t.Revoked,
	}
}

// postPerson adds a person.
func (a *API) postPerson(w http.ResponseWriter, r *http.Request) error {
	if err := a.Middleware.Joining.Take(w, middleware.Of(r).Address); err != nil {
		return err
	}
	return take(http.StatusCreated, func(r *http.Request, asked wire.Registration) (wire.Registered, error) {
		p, key, err := a.Service.Register(r.Context(), asked.Invite, asked.Name)
		return wire.Registered{Person: PersonDoc(p), Key: key}, err
	})(w, r)
}

func (a *API) getMe(r *http.Request) (wire.Me, error) {
	in := middleware.Of(r)
	return wire.Me{Person: PersonDoc(in.Person), Token: tokenDoc(in.Token)}, nil
}

func (a *API) getMyBots(r *http.Request) (page wire.Page[wire.Bot], err error) {
	q := middleware.NewQuery(r)
	after, limit := q.CursorID("cursor", "bot"), q.Limit()
	if err := q.Done(); err != nil {
		return page, err
	}
	found, err := a.Store.Bots.ListOwn(r.Context(), middleware.Of(r).Person.ID, after, limit+1)
	if err != nil {
		return page, err
	}
	return a.botPage(r, found, limit)
}

// getMessages returns the messages after a cursor, and always the next cursor.
func (a *API) getMessages(r *http.Request) (page wire.Page[wire.Message], err error) {
	q := middleware.NewQuery(r)
	after, limit := q.CursorID("cursor", "message"), q.Limit()
	if err := q.Done(); err != nil {
		return page, err
	}
	list, err := a.Store.People.Messages(r.Context(), middleware.Of(r).Person.ID, after, limit)
	page.Items = []wire.Message{}
	for _, m := range list {
		after = m.ID
		page.Items = append(page.Items, wire.Message{ID: m.ID, Text: m.Text().String(), Created: m.Created, Seen: m.Seen})
	}
	if after > 0 {
		page.Next = middleware.CursorOf("message", after)
	}
	return page, err
}

func (a *API) putSeen(w http.ResponseWriter, r *http.Request) error {
	var seen wire.SeenMessages
	if err := decode(w, r, &seen); err != nil {
		return err
	}
	return done(w, a.Store.People.SetSeen(r.Context(), middleware.Of(r).Person.ID, seen.First, seen.Last))
}

func (a *API) deleteMyToken(w http.ResponseWriter, r *http.Request) error {
	by := middleware.Of(r).Actor
	return done(w, a.Service.RevokeToken(r.Context(), by, by.Token.ID))
}

func (a *API) getTokens(r *http.Request) (wire.Page[wire.Token], error) {
	all, err := a.Service.Tokens(r.Context(), middleware.Of(r).Actor)
	return wire.Page[wire.Token]{Items: Docs(all, tokenDoc)}, err
}

func (a *API) postToken(r *http.Request, asked wire.NewToken) (wire.MadeToken, error) {
	key, t, err := a.Service.AddToken(r.Context(), middleware.Of(r).Actor, asked.Label, ladder.Scope(asked.Scope), asked.Expires)
	return wire.MadeToken{Token: tokenDoc(t), Key: key}, err
}

// InviteDoc returns the document of an invite.
func InviteDoc(i ladder.Invite) wire.Invite {
	return wire.Invite{ID: i.ID, Name: i.Name, By: i.From, Created: i.Created, Expires: i.Expires}
}

func (a *API) postInvite(r *http.Request, asked wire.NewInvite) (wire.MadeInvite, error) {
	code, invite, err := a.Service.AddInvite(r.Context(), middleware.Of(r).Actor, asked.Name, asked.Expires)
	return wire.MadeInvite{Invite: InviteDoc(invite), Code: code}, err
}

// setBlocked blocks or unblocks the person that the path names.
func (a *API) setBlocked(out bool) handler {
	return answer(func(r *http.Request) (wire.Person, error) {
		p, err := a.Service.Block(r.Context(), middleware.Of(r).Actor, r.PathValue("person"), out)
		return PersonDoc(p), err
	})
}
