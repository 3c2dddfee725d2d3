package site

import (
	"net/http"
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder"
)

// peoplePerPage is the number of people on one page.
const peoplePerPage = 50

type membersPage struct {
	List     []ladder.Person
	Query    string
	Pager    pager
	Name     string // the person who gets NewToken
	NewToken string // the text of a new token; it is shown only once
}

func (s *Site) getMembers(v *visit) error { return s.showMembers(v, membersPage{}) }

func (s *Site) showMembers(v *visit, page membersPage) error {
	page.Query = v.query().Text("q")
	all, err := s.Service.People(v.ctx(), v.Actor)
	if err != nil {
		return err
	}
	found := slices.DeleteFunc(all, func(p ladder.Person) bool { return !strings.Contains(p.Name, strings.ToLower(page.Query)) })
	page.List, page.Pager = rowsOfPage(v, found, peoplePerPage)
	return v.showPage(http.StatusOK, "members", page)
}

// postReset revokes the tokens of a person who has lost theirs, and shows a new one.
func (s *Site) postReset(v *visit) (err error) {
	page := membersPage{Name: v.field("name")}
	if page.NewToken, err = s.Service.ResetTokens(v.ctx(), v.Actor, page.Name); err != nil {
		return err
	}
	v.w.Header().Set("Cache-Control", "no-store")
	return s.showMembers(v, page)
}

func (s *Site) postBlock(v *visit) error {
	blocked := v.r.PathValue("what") == "block"
	if !blocked && v.r.PathValue("what") != "unblock" {
		return ladder.Errorf(ladder.NotFound, "", "%q does not exist", ladder.Clip(v.r.URL.Path))
	}
	if _, err := s.Service.SetBlocked(v.ctx(), v.Actor, v.field("name"), blocked); err != nil {
		return err
	}
	return v.redirect("/account/people")
}
