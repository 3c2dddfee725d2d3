package api

import (
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/parameters"
)

func inviteDoc(i ladder.Invite) wire.Invite {
	return wire.Invite{ID: i.ID, Name: i.Name, By: i.From, Created: i.Created, Expires: i.Expires}
}

// invites lists the invites that can still be used.
func (a *api) invites(w http.ResponseWriter, r *http.Request) error {
	return list(w, r, "invite", a.Service.Invites, inviteDoc)
}

func (a *api) addInvite(w http.ResponseWriter, r *http.Request) error {
	var asked wire.NewInvite
	if err := decode(w, r, &asked); err != nil {
		return err
	}
	code, invite, err := a.Service.AddInvite(r.Context(), middleware.Of(r).Actor, asked.Name, asked.Expires)
	if err != nil {
		return err
	}
	return respond(w, http.StatusCreated, wire.MadeInvite{Invite: inviteDoc(invite), Code: code})
}

func (a *api) revokeInvite(w http.ResponseWriter, r *http.Request) error {
	return revoke(w, r, "invite", a.Service.RevokeInvite)
}

func (a *api) people(w http.ResponseWriter, r *http.Request) error {
	return list(w, r, "person", a.Service.People, personDoc)
}

func (a *api) block(w http.ResponseWriter, r *http.Request) error   { return a.setBlocked(w, r, true) }
func (a *api) unblock(w http.ResponseWriter, r *http.Request) error { return a.setBlocked(w, r, false) }

func (a *api) setBlocked(w http.ResponseWriter, r *http.Request, out bool) error {
	if err := parameters.New(r).Done(); err != nil {
		return err
	}
	p, err := a.Service.Block(r.Context(), middleware.Of(r).Actor, r.PathValue("person"), out)
	if err != nil {
		return err
	}
	return respond(w, http.StatusOK, personDoc(p))
}
