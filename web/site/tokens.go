package site

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/timba-arena/timba/ladder"
)

type tokensPage struct {
	Valid   []ownToken
	Label   string // the chosen label of a new token
	Scope   ladder.Scope
	Days    string   // the chosen number of days until it expires
	NewKeys []string // the texts of tokens that this session has just made
}

// ownToken is a token of the visitor that is neither revoked nor expired.
type ownToken struct {
	ladder.Token
	Sessions int  // how many sessions end if the token is revoked
	Last     bool // no other token has all rights, so this one cannot be revoked
}

// ownTokens returns the visitor's tokens that can still be used.
func (v *visit) ownTokens() (list []ownToken, err error) {
	all, err := v.site.Service.Tokens(v.ctx(), v.Actor)
	if err != nil {
		return nil, err
	}
	sessions, err := v.site.Service.Sessions(v.ctx(), v.Actor)
	if err != nil {
		return nil, err
	}
	now, keys := v.site.Service.Now(), 0 // keys are tokens with all rights
	for _, t := range all {
		if !t.RevokedAt.IsZero() || !t.ExpiresAt.IsZero() && !t.ExpiresAt.After(now) {
			continue
		}
		own := ownToken{Token: t}
		for _, x := range sessions {
			if x.Token == t.ID {
				own.Sessions++
			}
		}
		if t.Scope == ladder.ScopeAll {
			keys++
		}
		list = append(list, own)
	}
	for i, t := range list {
		list[i].Last = t.Scope == ladder.ScopeAll && keys == 1
	}
	return list, nil
}

// scopes are the scopes that a new token can have.
var scopes = []ladder.Scope{ladder.ScopeSubmit, ladder.ScopeRead, ladder.ScopeAll}

// expiries are the numbers of days that visitors can choose for the expiry of a token or an invite.
var expiries = []int{1, 7, 30, 90, 365}

func (s *Site) getTokens(v *visit) error {
	return s.showTokens(v, tokensPage{Days: "90"}, nil)
}

func (s *Site) showTokens(v *visit, page tokensPage, refused error) (err error) {
	if page.Valid, err = v.ownTokens(); err != nil {
		return err
	}
	for _, x := range v.secretsOf("tokens") {
		if slices.ContainsFunc(page.Valid, func(t ownToken) bool { return t.ID == x.id }) {
			page.NewKeys = append(page.NewKeys, x.text)
		}
	}
	return v.showForm(http.StatusOK, "tokens", page, refused)
}

func (s *Site) postToken(v *visit) error {
	page := tokensPage{Days: v.field("days"), Label: v.field("label"), Scope: ladder.Scope(v.field("scope"))}
	expires, err := v.expiry(page.Days)
	var text string
	var made ladder.Token
	if err == nil {
		text, made, err = s.Service.AddToken(v.ctx(), v.Actor, page.Label, page.Scope, expires)
	}
	if err != nil {
		return s.showTokens(v, page, err)
	}
	s.keepSecret(v.Session, secret{page: "tokens", id: made.ID, text: text})
	return v.redirect("/account/tokens")
}

// expiry returns the time after the given number of days from now. days is the value of a form field. If it is "",
// expiry returns the zero time, which means that nothing expires.
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
