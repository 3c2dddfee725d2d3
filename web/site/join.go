package site

import (
	"cmp"
	"net/http"

	"github.com/timba-arena/timba/ladder"
)

type joinPage struct {
	Open      bool   // no invite is needed
	Next      string // the address from which the visitor came; "" if it is unknown
	Name      string
	Code      string
	NewPerson ladder.Person
	Token     string // the first token of NewPerson; it is shown only once
}

// getJoin shows the form to open an account. The link of an invite has its code after "#", which browsers do
// not send; the page's module writes the code into the form.
func (s *Site) getJoin(v *visit) error {
	next := cameFrom(v.next())
	if v.Person.ID != 0 {
		return v.redirect(cmp.Or(next, "/account"))
	}
	return v.showPage(http.StatusOK, "join", joinPage{Open: s.Config.HasOpenRegistration(), Next: next})
}

// cameFrom returns next, the address from which a visitor came to open an account. It returns "" if next is
// the home page or an address of another site.
func cameFrom(next string) string {
	if next = localPath(next); next == "/" {
		return ""
	}
	return next
}

func (s *Site) postJoin(v *visit) error {
	page := joinPage{Open: s.Config.HasOpenRegistration(), Next: cameFrom(v.field("next")), Name: v.field("name"), Code: v.field("code")}
	err := s.Middleware.Joining.Admit(v.w, v.Address)
	if err == nil {
		page.NewPerson, page.Token, err = s.Service.Register(v.ctx(), page.Code, page.Name)
	}
	v.w.Header().Set("Cache-Control", "no-store")
	return v.showForm(http.StatusCreated, "join", page, err)
}
