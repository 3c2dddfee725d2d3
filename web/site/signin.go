package site

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
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

// secretText finds a token or the code of a link in what people paste, such as the whole link or a token in quotes.
var secretText = regexp.MustCompile(`(timba|signin)_[A-Za-z0-9]+`)

// postSignIn signs a person in by a token, the code of a link, or a passkey. A link leads to the page on which the person
// makes a token.
func (s *Site) postSignIn(v *visit) error {
	next, token := localPath(v.field("next")), v.field("token")
	if found := secretText.FindString(token); found != "" {
		token = found
	}
	err := error(ladder.Errorf(ladder.Unauthorized, "", "the token is missing"))
	if signed := v.field("passkey"); signed != "" {
		var credential, data []byte
		if credential, data, err = v.checkPasskey(signed); err == nil {
			err = v.startSession(func(from service.Actor) (string, error) {
				return s.Service.SignInByPasskey(v.ctx(), credential, data, from)
			})
		}
	} else if token != "" {
		err = v.startTokenSession(token)
	}
	if err != nil {
		return v.showForm(http.StatusOK, "signin", signInPage{Next: next}, err)
	}
	if next == "/" && strings.HasPrefix(token, "signin_") {
		next = "/account/tokens"
	}
	return v.redirect(next)
}

// startTokenSession signs the visitor in with the text of a token, as startSession does.
func (v *visit) startTokenSession(token string) error {
	return v.startSession(func(from service.Actor) (string, error) { return v.site.Service.SignIn(v.ctx(), token, from) })
}

// startSession signs the visitor in. It calls signIn, which starts a session and returns its key, and sends the key
// as a cookie. If the visitor was a guest, the guest's games become those of the person. v.Actor is the person
// afterwards.
func (v *visit) startSession(signIn func(from service.Actor) (key string, err error)) error {
	s, before := v.site, v.Actor
	key, err := signIn(before)
	if err != nil {
		return err
	}
	v.setCookie(sessionCookie, key, sessionAge) // signIn has ended the session before
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
