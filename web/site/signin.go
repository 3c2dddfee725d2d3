package site

import (
	"net/http"
	"strings"

	"github.com/timba-arena/timba/ladder"
)

type signInPage struct {
	Next  string
	Ended bool // the session of the visitor has ended
}

func (s *Site) getSignIn(v *visit) error {
	next := localPath(v.next())
	if v.Person.ID != 0 {
		return v.redirect(next)
	}
	return v.showPage(http.StatusOK, "signin", signInPage{next, v.query().Text("ended") != ""})
}

// postSignIn signs a person in by a token, or by the code of a link. A link leads to the page on which the person
// makes a token.
func (s *Site) postSignIn(v *visit) error {
	next, token := localPath(v.field("next")), v.field("token")
	err := error(ladder.Errorf(ladder.Unauthorized, "", "the token is missing"))
	if token != "" {
		err = v.startSession(token)
	}
	if err != nil {
		return v.showForm(http.StatusOK, "signin", signInPage{Next: next}, err)
	}
	if next == "/" && strings.HasPrefix(token, "signin_") {
		next = "/account/tokens"
	}
	return v.redirect(next)
}

// startSession starts a session for the owner of the token with the text token, and sends its cookie. If the visitor
// was a guest, the guest's games become those of the person. The visit then has the person as its actor.
func (v *visit) startSession(token string) error {
	s, before := v.site, v.Actor
	key, err := s.Service.SignIn(v.ctx(), token, before)
	if err != nil {
		return err
	}
	v.setCookie(sessionCookie, key, sessionAge) // SignIn has ended the session before
	who, err := s.Service.SessionActor(v.ctx(), key)
	if err != nil {
		return err
	}
	who.Address = before.Address
	if v.Actor = who; before.Session != 0 && before.Person.ID == 0 { // the visitor was a guest
		s.Play.ClaimGuestGames(v.ctx(), who)
	}
	return nil
}
