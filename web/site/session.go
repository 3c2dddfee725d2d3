package site

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/api/wire"
)

// saltSize makes every token of a form another one, so that a compressed page tells nothing of it.
const saltSize = 16

// CSRF returns the token for a form of this page.
func (v *visit) CSRF() string {
	if v.session() == "" {
		v.form = rand.Text()
		v.setCookie(formCookie, v.form, sessionAge)
	}
	salt := make([]byte, saltSize)
	rand.Read(salt)
	return base64.RawURLEncoding.EncodeToString(append(salt, v.site.sign(salt, v.session())...))
}

func (s *Site) sign(salt []byte, session string) []byte {
	h := hmac.New(sha256.New, s.Key)
	h.Write(salt)
	h.Write([]byte(session))
	return h.Sum(nil)
}

// validForm reports whether a token is of a form of a session.
func (s *Site) validForm(token, session string) bool {
	data, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(data) <= saltSize || session == "" {
		return false
	}
	return hmac.Equal(data[saltSize:], s.sign(data[:saltSize], session))
}

// signInPage is the data of the page "signin".
type signInPage struct {
	Next    string
	Problem *wire.Problem // why the token was refused
}

// local returns an address of this site, "/" for any other.
func local(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}

// signIn shows the form to sign in.
func (s *Site) signIn(v *visit) error {
	next := local(v.query().Text("next"))
	if v.Person.ID != 0 {
		v.redirect(next)
		return nil
	}
	return v.page(http.StatusOK, "signin", signInPage{Next: next})
}

// signedIn signs a person in by their token.
func (s *Site) signedIn(v *visit) error {
	next, token := local(v.r.PostForm.Get("next")), strings.TrimSpace(v.r.PostForm.Get("token"))
	err := error(ladder.Errorf(ladder.Unauthorized, "", "%s", v.t("signin.missing")))
	if token != "" {
		_, err = s.API.Service.SignIn(v.ctx(), token)
	}
	if err != nil {
		p, _ := s.API.Problem(v.r, err)
		if p.Status >= http.StatusInternalServerError {
			return err
		}
		return v.page(p.Status, "signin", signInPage{next, &p})
	}
	v.setCookie(sessionCookie, token, sessionAge)
	v.redirect(next)
	return nil
}

// signOut ends the session in this browser. The token stays valid: other programs may use it.
func (s *Site) signOut(v *visit) error {
	v.forget()
	v.redirect("/")
	return nil
}
