package fleet

import (
	"errors"
	"fmt"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// AddGuest makes a credential for a worker in a NATS cluster that exists, in the account of the
// server, whose credentials are the content of the file creds. seed is the key of that account, or a key that may
// sign for it. AddGuest returns the text of the worker's file, which is kept nowhere, and the public key
// of the user, by which the cluster's tools can revoke it.
func AddGuest(creds, seed []byte, name string) (text []byte, public string, err error) {
	if err := CheckName(name); err != nil {
		return nil, "", err
	}
	if name == Local {
		return nil, "", fmt.Errorf("worker: the name %q is that of the server's own: choose another", name)
	}
	server, _, err := readCreds("--creds", creds)
	if err != nil {
		return nil, "", err
	}
	if server.Name == name {
		return nil, "", fmt.Errorf("worker: the name %q is that of the server's user: choose another", name)
	}
	account := server.Issuer
	if server.IssuerAccount != "" {
		account = server.IssuerAccount
	}
	// A file of the cluster's tools has the key alone, or between lines that say what it is.
	key, err := jwt.ParseDecoratedNKey(seed)
	if err != nil {
		return nil, "", errors.New("account-key: it is not a file with the key of an account: nsc export keys writes one")
	}
	signer, err := key.PublicKey()
	if err != nil || !nkeys.IsValidPublicAccountKey(signer) {
		return nil, "", errors.New("account-key: the key is not that of an account: nsc export keys writes it into a file whose name begins with A")
	}
	u, err := newUser(key, name, workerPermissions(name), func(c *jwt.UserClaims) {
		if signer != account {
			c.IssuerAccount = account
		}
	})
	if err != nil {
		return nil, "", err
	}
	text, err = jwt.FormatUserConfig(u.jwt, u.seed)
	return append(text, certificates(creds)...), u.public, err
}
