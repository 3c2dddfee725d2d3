package site

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/middleware"
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
func (v *visit) next() string { return middleware.NewQuery(v.r).Text("next") }

// getSignIn shows the form to sign in.
func (s *Site) getSignIn(v *visit) error {
	next := local(v.next())
	if v.Person.ID != 0 {
		return v.redirect(next)
	}
	return v.page(http.StatusOK, "signin", signInPage{next})
}

// postSignIn signs a person in by their token.
func (s *Site) postSignIn(v *visit) error {
	next, token := local(v.field("next")), v.field("token")
	key, err := "", error(ladder.Errorf(ladder.Unauthorized, "", "the token is missing"))
	if token != "" {
		key, err = s.Service.SignIn(v.ctx(), token, v.Actor)
	}
	if err != nil {
		return v.form(http.StatusOK, "signin", signInPage{next}, err)
	}
	v.setCookie(sessionCookie, key, sessionAge) // the one before has ended
	if v.Session != 0 && v.Person.ID == 0 {     // a guest, whose games are theirs
		who, err := s.Service.Visitor(v.ctx(), key)
		if err != nil {
			return err
		}
		s.Play.SignedIn(v.ctx(), who)
	}
	return v.redirect(next)
}

// postSignOut signs a person out: it ends their session, and the browser forgets it. A guest's session is only
// forgotten. The token stays valid: other programs may use it.
func (s *Site) postSignOut(v *visit) error {
	if v.Person.ID != 0 {
		if err := s.Service.EndSession(v.ctx(), v.Actor, v.Session); err != nil {
			return err
		}
	}
	v.forget()
	return v.redirect("/")
}

// postEndOthers ends all sessions of the person but this one.
func (s *Site) postEndOthers(v *visit) error {
	if err := s.Service.EndOtherSessions(v.ctx(), v.Actor); err != nil {
		return err
	}
	return v.redirect("/account")
}

type joinPage struct {
	Open   bool   // an invite is not needed
	Next   string // where the visitor came from; "" for nowhere
	Name   string
	Code   string
	Joined ladder.Person
	Token  string // of who has joined, shown this once
}

// getJoin shows the form to open an account. A link of an invite has its code behind "#", which
// browsers do not send; the page's module writes it into the form.
func (s *Site) getJoin(v *visit) error {
	next := cameFrom(v.next())
	if v.Person.ID != 0 {
		return v.redirect(cmp.Or(next, "/account"))
	}
	return v.page(http.StatusOK, "join", joinPage{Open: s.Config.Open(), Next: next})
}

// cameFrom returns an address of this site from which somebody came to open an account, "" for the home page.
func cameFrom(next string) string {
	if next = local(next); next == "/" {
		return ""
	}
	return next
}

// postJoin opens an account, and shows its token.
func (s *Site) postJoin(v *visit) error {
	page := joinPage{Open: s.Config.Open(), Next: cameFrom(v.field("next")), Name: v.field("name"), Code: v.field("code")}
	err := s.Middleware.Joining.Take(v.w, v.Address)
	if err == nil {
		page.Joined, page.Token, err = s.Service.Register(v.ctx(), page.Code, page.Name)
	}
	v.w.Header().Set("Cache-Control", "no-store")
	return v.form(http.StatusCreated, "join", page, err)
}

// field returns a field of the form, without space around it.
func (v *visit) field(name string) string { return strings.TrimSpace(v.r.PostForm.Get(name)) }

// number returns a field of the form that is the ID or the number of something.
func (v *visit) number(name string) (int64, error) {
	n, err := strconv.ParseInt(v.field(name), 10, 64)
	if err != nil || n < 1 {
		return 0, ladder.Errorf(ladder.Invalid, "", "%s cannot be %q", name, ladder.Clip(v.field(name)))
	}
	return n, nil
}
