package api

import (
	"net/http"
	"slices"

	"github.com/timba-arena/timba/ladder"
)

// scopes are ordered: each includes those before it.
var scopes = []ladder.Scope{ladder.ScopeRead, ladder.ScopeSubmit, ladder.ScopeAll}

func covers(have, want ladder.Scope) bool {
	return slices.Index(scopes, have) >= slices.Index(scopes, want)
}

// admit authorizes a request for its route: it authenticates the token, counts the request
// against its limit, and checks the rights that the route requires.
func (a *api) admit(w http.ResponseWriter, r *http.Request, rt route) error {
	if err := a.identify(w, r); err != nil {
		return err
	}
	in := infoOf(r)
	switch {
	case in.person.ID != 0:
		return checkRights(in, rt)
	case rt.scope != "":
		return ladder.Errorf(ladder.Unauthorized, "send Authorization: Bearer TOKEN", "%s needs a token of scope %q", rt.pattern, rt.scope)
	}
	return nil
}

// identify finds out who asks, and counts the request.
func (a *api) identify(w http.ResponseWriter, r *http.Request) error {
	in := infoOf(r)
	header := r.Header.Get("Authorization")
	switch {
	case in.counted && header == "":
		return nil
	case in.counted:
		return a.authenticate(r)
	case header == "":
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
	person, t, err := a.Store.Authenticate(r.Context(), token)
	if err != nil {
		return err
	}
	in := infoOf(r)
	in.person, in.token = person, t
	return nil
}

// checkRights returns an error if the token lacks the rights that the route requires.
func checkRights(in *info, rt route) error {
	switch {
	case !covers(in.token.Scope, rt.scope):
		return ladder.Errorf(ladder.Forbidden, "use a token of scope "+string(rt.scope), "%s needs the scope %q, this token has %q", rt.pattern, rt.scope, in.token.Scope)
	case rt.admin && !in.person.Admin:
		return ladder.Errorf(ladder.Forbidden, "", "%s is for admins", rt.pattern)
	}
	return nil
}

// mayAll reports whether the request has an admin's rights: an admin's token of scope all.
func (in *info) mayAll() bool { return in.person.Admin && in.token.Scope == ladder.ScopeAll }

// owns reports whether the request is by the owner of a thing, or by an admin. The owner 0 of a
// house bot is nobody.
func (in *info) owns(owner int64) bool {
	return in.token.ID != 0 && (in.person.ID == owner && owner != 0 || in.mayAll())
}

// mustOwn returns an error unless the request is by the owner of a thing, or by an admin; what is
// what only the owner may do.
func (in *info) mustOwn(owner int64, what string) error {
	if in.owns(owner) {
		return nil
	}
	return ladder.Errorf(ladder.Forbidden, "", "only the owner may %s", what)
}
