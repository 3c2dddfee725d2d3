package api

import (
	"cmp"
	"context"
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
)

// admit authorizes a request for its route: it authenticates the token, counts the request
// against its limit, and checks the rights that the route requires.
func (a *api) admit(w http.ResponseWriter, r *http.Request, rt route) error {
	if err := a.identify(w, r); err != nil {
		return err
	}
	in := infoOf(r)
	switch {
	case in.Person.ID != 0:
		return rt.check(in.Actor)
	case rt.scope != "":
		return in.Must(rt.scope, rt.pattern)
	}
	return nil
}

// identify finds out who asks, and counts the request.
func (a *api) identify(w http.ResponseWriter, r *http.Request) error {
	token, err := Bearer(r)
	if err == nil && token != "" {
		err = a.know(r, token, a.Service.Bearer)
	}
	return a.count(w, r, err)
}

// know sets who makes the request from a key that find knows.
func (a *api) know(r *http.Request, key string, find func(context.Context, string) (service.Actor, error)) error {
	actor, err := find(r.Context(), key)
	if err != nil {
		return err
	}
	in := infoOf(r)
	actor.Address = in.Address
	in.Actor = actor
	return nil
}

// count counts the request against the limit of its person. If there is none, perhaps by an error, it counts
// against that of its address, which stops guesses of tokens. It returns the error, or that of the limit.
func (a *api) count(w http.ResponseWriter, r *http.Request, err error) error {
	in := infoOf(r)
	if in.Person.ID != 0 {
		return a.byPerson.Take(w, in.Person.ID)
	}
	return cmp.Or(a.anonymous.Take(w, in.Address), err)
}

// check returns an error if the actor lacks the rights that the route requires.
func (rt route) check(a service.Actor) error {
	if rt.scope != "" {
		if err := a.Must(rt.scope, rt.pattern); err != nil {
			return err
		}
	}
	if rt.admin && !a.Person.Admin {
		return ladder.Errorf(ladder.Forbidden, "", "%s is for admins", rt.pattern)
	}
	return nil
}
