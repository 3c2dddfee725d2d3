package site

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/ladder"
)

type joinPage struct {
	Open   bool   // an invite is not needed
	Next   string // where the visitor came from; "" for nowhere
	Name   string
	Code   string
	Joined ladder.Person
	Token  string // of who has joined, shown this once
}

// join shows the form to open an account. A link of an invite has its code behind "#", which
// browsers do not send; the page's module writes it into the form.
func (s *Site) join(v *visit) error {
	next := cameFrom(v.next())
	if v.Person.ID != 0 {
		v.redirect(cmp.Or(next, "/account"))
		return nil
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

// joined opens an account, and shows its token.
func (s *Site) joined(v *visit) error {
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
		return 0, v.refused("%s cannot be %q", name, ladder.Clip(v.field(name)))
	}
	return n, nil
}
