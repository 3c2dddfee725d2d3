package middleware

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
)

// bearer returns the token in the Authorization header of r, or "" if r has no such header. It returns an error if
// the header does not have the form "Bearer TOKEN", or occurs more than once.
func bearer(r *http.Request) (token string, err error) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return "", nil
	}
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" || len(r.Header.Values("Authorization")) > 1 {
		return "", ladder.Errorf(ladder.Unauthorized, "send Authorization: Bearer TOKEN", "the Authorization header cannot be read")
	}
	return token, nil
}

// Bearer identifies the client by the token in the Authorization header, as Identify does with a key. It also counts
// the request against the client's rate limit.
func (m *Middleware) Bearer(w http.ResponseWriter, r *http.Request) error {
	token, err := bearer(r)
	if err != nil {
		return m.count(w, RequestOf(r), err)
	}
	return m.Identify(w, r, token, m.Service.TokenActor)
}

// Identify finds out who sends r, and stores the result in the Request. key is a token or the key of a session; find
// returns the actor to whom it belongs. If key is "", the client is anonymous. Identify also counts the request
// against the rate limit of the person or, if nobody is signed in, of the network address. It returns the error of
// find or of an exceeded limit. For each request, either Identify or Bearer must be called once.
func (m *Middleware) Identify(w http.ResponseWriter, r *http.Request, key string, find func(context.Context, string) (service.Actor, error)) error {
	in := RequestOf(r)
	if key == "" {
		return m.count(w, in, nil)
	}
	actor, err := find(r.Context(), key)
	if err == nil {
		actor.Address = in.Address
		in.Actor = actor
	}
	return m.count(w, in, err)
}

// count counts a request against a rate limit, and returns the error of an exceeded limit, otherwise err. err is the
// error of identifying the client, or nil. The limit is that of the person who sends the request. If the person is
// unknown, it is that of the client's address, which slows down the guessing of keys. Requests for cheap pages have a
// separate limit.
func (m *Middleware) count(w http.ResponseWriter, in *Request, err error) error {
	switch {
	case in.Cheap && err == nil:
		return m.pages.Admit(w, in.Visitor().LimitKey())
	case in.Person.ID != 0:
		return m.byPerson.Admit(w, in.Person.ID)
	}
	return cmp.Or(m.anonymous.Admit(w, in.Address), err)
}
