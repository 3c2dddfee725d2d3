package cluster

import (
	"errors"
	"fmt"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// Every worker has an account of its own, which imports from the server's what it may use and
// nothing else. Permissions alone would not do: NATS sends its answer to any subject that the
// asker names, with the rights of the account. In the account of a worker there is nothing that such an
// answer could reach.

// requestSubjects returns the subjects on which a worker asks; "*" for all workers.
func requestSubjects(name string) []string {
	return []string{machinesSubject(name), filesSubject(name), resultsSubject(name)}
}

// workerPermissions are those of a worker in its account.
func workerPermissions(name string) jwt.UserPermissionLimits {
	var p jwt.UserPermissionLimits
	p.Limits = jwt.Limits{
		UserLimits: jwt.UserLimits{Src: jwt.CIDRList{}, Times: []jwt.TimeRange{}},
		NatsLimits: jwt.NatsLimits{Subs: MaxSubscriptions, Data: jwt.NoLimit, Payload: MaxMessage},
	}
	p.Pub.Allow = requestSubjects(name)
	p.Sub.Allow = jwt.StringList{inboxPrefix(name) + ".>", jobsSubject(name)}
	p.AllowedConnectionTypes = jwt.StringList{jwt.ConnectionTypeStandard, jwt.ConnectionTypeInProcess}
	return p
}

// serverPermissions are those of the server: all.
func serverPermissions() (p jwt.UserPermissionLimits) {
	p.NatsLimits = jwt.NatsLimits{Subs: jwt.NoLimit, Data: jwt.NoLimit, Payload: jwt.NoLimit}
	return p
}

// serverAccount returns the account of the server. Only accounts that it vouches for can import what it
// exports.
func (k *Keys) serverAccount() *jwt.AccountClaims {
	c := jwt.NewAccountClaims(k.publicKey)
	c.Name = "timba"
	for _, subject := range requestSubjects("*") {
		c.Exports.Add(&jwt.Export{Subject: jwt.Subject(subject), Type: jwt.Service, ResponseType: jwt.ResponseTypeSingleton})
	}
	c.Exports.Add(&jwt.Export{Subject: jwt.Subject(jobsSubject("*")), Type: jwt.Stream})
	return c
}

// workerAccount returns the account of a worker. That of one that was removed has no users.
func (k *Keys) workerAccount(w Credential) *jwt.AccountClaims {
	c := jwt.NewAccountClaims(w.Account)
	c.Name = w.Name
	if !w.RemovedAt.IsZero() {
		c.Revoke(jwt.All)
		return c
	}
	c.Limits.Conn = MaxMachineConnections
	c.Limits.Subs = MaxMachineConnections * MaxSubscriptions
	c.Limits.Payload = MaxMessage
	for _, subject := range requestSubjects(w.Name) {
		c.Imports.Add(&jwt.Import{Subject: jwt.Subject(subject), Account: k.publicKey, Type: jwt.Service})
	}
	c.Imports.Add(&jwt.Import{Subject: jwt.Subject(jobsSubject(w.Name)), Account: k.publicKey, Type: jwt.Stream})
	return c
}

// NewGuestCredential makes a credential for a worker in a NATS cluster that exists, in the account of the
// server, whose credentials are the content of the file creds. seed is the key of that account, or a key that may
// sign for it. AddGuest returns the text of the worker's file, which is kept nowhere, and the public key
// of the user, by which the cluster's tools can revoke it.
func NewGuestCredential(creds, seed []byte, name string) (text []byte, public string, err error) {
	if err := checkName(name); err != nil {
		return nil, "", err
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
	return append(text, certificatesIn(creds)...), u.public, err
}
