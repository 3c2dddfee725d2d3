package site

import (
	"net/http"

	"github.com/timba-arena/timba/ladder"
)

type signInPage struct{ Next string }

func (s *Site) getSignIn(v *visit) error {
	next := localPath(v.next())
	if v.Person.ID != 0 {
		return v.redirect(next)
	}
	return v.showPage(http.StatusOK, "signin", signInPage{next})
}

// postSignIn signs a person in by a token. If the visitor was a guest, the guest's games become those of the
// person.
func (s *Site) postSignIn(v *visit) error {
	next, token := localPath(v.field("next")), v.field("token")
	key, err := "", error(ladder.Errorf(ladder.Unauthorized, "", "the token is missing"))
	if token != "" {
		key, err = s.Service.SignIn(v.ctx(), token, v.Actor)
	}
	if err != nil {
		return v.showForm(http.StatusOK, "signin", signInPage{next}, err)
	}
	v.setCookie(sessionCookie, key, sessionAge) // SignIn has ended the session before
	if v.Session != 0 && v.Person.ID == 0 {     // the visitor was a guest
		who, err := s.Service.SessionActor(v.ctx(), key)
		if err != nil {
			return err
		}
		s.Play.ClaimGuestGames(v.ctx(), who)
	}
	return v.redirect(next)
}
