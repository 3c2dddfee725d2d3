package api

import (
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
	case in.person.ID != 0:
		return rt.check(in.actor())
	case rt.scope != "":
		return in.actor().Must(rt.scope, rt.pattern)
	}
	return nil
}

// identify finds out who asks, and counts the request.
func (a *api) identify(w http.ResponseWriter, r *http.Request) error {
	in := infoOf(r)
	header := r.Header.Get("Authorization")
	if header == "" {
		return a.anonymous.Take(w, in.address)
	}
	if err := a.authenticate(r); err != nil {
		// Guesses of tokens count against the limit of anonymous requests.
		if limited := a.anonymous.Take(w, in.address); limited != nil {
			return limited
		}
		return err
	}
	return a.byPerson.Take(w, in.person.ID)
}

// authenticate sets the person and the token of the request.
func (a *api) authenticate(r *http.Request) error {
	token, err := Bearer(r)
	if err != nil {
		return err
	}
	return a.know(r, token)
}

// know sets the person and the token of the request from the token's text.
func (a *api) know(r *http.Request, token string) error {
	actor, err := a.Service.SignIn(r.Context(), token)
	if err != nil {
		return err
	}
	in := infoOf(r)
	in.person, in.token = actor.Person, actor.Token
	return nil
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

// actor returns who makes the request.
func (in *info) actor() service.Actor { return service.Actor{Person: in.person, Token: in.token} }
