package site

import (
	"cmp"
	"net/http"
	"net/url"
)

type joinPage struct {
	Open  bool   // no invite is needed
	Next  string // the address from which the visitor came; "" if it is unknown
	Name  string
	Code  string
	Token string // the first token of the visitor, who has just opened the account; "" before
}

// getJoin shows the form to open an account. The link of an invite has its code after "#", which browsers do
// not send; the page's module writes the code into the form. To a visitor who has just opened an account the page
// shows the token.
func (s *Site) getJoin(v *visit) error {
	next := cameFrom(v.next())
	if secrets := v.secretsOf("join"); secrets != nil {
		return v.showPage(http.StatusOK, "join", joinPage{Next: next, Token: secrets[0].text})
	}
	if v.Person.ID != 0 {
		return v.redirect(cmp.Or(next, "/account"))
	}
	return v.showPage(http.StatusOK, "join", joinPage{Open: s.Config.HasOpenRegistration(), Next: next})
}

// cameFrom returns next, the address from which a visitor came to open an account. If next is the home page or an
// address of another site, it returns "".
func cameFrom(next string) string {
	if next = localPath(next); next == "/" {
		return ""
	}
	return next
}

// postJoin opens an account, signs the visitor in, and leads to the page with the token.
func (s *Site) postJoin(v *visit) error {
	page := joinPage{Open: s.Config.HasOpenRegistration(), Next: cameFrom(v.field("next")), Name: v.field("name"), Code: v.field("code")}
	err := s.Middleware.Joining.Admit(v.w, v.Address)
	token := ""
	if err == nil {
		_, token, err = s.Service.Register(v.ctx(), page.Code, page.Name)
	}
	if err == nil {
		err = v.startTokenSession(token)
	}
	if err != nil {
		return v.showForm(http.StatusOK, "join", page, err)
	}
	s.keepSecret(v.Session, secret{page: "join", text: token})
	return v.redirect("/join?" + url.Values{"next": {page.Next}}.Encode())
}
