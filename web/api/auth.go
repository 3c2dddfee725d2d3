package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder"
)

// scopes in their order: each may do what those before it may.
var scopes = []ladder.Scope{ladder.ScopeRead, ladder.ScopeSubmit, ladder.ScopeAll}

func covers(have, want ladder.Scope) bool {
	return slices.Index(scopes, have) >= slices.Index(scopes, want)
}

// admit lets a request through to its route: it finds out who asks, counts the
// request, and holds the route's demands against the token.
func (a *api) admit(w http.ResponseWriter, r *http.Request, rt route) error {
	in := infoOf(r)
	header := r.Header.Get("Authorization")
	if header == "" {
		if err := a.anonymous.take(w, in.address); err != nil {
			return err
		}
		if rt.scope != "" {
			return ladder.Errorf(ladder.Unauthorized, "send Authorization: Bearer TOKEN", "%s needs a token of scope %q", rt.pattern, rt.scope)
		}
		return nil
	}
	if err := a.authenticate(r, header); err != nil {
		// One who guesses tokens is counted as nobody, and so comes to an end.
		if limited := a.anonymous.take(w, in.address); limited != nil {
			return limited
		}
		return err
	}
	if err := a.byToken.take(w, in.token.ID); err != nil {
		return err
	}
	return demand(in, rt)
}

// authenticate finds the person of a token.
func (a *api) authenticate(r *http.Request, header string) error {
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" || len(r.Header.Values("Authorization")) > 1 {
		return ladder.Errorf(ladder.Unauthorized, "send Authorization: Bearer TOKEN", "the Authorization header cannot be read")
	}
	person, t, err := a.Store.Authenticate(r.Context(), token)
	if err != nil {
		return err
	}
	in := infoOf(r)
	in.person, in.token = person, t
	return nil
}

// demand holds what a route wants against the token that was sent.
func demand(in *info, rt route) error {
	switch {
	case !covers(in.token.Scope, rt.scope):
		return ladder.Errorf(ladder.Forbidden, "use a token of scope "+string(rt.scope), "%s needs the scope %q, this token has %q", rt.pattern, rt.scope, in.token.Scope)
	case rt.admin && !in.person.Admin:
		return ladder.Errorf(ladder.Forbidden, "", "%s is for admins", rt.pattern)
	}
	return nil
}

// mayAll tells whether the request is an admin's with a token for all that an
// admin may.
func (in *info) mayAll() bool { return in.person.Admin && in.token.Scope == ladder.ScopeAll }

// owns tells whether the request is of the owner of a thing, or of an admin. A
// house bot's owner is 0, which nobody is.
func (in *info) owns(owner int64) bool {
	return in.token.ID != 0 && (in.person.ID == owner && owner != 0 || in.mayAll())
}

// mustOwn is the error for those who do not own a thing.
func (in *info) mustOwn(owner int64, what string) error {
	if in.owns(owner) {
		return nil
	}
	return ladder.Errorf(ladder.Forbidden, "", "%s is for its owner to see", what)
}
