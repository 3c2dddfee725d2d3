package site

import (
	"net/http"
	"slices"

	"github.com/timba-arena/timba/ladder"
)

type invitesPage struct {
	List []ladder.Invite
	Name string
	Days string
	New  []newInvite
}

// newInvite is an invite that the visitor's session has made within answerTime.
type newInvite struct {
	Code string
	Link string // the address at which it is used
}

func (s *Site) getInvites(v *visit) error {
	return s.showInvites(v, invitesPage{Days: "30"}, nil)
}

func (s *Site) showInvites(v *visit, page invitesPage, refused error) (err error) {
	if page.List, err = s.Service.Invites(v.ctx(), v.Actor); err != nil {
		return err
	}
	for _, x := range v.secretsOf("invites") {
		if slices.ContainsFunc(page.List, func(i ladder.Invite) bool { return i.ID == x.id }) {
			page.New = append(page.New, newInvite{x.text, v.origin() + "/join#" + x.text})
		}
	}
	return v.showForm(http.StatusOK, "invites", page, refused)
}

func (s *Site) postInvite(v *visit) error {
	page := invitesPage{Name: v.field("name"), Days: v.field("days")}
	expires, err := v.expiry(page.Days)
	code := ""
	var made ladder.Invite
	if err == nil {
		code, made, err = s.Service.AddInvite(v.ctx(), v.Actor, page.Name, expires)
	}
	if err != nil {
		return s.showInvites(v, page, err)
	}
	s.keepSecret(v.Session, secret{page: "invites", id: made.ID, text: code})
	return v.redirect("/account/invites")
}
