package api

import (
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/parameters"
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

// register adds a person.
func (a *API) register(w http.ResponseWriter, r *http.Request) error {
	if err := a.Middleware.Joining.Take(w, middleware.Of(r).Address); err != nil {
		return err
	}
	var asked wire.Registration
	if err := decode(w, r, &asked); err != nil {
		return err
	}
	p, key, err := a.Service.Register(r.Context(), asked.Invite, asked.Name)
	if err != nil {
		return err
	}
	return respond(w, http.StatusCreated, wire.Registered{Person: PersonDoc(p), Key: key})
}

func (a *API) me(w http.ResponseWriter, r *http.Request) error {
	in := middleware.Of(r)
	return respond(w, http.StatusOK, wire.Me{Person: PersonDoc(in.Person), Token: tokenDoc(in.Token)})
}

func (a *API) myBots(w http.ResponseWriter, r *http.Request) error {
	q := parameters.New(r)
	after, limit := q.CursorID("cursor", "bot"), q.Limit()
	if err := q.Done(); err != nil {
		return err
	}
	found, err := a.Store.OwnBots(r.Context(), middleware.Of(r).Person.ID, after, limit+1)
	if err != nil {
		return err
	}
	return a.respondBots(w, r, found, limit)
}

// messages answers with the messages after a cursor, and always with the next cursor.
func (a *API) messages(w http.ResponseWriter, r *http.Request) error {
	q := parameters.New(r)
	after, limit := q.CursorID("cursor", "message"), q.Limit()
	if err := q.Done(); err != nil {
		return err
	}
	list, err := a.Store.Messages(r.Context(), middleware.Of(r).Person.ID, after, limit)
	if err != nil {
		return err
	}
	page := wire.Page[wire.Message]{Items: []wire.Message{}}
	for _, m := range list {
		after = m.ID
		page.Items = append(page.Items, wire.Message{ID: m.ID, Text: m.Text(), Created: m.Created, Seen: m.Seen})
	}
	if after > 0 {
		page.Next = parameters.CursorOf("message", after)
	}
	return respond(w, http.StatusOK, page)
}

func (a *API) seeMessages(w http.ResponseWriter, r *http.Request) error {
	var seen wire.SeenMessages
	if err := decode(w, r, &seen); err != nil {
		return err
	}
	if err := a.Store.SetSeen(r.Context(), middleware.Of(r).Person.ID, seen.First, seen.Last); err != nil {
		return err
	}
	return done(w)
}

func (a *API) forgetToken(w http.ResponseWriter, r *http.Request) error {
	by := middleware.Of(r).Actor
	if err := a.Service.RevokeToken(r.Context(), by, by.Token.ID); err != nil {
		return err
	}
	return done(w)
}

func (a *API) tokens(w http.ResponseWriter, r *http.Request) error {
	all, err := a.Service.Tokens(r.Context(), middleware.Of(r).Actor)
	if err != nil {
		return err
	}
	return respond(w, http.StatusOK, wire.Page[wire.Token]{Items: Docs(all, tokenDoc)})
}

func (a *API) addToken(w http.ResponseWriter, r *http.Request) error {
	var asked wire.NewToken
	if err := decode(w, r, &asked); err != nil {
		return err
	}
	key, t, err := a.Service.AddToken(r.Context(), middleware.Of(r).Actor, asked.Label, ladder.Scope(asked.Scope), asked.Expires)
	if err != nil {
		return err
	}
	return respond(w, http.StatusCreated, wire.MadeToken{Token: tokenDoc(t), Key: key})
}

// InviteDoc returns the document of an invite.
func InviteDoc(i ladder.Invite) wire.Invite {
	return wire.Invite{ID: i.ID, Name: i.Name, By: i.From, Created: i.Created, Expires: i.Expires}
}

func (a *API) addInvite(w http.ResponseWriter, r *http.Request) error {
	var asked wire.NewInvite
	if err := decode(w, r, &asked); err != nil {
		return err
	}
	code, invite, err := a.Service.AddInvite(r.Context(), middleware.Of(r).Actor, asked.Name, asked.Expires)
	if err != nil {
		return err
	}
	return respond(w, http.StatusCreated, wire.MadeInvite{Invite: InviteDoc(invite), Code: code})
}

// setBlocked blocks or unblocks the person that the path names.
func (a *API) setBlocked(out bool) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		p, err := a.Service.Block(r.Context(), middleware.Of(r).Actor, r.PathValue("person"), out)
		if err != nil {
			return err
		}
		return respond(w, http.StatusOK, PersonDoc(p))
	}
}
