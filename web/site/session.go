package site

import (
	"net/http"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/parameters"
)

type signInPage struct{ Next string }

// local returns an address of this site, "/" for any other.
func local(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}

// next returns the parameter with the address from which the visitor came; one that is too long is none.
func (v *visit) next() string { return parameters.New(v.r).Text("next") }

// signIn shows the form to sign in.
func (s *Site) signIn(v *visit) error {
	next := local(v.next())
	if v.Person.ID != 0 {
		v.redirect(next)
		return nil
	}
	return v.page(http.StatusOK, "signin", signInPage{next})
}

// signedIn signs a person in by their token.
func (s *Site) signedIn(v *visit) error {
	next, token := local(v.field("next")), v.field("token")
	key, err := "", error(ladder.Errorf(ladder.Unauthorized, "", "the token is missing"))
	if token != "" {
		key, err = s.Service.SignIn(v.ctx(), token, v.Actor)
	}
	if err != nil {
		return v.form(http.StatusOK, "signin", signInPage{next}, err)
	}
	if v.Session != 0 && v.Person.ID == 0 { // a guest, whose games are theirs
		who, err := s.Service.Visitor(v.ctx(), key)
		if err != nil {
			return err
		}
		s.Play.SignedIn(v.ctx(), who)
	}
	v.setCookie(sessionCookie, key, sessionAge)
	v.redirect(next)
	return nil
}

// signOut ends the session. The token stays valid: other programs may use it.
func (s *Site) signOut(v *visit) error {
	if v.Person.ID != 0 {
		if err := s.Service.EndSession(v.ctx(), v.Actor, v.Session); err != nil {
			return err
		}
	}
	v.forget()
	v.redirect("/")
	return nil
}

// endOthers ends all sessions of the person but this one.
func (s *Site) endOthers(v *visit) error {
	if err := s.Service.EndOtherSessions(v.ctx(), v.Actor); err != nil {
		return err
	}
	v.redirect("/account")
	return nil
}
