package site

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/problem"
)

// joinPage is the data of the page "join".
type joinPage struct {
	Open    bool   // an invite is not needed
	Next    string // where the visitor came from; "" for nowhere
	Name    string
	Code    string
	Problem *wire.Problem
	Joined  ladder.Person
	Token   string // of who has joined, shown this once
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
	status := http.StatusCreated
	err := s.Middleware.Joining.Take(v.w, v.Address)
	if err == nil {
		page.Joined, page.Token, err = s.Service.Register(v.ctx(), page.Code, page.Name)
	}
	if err == nil {
		page.Code = ""
	} else if page.Problem, status, err = v.problem(err); err != nil {
		return err
	}
	v.w.Header().Set("Cache-Control", "no-store")
	return v.page(status, "join", page)
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

// problem returns what a form shows of an error and its status; the error itself if it is not for the form, but a
// failure of the server.
func (v *visit) problem(err error) (*wire.Problem, int, error) {
	if problem.Of(err).Status == http.StatusInternalServerError {
		return nil, 0, err
	}
	p := v.site.Middleware.Problem(v.r, err)
	return &p, p.Status, nil
}
