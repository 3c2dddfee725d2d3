package site_test

import (
	"database/sql"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/web/webtest"
)

// A person who has lost the token gets a link from an admin, signs in by it once, and makes a new token.
func TestLostToken(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	s := webtest.NewStaticWorld(t, nil)
	b := webtest.Open(t, in, s.URL+"/sign-in")
	b.Click("details summary")
	if text := b.Text("details"); !strings.Contains(text, "ask the operator of this site for a link to sign in") {
		t.Errorf("the page to sign in says %q", text)
	}
	b.RequireAccessible()
	b.Picture(*screens, "signin-lost")
	signIn(b, &s.World, s.NewToken(s.Ladder.AddPerson("root", true), ladder.ScopeAll))
	b.Go(s.URL + "/people/ada")
	b.Click("main details summary")
	b.Click(`form[action="/people/ada/sign-in"] button`)
	awaitSelector(b, `[data-copy="link0"]:not([hidden])`)
	b.RequireAccessible()
	b.Picture(*screens, "person-link")
	link := webtest.Eval[string](b, "document.getElementById('link0').value")
	b.Click(`form[action="/sign-out"] button`)
	awaitSelector(b, `.who > a[href^="/sign-in"]`)

	b.Go(link)
	awaitSelector(b, "form.stack button:focus") // the module has taken the code from the address
	if at := webtest.Eval[string](b, "location.href"); at != s.URL+"/sign-in" {
		t.Errorf("the address still has %q", at)
	}
	b.Click("form.stack button")
	awaitSelector(b, `form[action="/account/tokens"]`)
	b.Click(`form[action="/account/tokens"] button`)
	awaitSelector(b, "#key0")
	token := webtest.Eval[string](b, "document.getElementById('key0').value")
	if p, _, err := s.Store.Sessions.Authenticate(t.Context(), token); err != nil || p.ID != s.Ada.ID {
		t.Errorf("the new token is that of %q: %v", p.Name, err)
	}
	b.RequireQuiet()
	if a := s.Post(s.Client(), "/sign-in", "token="+url.QueryEscape(link)); a.Status != http.StatusUnauthorized || !strings.Contains(a.Body, "the link has been used") {
		t.Errorf("the second use of the link answers %d: %s", a.Status, a.Body)
	}
}

// Only an admin can make links to sign in.
func TestLinksAreForAdmins(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, nil)
	c := s.Client()
	s.SignIn(c, s.NewToken(s.Ladder.AddPerson("bob", false), ladder.ScopeAll))
	if page := s.Get(c, "/people/ada").Body; strings.Contains(page, "/people/ada/sign-in") {
		t.Error("the page offers the button to everybody")
	}
	if a := s.Post(c, "/people/ada/sign-in", ""); a.Status != http.StatusForbidden {
		t.Errorf("it answers %d: %s", a.Status, a.Body)
	}
	if n := len(kit.Get[[]ladder.Token](t)(s.Store.Sessions.Tokens(t.Context(), s.Ada.ID))); n != 1 {
		t.Errorf("ada has %d tokens", n)
	}
}

// A bot that had the name of a house bot before such names were reserved is shown with its owner.
func TestNamesake(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, nil)
	s.MakeLive("lola", store.BuildInfo{})
	db := kit.Get[*sql.DB](t)(sql.Open("sqlite", s.Store.Dir().Database()))
	_, err := db.ExecContext(t.Context(), "UPDATE bots SET name = 'greedy' WHERE name = 'lola'")
	s.Must(err)
	s.Must(db.Close())
	if page := s.Get(s.Client(), "/bots").Body; !strings.Contains(page, ">greedy (ada)</a>") || !strings.Contains(page, ">greedy</a>") {
		t.Errorf("the list of bots is %s", page)
	}
}
