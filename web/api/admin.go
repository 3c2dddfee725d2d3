package api

import (
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/api/wire"
)

func inviteDoc(i ladder.Invite, by string) wire.Invite {
	return wire.Invite{ID: i.ID, Name: i.Name, By: by, Created: i.Created, Expires: i.Expires}
}

// invites lists the invites that can still be used.
func (a *api) invites(w http.ResponseWriter, r *http.Request) error {
	q := NewQuery(r)
	from, limit := q.cursorID("cursor", "invite"), q.limit()
	if err := q.Done(); err != nil {
		return err
	}
	all, err := a.Store.Invites(r.Context())
	if err != nil {
		return err
	}
	people, docs := a.names(), []wire.Invite{}
	for _, i := range all {
		if i.PersonID != 0 || !i.Expires.IsZero() && !i.Expires.After(a.Now()) {
			continue
		}
		by, err := people.of(r.Context(), i.By)
		if err != nil {
			return err
		}
		docs = append(docs, inviteDoc(i, by))
	}
	return respond(w, http.StatusOK, cut(docs, from, limit, "invite"))
}

func (a *api) addInvite(w http.ResponseWriter, r *http.Request) error {
	if err := NewQuery(r).Done(); err != nil {
		return err
	}
	var asked wire.NewInvite
	if err := decode(w, r, &asked); err != nil {
		return err
	}
	if !asked.Expires.IsZero() && !asked.Expires.After(a.Now()) {
		return ladder.Errorf(ladder.Invalid, "choose a time in the future", "an invite cannot expire at %s", asked.Expires.UTC().Format("2006-01-02T15:04:05Z"))
	}
	in := infoOf(r)
	code, invite, err := a.Store.AddInvite(r.Context(), in.person.ID, asked.Name, asked.Expires)
	if err != nil {
		return err
	}
	return respond(w, http.StatusCreated, wire.MadeInvite{Invite: inviteDoc(invite, in.person.Name), Code: code})
}

func (a *api) revokeInvite(w http.ResponseWriter, r *http.Request) error {
	if err := NewQuery(r).Done(); err != nil {
		return err
	}
	id, err := PathID(r, "invite")
	if err != nil {
		return err
	}
	if err := a.Store.RevokeInvite(r.Context(), id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *api) people(w http.ResponseWriter, r *http.Request) error {
	q := NewQuery(r)
	from, limit := q.cursorID("cursor", "person"), q.limit()
	if err := q.Done(); err != nil {
		return err
	}
	all, err := a.Store.People(r.Context())
	if err != nil {
		return err
	}
	docs := make([]wire.Person, len(all))
	for i, p := range all {
		docs[i] = personDoc(p)
	}
	return respond(w, http.StatusOK, cut(docs, from, limit, "person"))
}

func (a *api) block(w http.ResponseWriter, r *http.Request) error   { return a.setBlocked(w, r, true) }
func (a *api) unblock(w http.ResponseWriter, r *http.Request) error { return a.setBlocked(w, r, false) }

func (a *api) setBlocked(w http.ResponseWriter, r *http.Request, out bool) error {
	if err := NewQuery(r).Done(); err != nil {
		return err
	}
	p, err := a.Store.PersonByName(r.Context(), r.PathValue("person"))
	if err != nil {
		return err
	}
	if out && p.ID == infoOf(r).person.ID {
		return ladder.Errorf(ladder.Conflict, "ask another admin", "you cannot block %q, which is your own account", p.Name)
	}
	if err := a.Store.BlockPerson(r.Context(), p.ID, out); err != nil {
		return err
	}
	a.Wake() // what they have going on has ended
	if p, err = a.Store.Person(r.Context(), p.ID); err != nil {
		return err
	}
	return respond(w, http.StatusOK, personDoc(p))
}
