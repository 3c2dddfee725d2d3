package site

import (
	"net/http"

	"github.com/timba-arena/timba/ladder"
)

type invitesPage struct {
	List []ladder.Invite
	Name string
	Days string
	Code string // the code of a new invite; it is shown only once
	Link string // the address at which the new invite is used
}

func (s *Site) getInvites(v *visit) error {
	return s.showInvites(v, http.StatusOK, invitesPage{Days: "30"}, nil)
}

func (s *Site) showInvites(v *visit, status int, page invitesPage, refused error) (err error) {
	if page.List, err = s.Service.Invites(v.ctx(), v.Actor); err != nil {
		return err
	}
	if page.Code != "" {
		page.Link = v.origin() + "/join#" + page.Code
		v.w.Header().Set("Cache-Control", "no-store")
	}
	return v.showForm(status, "invites", page, refused)
}

func (s *Site) postInvite(v *visit) error {
	page := invitesPage{Name: v.field("name"), Days: v.field("days")}
	expires, err := v.expiry(page.Days)
	if err == nil {
		page.Code, _, err = s.Service.AddInvite(v.ctx(), v.Actor, page.Name, expires)
	}
	return s.showInvites(v, http.StatusCreated, page, err)
}
