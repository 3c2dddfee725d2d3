package site

import (
	"strconv"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/middleware"
)

// localPath returns next if it is an address of this site, otherwise "/".
func localPath(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}

// next returns the query parameter "next", the address of the page from which the visitor came. It returns "" if the
// parameter is absent or not valid.
func (v *visit) next() string { return middleware.NewQuery(v.r).Text("next") }

// postSignOut signs a person out: it ends the session and deletes the cookie. The token with which the person signed
// in stays valid. Guests cannot sign out; their sessions expire after store.SessionTime.
func (s *Site) postSignOut(v *visit) error {
	if v.Person.ID != 0 {
		if err := s.Service.EndSession(v.ctx(), v.Actor, v.Session); err != nil {
			return err
		}
	}
	v.clearSession()
	return v.redirect("/")
}

func (s *Site) postEndOthers(v *visit) error {
	if err := s.Service.EndOtherSessions(v.ctx(), v.Actor); err != nil {
		return err
	}
	return v.redirect("/account")
}

func (v *visit) field(name string) string { return strings.TrimSpace(v.r.PostForm.Get(name)) }

// number returns the number in the form field called name. It returns an error unless this is a positive number, such
// as an ID.
func (v *visit) number(name string) (int64, error) {
	n, err := strconv.ParseInt(v.field(name), 10, 64)
	if err != nil || n < 1 {
		return 0, ladder.Errorf(ladder.Invalid, "", "%s cannot be %q", name, ladder.Clip(v.field(name)))
	}
	return n, nil
}
