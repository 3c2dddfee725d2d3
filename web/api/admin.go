package api

import (
	"net/http"

	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/middleware"
)

func inviteDoc(i service.Invite) wire.Invite {
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
	return respond(w, http.StatusCreated, wire.MadeInvite{Invite: inviteDoc(invite), Code: code})
}

// setBlocked blocks or unblocks the person that the path names.
func (a *API) setBlocked(out bool) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		p, err := a.Service.Block(r.Context(), middleware.Of(r).Actor, r.PathValue("person"), out)
		if err != nil {
			return err
		}
		return respond(w, http.StatusOK, personDoc(p))
	}
}
