package fleet

import (
	"strings"

	"github.com/nats-io/jwt/v2"
)

// Every worker has an account of its own, which imports from the server's what it may use and
// nothing else. Permissions alone would not do: NATS sends its answer to any subject that the
// asker names, with the rights of the account, and an empty answer to "delete the stream" deletes
// it. In the account of a worker there is nothing that such an answer could reach.

// services returns the subjects on which a worker asks; "*" for all workers.
func services(name string) []string {
	return []string{
		resultsSubject(name),
		beatSubject(name),
		"$JS.API.STREAM.INFO." + botsStream,
		"$JS.API.DIRECT.GET." + botsStream,
		"$JS.API.DIRECT.GET." + botsStream + ".>",
	}
}

// apiPrefix is what stands in the account of a worker instead of $JS.API: under that name an account
// has only streams of its own.
const apiPrefix = "timba.API"

// apiTag marks the users in whose accounts apiPrefix is needed.
const apiTag = "timba"

// inWorker returns the name of a service in the account of a worker.
func inWorker(subject string) string {
	if rest, ok := strings.CutPrefix(subject, "$JS.API."); ok {
		return apiPrefix + "." + rest
	}
	return subject
}

// workerPermissions are those of a worker in its account.
func workerPermissions(name string) jwt.UserPermissionLimits {
	var p jwt.UserPermissionLimits
	p.Limits = jwt.Limits{
		UserLimits: jwt.UserLimits{Src: jwt.CIDRList{}, Times: []jwt.TimeRange{}},
		NatsLimits: jwt.NatsLimits{Subs: MaxSubscriptions, Data: jwt.NoLimit, Payload: MaxMessage},
	}
	for _, subject := range services(name) {
		p.Pub.Allow.Add(subject, inWorker(subject))
	}
	p.Sub.Allow = jwt.StringList{inboxPrefix(name) + ".>", jobsSubject(name)}
	p.AllowedConnectionTypes = jwt.StringList{jwt.ConnectionTypeStandard, jwt.ConnectionTypeInProcess}
	return p
}

// serverPermissions are those of the server: all.
func serverPermissions() (p jwt.UserPermissionLimits) {
	p.NatsLimits = jwt.NatsLimits{Subs: jwt.NoLimit, Data: jwt.NoLimit, Payload: jwt.NoLimit}
	return p
}

// serverAccount returns the account with the object store. Only accounts that this server vouches for
// can import what it exports.
func (k *Keys) serverAccount() *jwt.AccountClaims {
	c := jwt.NewAccountClaims(k.public)
	c.Name = "timba"
	c.Limits.JetStreamLimits = jwt.JetStreamLimits{
		MemoryStorage: accountMemory, DiskStorage: MaxBotBytes + 1<<30,
		Streams: 1, Consumer: jwt.NoLimit,
	}
	for _, subject := range services("*") {
		c.Exports.Add(&jwt.Export{Subject: jwt.Subject(subject), Type: jwt.Service, ResponseType: jwt.ResponseTypeSingleton})
	}
	c.Exports.Add(&jwt.Export{Subject: jwt.Subject(jobsSubject("*")), Type: jwt.Stream})
	return c
}

// workerAccount returns the account of a worker. That of one that was removed has no users.
func (k *Keys) workerAccount(w Credential) *jwt.AccountClaims {
	c := jwt.NewAccountClaims(w.Account)
	c.Name = w.Name
	if !w.Removed.IsZero() {
		c.Revoke(jwt.All)
		return c
	}
	c.Limits.Conn = MaxMachineConnections
	c.Limits.Subs = MaxMachineConnections * MaxSubscriptions
	c.Limits.Payload = MaxMessage
	for _, subject := range services(w.Name) {
		c.Imports.Add(&jwt.Import{Subject: jwt.Subject(subject), Account: k.public, Type: jwt.Service, LocalSubject: jwt.RenamingSubject(inWorker(subject))})
	}
	c.Imports.Add(&jwt.Import{Subject: jwt.Subject(jobsSubject(w.Name)), Account: k.public, Type: jwt.Stream})
	return c
}

// removed reports whether an account is of a worker that was removed.
func removed(a *jwt.AccountClaims) bool { return len(a.Revocations) > 0 }

// accounts returns all accounts, the server's first.
func (k *Keys) accounts() ([]*jwt.AccountClaims, error) {
	list, err := k.Workers()
	if err != nil {
		return nil, err
	}
	all := []*jwt.AccountClaims{k.serverAccount()}
	for _, w := range list {
		all = append(all, k.workerAccount(w))
	}
	return all, nil
}
