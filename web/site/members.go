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
	List    []ladder.Person
	Query   string
	Pager   pager
	NewKeys []newKey
}

// newKey is a token, Text, that the visitor's session has just made for the person Name.
type newKey struct{ Name, Text string }

func (s *Site) getMembers(v *visit) error {
	page := membersPage{Query: v.query().Text("q")}
	for _, x := range v.secretsOf("members") {
		page.NewKeys = append(page.NewKeys, newKey{x.name, x.text})
	}
	all, err := s.Service.People(v.ctx(), v.Actor)
	if err != nil {
		return err
	}
	found := slices.DeleteFunc(all, func(p ladder.Person) bool {
		return !strings.Contains(strings.ToLower(p.Name), strings.ToLower(page.Query))
	})
	page.List, page.Pager = rowsOfPage(v, found, peoplePerPage)
	return v.showPage(http.StatusOK, "members", page)
}

// postReset revokes the tokens of a person who has lost them, makes a new one, and redirects to a page that shows it.
func (s *Site) postReset(v *visit) error {
	name := v.field("name")
	text, err := s.Service.ResetTokens(v.ctx(), v.Actor, name)
	if err != nil {
		return err
	}
	s.keepSecret(v.Session, secret{page: "members", name: name, text: text})
	return v.redirect("/account/people")
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
