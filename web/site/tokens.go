package site

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/timba-arena/timba/ladder"
)

type tokensPage struct {
	Valid    []ladder.Token // the tokens that are neither revoked nor expired
	Label    string         // the chosen label of a new token
	Scope    ladder.Scope
	Days     string // the chosen number of days until it expires
	NewToken string // the text of a new token; it is shown only once
}

// scopes are the scopes that a new token can have.
var scopes = []ladder.Scope{ladder.ScopeSubmit, ladder.ScopeRead, ladder.ScopeAll}

// expiries are the numbers of days that visitors can choose for the expiry of a token or an invite.
var expiries = []int{1, 7, 30, 90, 365}

func (s *Site) getTokens(v *visit) error {
	return s.showTokens(v, http.StatusOK, tokensPage{Days: "90"}, nil)
}

func (s *Site) showTokens(v *visit, status int, page tokensPage, refused error) error {
	all, err := s.Service.Tokens(v.ctx(), v.Actor)
	if err != nil {
		return err
	}
	now := s.Service.Now()
	page.Valid = slices.DeleteFunc(all, func(t ladder.Token) bool {
		return !t.RevokedAt.IsZero() || !t.ExpiresAt.IsZero() && !t.ExpiresAt.After(now)
	})
	if page.NewToken != "" {
		v.w.Header().Set("Cache-Control", "no-store")
	}
	return v.showForm(status, "tokens", page, refused)
}

func (s *Site) postToken(v *visit) error {
	page := tokensPage{Days: v.field("days"), Label: v.field("label"), Scope: ladder.Scope(v.field("scope"))}
	expires, err := v.expiry(page.Days)
	if err == nil {
		page.NewToken, _, err = s.Service.AddToken(v.ctx(), v.Actor, page.Label, page.Scope, expires)
	}
	return s.showTokens(v, http.StatusCreated, page, err)
}

// expiry returns the time that is the given number of days from now; days is the value of a form field. For
// "" it returns the zero time, which means that nothing expires.
func (v *visit) expiry(days string) (time.Time, error) {
	if days == "" {
		return time.Time{}, nil
	}
	n, err := strconv.Atoi(days)
	if err != nil || !slices.Contains(expiries, n) {
		return time.Time{}, ladder.Errorf(ladder.Invalid, "", "expiry cannot be %q days", ladder.Clip(days))
	}
	return v.site.Service.Now().Add(time.Duration(n) * 24 * time.Hour), nil
}
