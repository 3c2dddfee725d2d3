package site

import (
	"strconv"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/middleware"
)

// localPath returns an address of this site, "/" for any other.
func localPath(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}

// next returns the parameter with the address from which the visitor came; one that is too long is none.
func (v *visit) next() string { return middleware.NewQuery(v.r).Text("next") }

// postSignOut ends the session of a person, whose token stays valid, and deletes the cookie. Of a guest, who has no form
// to sign out, only the cookie is deleted: the session ends after store.SessionTime.
func (s *Site) postSignOut(v *visit) error {
	if v.Person.ID != 0 {
		if err := s.Service.EndSession(v.ctx(), v.Actor, v.Session); err != nil {
			return err
		}
	}
	v.clearSession()
	return v.redirect("/")
}

// postEndOthers ends all sessions of the person but this one.
func (s *Site) postEndOthers(v *visit) error {
	if err := s.Service.EndOtherSessions(v.ctx(), v.Actor); err != nil {
		return err
	}
	return v.redirect("/account")
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
