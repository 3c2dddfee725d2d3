package cluster

import (
	"errors"
	"fmt"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// Every worker has an account of its own, which imports only the subjects that the worker may use. Permissions alone
// would not suffice: NATS sends an answer to any subject that the requester names, with the rights of the account. In
// the account of a worker no other client can receive this answer.

// requestSubjects returns the NATS subjects for the requests of the worker called name. The name "*" stands for all
// workers.
func requestSubjects(name string) []string {
	return []string{machinesSubject(name), filesSubject(name), resultsSubject(name)}
}

// workerPermissions returns the NATS permissions of the worker called name.
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

func serverPermissions() (p jwt.UserPermissionLimits) {
	p.NatsLimits = jwt.NatsLimits{Subs: jwt.NoLimit, Data: jwt.NoLimit, Payload: jwt.NoLimit}
	return p
}

// serverAccount returns the NATS account of the server. It exports the subjects that workers use. Only accounts
// that the same operator has signed can import these subjects.
func (k *Keys) serverAccount() *jwt.AccountClaims {
	c := jwt.NewAccountClaims(k.publicKey)
	c.Name = "timba"
	for _, subject := range requestSubjects("*") {
		c.Exports.Add(&jwt.Export{Subject: jwt.Subject(subject), Type: jwt.Service, ResponseType: jwt.ResponseTypeSingleton})
	}
	c.Exports.Add(&jwt.Export{Subject: jwt.Subject(jobsSubject("*")), Type: jwt.Stream})
	return c
}

// workerAccount returns the NATS account of a worker. If w was removed, the account has no valid users.
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

// NewGuestCredential creates a credential with which a worker called name can use an existing NATS cluster. The
// worker becomes a new user of the server's account.
//
// creds is the content of the server's credentials file. seed is the key of the server's account, or a key that may
// sign for it. text is the content of the new credentials file, which is not stored. public is the public key of the
// new user, with which the tools of the cluster can revoke the user.
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
	// The tools of the cluster write the key alone, or between lines that describe it.
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
