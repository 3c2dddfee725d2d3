package site

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/web/api/wire"
)

// expiry returns the time after so many days, as a form has them; "" is never.
func (v *visit) expiry(days string) (time.Time, error) {
	if days == "" {
		return time.Time{}, nil
	}
	n, err := strconv.Atoi(days)
	if err != nil || !slices.Contains(expiries, n) {
		return time.Time{}, v.refused("expiry cannot be %q days", ladder.Clip(days))
	}
	return v.site.Now().Add(time.Duration(n) * 24 * time.Hour), nil
}

// refused returns the problem of a field that no browser sends so.
func (v *visit) refused(format string, args ...any) error {
	return ladder.Errorf(ladder.Invalid, "", format, args...)
}

// act does what a button of a list says with the thing whose ID the form has, and shows the list again.
func (v *visit) act(list string, do func(context.Context, service.Actor, int64) error) error {
	id, err := strconv.ParseInt(v.field("id"), 10, 64)
	if err != nil || id < 1 {
		return v.refused("id cannot be %q", ladder.Clip(v.field("id")))
	}
	if err := do(v.ctx(), v.Actor, id); err != nil {
		return err
	}
	v.redirect(list)
	return nil
}

// invitesPage is the data of the page "invites".
type invitesPage struct {
	Tabs    tabs
	List    []service.Invite
	Expiry  []int
	Name    string
	Days    string
	Problem *wire.Problem
	Code    string // of a new invite, shown this once
	Link    string // to the page to join with the new invite
}

// invites lists the invites that can be used.
func (s *Site) invites(v *visit) error {
	return s.showInvites(v, http.StatusOK, invitesPage{Days: "30"})
}

func (s *Site) showInvites(v *visit, status int, page invitesPage) (err error) {
	if page.List, err = s.Service.Invites(v.ctx(), v.Actor); err != nil {
		return err
	}
	page.Tabs, page.Expiry = v.tabs("/account/invites"), expiries
	if page.Code != "" {
		page.Link = v.origin() + "/join#" + page.Code
		v.w.Header().Set("Cache-Control", "no-store")
	}
	return v.page(status, "invites", page)
}

// addInvite makes an invite, and shows its code.
func (s *Site) addInvite(v *visit) error {
	page := invitesPage{Name: v.field("name"), Days: v.field("days")}
	status := http.StatusCreated
	expires, err := v.expiry(page.Days)
	if err == nil {
		page.Code, _, err = s.Service.AddInvite(v.ctx(), v.Actor, page.Name, expires)
	}
	if err != nil {
		if page.Problem, status, err = v.problem(err); err != nil {
			return err
		}
	}
	return s.showInvites(v, status, page)
}

// revokeInvite revokes an invite.
func (s *Site) revokeInvite(v *visit) error {
	return v.act("/account/invites", s.Service.RevokeInvite)
}

// peoplePerPage is how many people a page shows.
const peoplePerPage = 50

// membersPage is the data of the page "members".
type membersPage struct {
	Tabs  tabs
	List  []ladder.Person
	Query string
	Pager pager
}

// members lists all people, for admins.
func (s *Site) members(v *visit) error {
	q := v.query()
	page := membersPage{Tabs: v.tabs("/account/people"), Query: q.Text("q")}
	all, err := s.Service.People(v.ctx(), v.Actor)
	if err != nil {
		return err
	}
	found := slices.DeleteFunc(all, func(p ladder.Person) bool { return !strings.Contains(p.Name, strings.ToLower(page.Query)) })
	page.List, page.Pager = paged(v, q, found, peoplePerPage)
	if err := q.Err(); err != nil {
		return err
	}
	return v.page(http.StatusOK, "members", page)
}

// block blocks or unblocks a person.
func (s *Site) block(v *visit) error {
	blocked := v.r.PathValue("what") == "block"
	if !blocked && v.r.PathValue("what") != "unblock" {
		return ladder.Errorf(ladder.NotFound, "", "%q does not exist", ladder.Clip(v.r.URL.Path))
	}
	if _, err := s.Service.Block(v.ctx(), v.Actor, v.field("name"), blocked); err != nil {
		return err
	}
	v.redirect("/account/people")
	return nil
}
