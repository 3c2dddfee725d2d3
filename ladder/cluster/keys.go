package cluster

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
	renameio "github.com/google/renameio/v2/maybe"
	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// Keys has the secrets with which a server gives credentials to workers: the key of its NATS account, its
// certificate and the list of workers. They are files in a directory that only its owner can read.
type Keys struct {
	dir         string
	account     nkeys.KeyPair
	publicKey   string          // of account
	certificate tls.Certificate // for workers, if the operator gives none
}

// Credential is an entry in the list of workers.
type Credential struct {
	Name      string    `json:"name"`    // of the worker
	Account   string    `json:"account"` // public key of its NATS account
	AddedAt   time.Time `json:"added"`
	RemovedAt time.Time `json:"removed,omitzero"` // zero while it is valid
}

// OpenKeys opens the keys in dir and creates those that are missing.
func OpenKeys(dir string) (*Keys, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	k := &Keys{dir: dir}
	unlock, err := k.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	if k.account, err = openSeed(filepath.Join(dir, "account.key")); err != nil {
		return nil, err
	}
	if k.publicKey, err = k.account.PublicKey(); err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	k.certificate, err = openCertificate(filepath.Join(dir, "certificate.pem"))
	return k, err
}

// lock waits until no other process holds the lock of the directory, and then acquires it. The caller must call
// unlock.
func (k *Keys) lock() (unlock func() error, err error) {
	l := flock.New(filepath.Join(k.dir, "lock"), flock.SetPermissions(0o600))
	if err := l.Lock(); err != nil {
		return nil, fmt.Errorf("fleet: locking the keys: %w", err)
	}
	return l.Close, nil
}

// openSeed reads the key of a NATS account from the file path. If the file does not exist, it creates a key and
// the file.
func openSeed(path string) (nkeys.KeyPair, error) {
	seed, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		pair, err := nkeys.CreateAccount()
		if err != nil {
			return nil, fmt.Errorf("fleet: %w", err)
		}
		if seed, err = pair.Seed(); err != nil {
			return nil, fmt.Errorf("fleet: %w", err)
		}
		return pair, writeSecret(path, seed)
	}
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	pair, err := nkeys.FromSeed(seed)
	if err != nil {
		return nil, fmt.Errorf("fleet: %s is not a key (%w): delete it, and give all workers new credentials", path, err)
	}
	return pair, nil
}

// writeSecret writes a file that only its owner can read, completely or not at all.
func writeSecret(path string, data []byte) error {
	if err := renameio.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("fleet: %w", err)
	}
	return nil
}

func (k *Keys) listPath() string { return filepath.Join(k.dir, "workers.json") }

// Workers returns all credentials, including the removed ones, in the order in which they were added.
func (k *Keys) Workers() ([]Credential, error) {
	data, err := os.ReadFile(k.listPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	var list []Credential
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("fleet: %s: %w", k.listPath(), err)
	}
	return list, nil
}

// updateList replaces the list of workers by the result of edit, which receives the current list. If edit
// returns an error, nothing changes.
func (k *Keys) updateList(edit func([]Credential) ([]Credential, error)) error {
	unlock, err := k.lock()
	if err != nil {
		return err
	}
	defer unlock()
	list, err := k.Workers()
	if err != nil {
		return err
	}
	if list, err = edit(list); err != nil {
		return err
	}
	data, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		return fmt.Errorf("fleet: %w", err)
	}
	return writeSecret(k.listPath(), append(data, '\n'))
}

func validIndex(list []Credential, name string) int {
	return slices.IndexFunc(list, func(c Credential) bool { return c.Name == name && c.RemovedAt.IsZero() })
}

// Add creates a credential for a worker called name. It returns the content of the credentials file, which the
// server does not store. If a valid credential for that name exists, it returns an error.
func (k *Keys) Add(name string) (creds []byte, err error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	account, err := nkeys.CreateAccount() // its key is discarded, so it can never have another user
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	public, err := account.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	user, err := newUser(account, name, workerPermissions(name))
	if err != nil {
		return nil, err
	}
	err = k.updateList(func(list []Credential) ([]Credential, error) {
		if validIndex(list, name) >= 0 {
			return nil, fmt.Errorf("worker: %q exists: remove it first, or choose another name", name)
		}
		return append(list, Credential{Name: name, Account: public, AddedAt: time.Now().UTC().Truncate(time.Second)}), nil
	})
	if err != nil {
		return nil, err
	}
	creds, err = jwt.FormatUserConfig(user.jwt, user.seed)
	return append(creds, certificatePEM(k.certificate.Certificate[0])...), err
}

// Remove makes the valid credential of the worker called name invalid forever. The name can be used again.
func (k *Keys) Remove(name string) error {
	return k.updateList(func(list []Credential) ([]Credential, error) {
		i := validIndex(list, name)
		if i < 0 {
			return nil, fmt.Errorf("worker: there is none with the name %q: timba admin worker list shows all", name)
		}
		list[i].RemovedAt = time.Now().UTC().Truncate(time.Second)
		return list, nil
	})
}

// user is a new NATS user.
type user struct {
	public, jwt string
	seed        []byte
}

// newUser creates a NATS user called name, with the given permissions, in an account. The functions in change
// can edit the user's claims before these are signed.
func newUser(account nkeys.KeyPair, name string, permissions jwt.UserPermissionLimits, change ...func(*jwt.UserClaims)) (u user, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return u, fmt.Errorf("fleet: %w", err)
	}
	if u.public, err = pair.PublicKey(); err != nil {
		return u, fmt.Errorf("fleet: %w", err)
	}
	if u.seed, err = pair.Seed(); err != nil {
		return u, fmt.Errorf("fleet: %w", err)
	}
	claims := jwt.NewUserClaims(u.public)
	claims.Name = name
	claims.UserPermissionLimits = permissions
	for _, f := range change {
		f(claims)
	}
	if u.jwt, err = claims.Encode(account); err != nil {
		return u, fmt.Errorf("fleet: %w", err)
	}
	return u, nil
}

// ReadAddTimes returns when each worker with a valid credential was added, by the worker's name. It reads the
// list of workers in dir and changes nothing.
func ReadAddTimes(dir string) (map[string]time.Time, error) {
	list, err := (&Keys{dir: dir}).Workers()
	if err != nil {
		return nil, err
	}
	added := map[string]time.Time{}
	for _, c := range list {
		if c.RemovedAt.IsZero() {
			added[c.Name] = c.AddedAt
		}
	}
	return added, nil
}
