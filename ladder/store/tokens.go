package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// A key (the text of a token, a link to sign in, an invite or a session) consists of a prefix, a public part by which it is
// found, and a secret. The last two are random, with 26 letters and digits (130 bits) each. Only the SHA-256
// of the whole text is stored; a random key of this length needs neither a salt nor a slow hash.
const (
	tokenPrefix  = "timba_"
	linkPrefix   = "signin_"
	invitePrefix = "invite_"

	publicLength = 26
	secretLength = 26
)

type key struct {
	text   string
	public string
	hash   [sha256.Size]byte
}

func newKey(prefix string) key {
	k, _ := parseKey(prefix, prefix+rand.Text()+rand.Text())
	return k
}

// parseKey parses the text of a key that begins with prefix. ok is false if the text does not have the form of a key.
func parseKey(prefix, text string) (k key, ok bool) {
	random, ok := strings.CutPrefix(text, prefix)
	if !ok || len(random) != publicLength+secretLength {
		return key{}, false
	}
	return key{text: text, public: random[:publicLength], hash: sha256.Sum256([]byte(text))}, true
}

func (k key) hasHash(hash []byte) bool { return subtle.ConstantTimeCompare(k.hash[:], hash) == 1 }

const maxTokenLabel = 80

// MaxTokens limits the valid tokens of a person.
const MaxTokens = 100

// AddToken creates a token for a person and returns its text. Only a hash of the text is stored. label is a note for
// the owner. If expires is zero, the token does not expire.
func (s Sessions) AddToken(ctx context.Context, personID int64, label string, scope ladder.Scope, expires time.Time) (text string, t ladder.Token, err error) {
	err = s.update(ctx, func(tx *Tx) error {
		text, t, err = tx.addToken(ctx, personID, kindToken, label, scope, expires)
		return err
	})
	return text, t, err
}

func (tx *Tx) addToken(ctx context.Context, personID int64, kind, label string, scope ladder.Scope, expires time.Time) (string, ladder.Token, error) {
	switch scope {
	case ladder.ScopeRead, ladder.ScopeSubmit, ladder.ScopeAll:
	default:
		return "", ladder.Token{}, invalid("try read, submit or all", "the scope of a token cannot be %q", scope)
	}
	if !ladder.IsLine(label, maxTokenLabel) {
		return "", ladder.Token{}, invalid("try one line of at most 80 bytes of visible characters", "the label of a token cannot be %q", label)
	}
	if !expires.IsZero() && !expires.After(tx.now) {
		return "", ladder.Token{}, invalid("name a time to come", "a token cannot expire at %s", expires.UTC().Format(time.RFC3339))
	}
	if _, err := tx.person(ctx, personID); err != nil {
		return "", ladder.Token{}, err
	}
	valid, err := tx.CountTokens(ctx, personID, nullStamp(tx.now))
	if err != nil {
		return "", ladder.Token{}, err
	}
	if valid >= MaxTokens {
		return "", ladder.Token{}, conflict(ladder.HintRevoke, "the limit is %d tokens", MaxTokens)
	}
	k := newKey(tokenPrefix)
	row, err := tx.AddToken(ctx, queries.AddTokenParams{
		PersonID: personID, Public: k.public, Hash: k.hash[:], Label: label, Kind: kind, Scope: string(scope), Created: stamp(tx.now), Expires: nullStamp(expires),
	})
	return k.text, token(row), err
}

// The kinds of tokens. A token of kindLink is the secret text in a link, with which a person can sign in once.
const (
	kindToken   = "token"
	kindLink    = "link"
	kindPasskey = "passkey"
)

// LinkTime is how long a link to sign in can be used after its creation.
const LinkTime = 24 * time.Hour

// AddLink creates a link with which a person can sign in once, within LinkTime. text is the secret part of the link;
// only a hash of it is stored. Earlier links of the person become invalid. label says who has created the link.
func (s Sessions) AddLink(ctx context.Context, personID int64, label string) (text string, expires time.Time, err error) {
	k := newKey(linkPrefix)
	err = s.update(ctx, func(tx *Tx) error {
		p, err := tx.person(ctx, personID)
		if err != nil {
			return err
		}
		expires = tx.now.Add(LinkTime)
		if err := checkToken(person(p), ladder.Token{}, tx.now); err != nil {
			return err
		}
		if err := tx.RevokeLinks(ctx, nullStamp(tx.now), personID); err != nil {
			return err
		}
		_, err = tx.AddToken(ctx, queries.AddTokenParams{
			PersonID: personID, Public: k.public, Hash: k.hash[:], Label: label, Kind: kindLink, Scope: string(ladder.ScopeAll), Created: stamp(tx.now), Expires: nullStamp(expires),
		})
		return err
	})
	return k.text, expires, err
}

// link returns the link to sign in that has the given secret text, and the person whom it signs in. It returns an error
// if the link is not valid, or has been used.
func (tx *Tx) link(ctx context.Context, text string, now time.Time) (p ladder.Person, t ladder.Token, err error) {
	refused := ladder.Errorf(ladder.Unauthorized, ladder.HintNewLink, "the link is not valid")
	k, ok := parseKey(linkPrefix, text)
	if !ok {
		return p, t, refused
	}
	row, err := tx.TokenByPublic(ctx, k.public)
	if err != nil {
		return p, t, ifNoRows(err, refused)
	}
	p, t = person(row.Person), token(row.Token)
	switch {
	case !k.hasHash(row.Token.Hash):
		return p, t, refused
	case !t.RevokedAt.IsZero():
		return p, t, ladder.Errorf(ladder.Unauthorized, ladder.HintNewLink, "a later link has replaced this one, or it was revoked")
	case !t.UsedAt.IsZero():
		return p, t, ladder.Errorf(ladder.Unauthorized, ladder.HintNewLink, "the link has been used")
	case !t.ExpiresAt.After(now):
		return p, t, ladder.Errorf(ladder.Unauthorized, ladder.HintNewLink, "the link has expired")
	}
	return p, t, checkToken(p, t, now)
}

// useInterval is how exactly the time of last use of tokens and sessions is stored.
const useInterval = time.Minute

// Authenticate returns the token with the given text and its owner. It returns an error if the token is
// unknown, revoked or expired, or if its owner is blocked.
func (s Sessions) Authenticate(ctx context.Context, text string) (ladder.Person, ladder.Token, error) {
	now := s.options.Now()
	p, t, err := s.read.authenticate(ctx, text, now)
	if err != nil {
		return ladder.Person{}, ladder.Token{}, machineError(err)
	}
	if now.Sub(t.UsedAt) >= useInterval && !s.options.ReadOnly {
		// Errors are ignored, so that a full disk locks nobody out.
		if err := s.update(ctx, func(tx *Tx) error { return tx.UseToken(ctx, nullStamp(now), t.ID) }); err == nil {
			t.UsedAt = now
		}
	}
	return p, t, nil
}

func (tx *Tx) authenticate(ctx context.Context, text string, now time.Time) (p ladder.Person, t ladder.Token, err error) {
	refused := ladder.Errorf(ladder.Unauthorized, ladder.HintSignIn, "the token is not valid")
	k, ok := parseKey(tokenPrefix, text)
	if !ok {
		return p, t, refused
	}
	row, err := tx.TokenByPublic(ctx, k.public)
	if err != nil {
		return p, t, ifNoRows(err, refused)
	}
	p, t = person(row.Person), token(row.Token)
	if !k.hasHash(row.Token.Hash) {
		return p, t, refused
	}
	return p, t, checkToken(p, t, now)
}

// checkToken returns an error unless the token of person p is valid.
func checkToken(p ladder.Person, t ladder.Token, now time.Time) error {
	switch {
	case !t.RevokedAt.IsZero():
		return ladder.Errorf(ladder.Unauthorized, ladder.HintSignIn, "the token has been revoked")
	case !t.ExpiresAt.IsZero() && !t.ExpiresAt.After(now):
		return ladder.Errorf(ladder.Unauthorized, ladder.HintSignIn, "the token has expired")
	case !p.BlockedAt.IsZero():
		return ladder.Errorf(ladder.Forbidden, "ask the operator", "person %q is blocked", p.Name)
	}
	return nil
}

// Tokens returns the tokens of a person, including revoked ones.
func (s Sessions) Tokens(ctx context.Context, personID int64) ([]ladder.Token, error) {
	rows, err := s.read.TokensOf(ctx, personID)
	return convertRows(rows, token), machineError(err)
}

// RevokeToken revokes a token of a person and ends the sessions that were started with it. It returns an error if the
// person would then have no valid token with all rights. Such a token is needed to sign in and to make other tokens.
func (s Sessions) RevokeToken(ctx context.Context, personID, id int64) error {
	return s.update(ctx, func(tx *Tx) error {
		if t, err := tx.Token(ctx, id); err == nil && t.Person.ID == personID && t.Token.Scope == string(ladder.ScopeAll) && checkToken(person(t.Person), token(t.Token), tx.now) == nil {
			others, err := tx.CountOtherKeys(ctx, personID, id, nullStamp(tx.now))
			if err != nil {
				return err
			}
			if others == 0 {
				return conflict(ladder.HintLastKey, "token %d is the only one that opens your account", id)
			}
		}
		n, err := tx.RevokeToken(ctx, nullStamp(tx.now), id, personID)
		if err == nil && n == 0 {
			return notFound("", "token %d does not exist", id)
		}
		if err != nil {
			return err
		}
		tx.addEvent(events.Event{Kind: events.AccessEnded, Person: personID})
		return tx.EndSessionsBy(ctx, nullID(id))
	})
}

// ResetTokens revokes all tokens of a person, ends the person's sessions, and returns the text of a new token
// with all rights. label is a note for the owner.
func (s Sessions) ResetTokens(ctx context.Context, personID int64, label string) (text string, err error) {
	err = s.update(ctx, func(tx *Tx) error {
		if err := tx.RevokeTokensOf(ctx, nullStamp(tx.now), personID); err != nil {
			return err
		}
		if err := tx.EndSessionsOf(ctx, nullID(personID), 0); err != nil {
			return err
		}
		tx.addEvent(events.Event{Kind: events.AccessEnded, Person: personID})
		text, _, err = tx.addToken(ctx, personID, kindToken, label, ladder.ScopeAll, time.Time{})
		return err
	})
	return text, err
}
