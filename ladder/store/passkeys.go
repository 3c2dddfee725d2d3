package store

import (
	"context"
	"errors"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// AddPasskey adds a passkey, so that a person can sign in with it. credential is the ID of the passkey. data is a
// JSON document with its public key. label is a note for the person.
func (s Sessions) AddPasskey(ctx context.Context, personID int64, label string, credential, data []byte) error {
	return s.update(ctx, func(tx *Tx) error {
		_, t, err := tx.addToken(ctx, personID, kindPasskey, label, ladder.ScopeAll, time.Time{})
		if err != nil {
			return err
		}
		err = tx.AddPasskey(ctx, t.ID, credential, string(data))
		if isDuplicate(err) {
			return conflict("use another device", "the passkey exists")
		}
		return err
	})
}

// Passkeys returns the JSON documents (data, as in AddPasskey) of the passkeys of a person that are not revoked.
func (s Sessions) Passkeys(ctx context.Context, personID int64) (data [][]byte, err error) {
	rows, err := s.read.PasskeysOf(ctx, personID)
	for _, r := range rows {
		data = append(data, []byte(r.Data))
	}
	return data, machineError(err)
}

// Passkey returns the person who has the passkey with the given credential ID, and its data. It returns an error if the
// passkey is unknown or revoked, or if the person is blocked.
func (s Sessions) Passkey(ctx context.Context, credential []byte) (p ladder.Person, data []byte, err error) {
	p, _, data, err = s.read.passkey(ctx, credential, s.options.Now())
	return p, data, machineError(err)
}

func (tx *Tx) passkey(ctx context.Context, credential []byte, now time.Time) (p ladder.Person, t ladder.Token, data []byte, err error) {
	row, err := tx.Passkey(ctx, credential)
	if err != nil {
		return p, t, nil, ifNoRows(err, ladder.Errorf(ladder.Unauthorized, ladder.HintSignIn, "the passkey is not valid"))
	}
	p, t = person(row.Person), token(row.Token)
	return p, t, []byte(row.Passkey.Data), checkToken(p, t, now)
}

// SignInByPasskey is like SignIn, but signs in the owner of the passkey whose ID is credential. The caller must have
// checked the passkey's signature. data replaces the JSON document of the passkey, because the count of uses in it
// has changed.
func (s Sessions) SignInByPasskey(ctx context.Context, credential, data []byte, guest int64) (key string, err error) {
	err = s.update(ctx, func(tx *Tx) error {
		p, t, _, err := tx.passkey(ctx, credential, tx.now)
		if err != nil {
			return err
		}
		err = errors.Join(tx.SetPasskey(ctx, string(data), t.ID), tx.UseToken(ctx, nullStamp(tx.now), t.ID))
		if err != nil {
			return err
		}
		key, _, err = tx.setSession(ctx, queries.SetSessionParams{
			ID: nullID(guest), PersonID: nullID(p.ID), TokenID: nullID(t.ID), Expires: stamp(tx.now.Add(SessionTime)),
		}, MaxSessions)
		return err
	})
	return key, err
}
