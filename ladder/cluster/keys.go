package cluster

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
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

	"github.com/timba-arena/timba/ladder/datadir"
)

// Keys has the secrets with which a server gives credentials to workers: the key of its NATS account, its
// certificate and the list of workers. They are files that only their owner can read, in a directory of the data
// directory of the competition. Files that root writes belong to the owner of the competition's database, because
// the server of another user must be able to read them.
type Keys struct {
	dir         string // in the data directory
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

// OpenKeys opens the keys in dir, the directory "fleet" of a data directory, and creates those that are missing.
func OpenKeys(dir string) (*Keys, error) {
	k := &Keys{dir: dir}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, keysError(err)
	}
	if err := k.giveToOwner(dir); err != nil {
		return nil, err
	}
	unlock, err := k.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	if k.account, err = k.openSeed(filepath.Join(dir, "account.key")); err != nil {
		return nil, err
	}
	if k.publicKey, err = k.account.PublicKey(); err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	k.certificate, err = k.openCertificate(filepath.Join(dir, "certificate.pem"))
	return k, err
}

// keysError wraps err, which occurred while a file of the keys was read or written. If a permission is missing, the
// result names the owner of the file and what to try.
func keysError(err error) error { return fmt.Errorf("fleet: %w", datadir.ExplainDenied(err)) }

// giveToOwner makes the owner of the competition's database the owner of path, a file or directory that this process
// has made. It does nothing unless root runs the process.
func (k *Keys) giveToOwner(path string) error {
	if err := datadir.Dir(filepath.Dir(k.dir)).GiveToOwner(path); err != nil {
		return keysError(err)
	}
	return nil
}

// lock waits until no other process holds the lock of the directory, and then acquires it. The caller must call
// unlock.
func (k *Keys) lock() (unlock func() error, err error) {
	path := filepath.Join(k.dir, "lock")
	l := flock.New(path, flock.SetPermissions(0o600))
	if err := l.Lock(); err != nil {
		return nil, keysError(err)
	}
	if err := k.giveToOwner(path); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l.Close, nil
}

// openSeed reads the key of a NATS account from the file at path. If the file does not exist, it creates a key and
// the file.
func (k *Keys) openSeed(path string) (nkeys.KeyPair, error) {
	seed, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		pair, err := nkeys.CreateAccount()
		if err != nil {
			return nil, fmt.Errorf("fleet: %w", err)
		}
		if seed, err = pair.Seed(); err != nil {
			return nil, fmt.Errorf("fleet: %w", err)
		}
		return pair, k.writeSecret(path, seed)
	}
	if err != nil {
		return nil, keysError(err)
	}
	pair, err := nkeys.FromSeed(seed)
	if err != nil {
		return nil, fmt.Errorf("fleet: %s is not a key (%w): delete it, and give all workers new credentials", path, err)
	}
	return pair, nil
}

// writeSecret writes data to the file at path, completely or not at all. Only the owner of the competition's database
// can read the file. The caller must have called lock.
func (k *Keys) writeSecret(path string, data []byte) error {
	next := path + ".new" // a server that reads path must not find the file of another user there
	if err := renameio.WriteFile(next, data, 0o600); err != nil {
		return keysError(err)
	}
	if err := k.giveToOwner(next); err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return keysError(err)
	}
	return nil
}

func listPath(dir string) string { return filepath.Join(dir, "workers.json") }

// ReadWorkers returns the credentials of all workers, including removed ones, in the order in which they were added.
// dir is the directory "fleet" of a data directory. Without a list in dir, the result is empty.
func ReadWorkers(dir string) ([]Credential, error) {
	list, _, err := readWorkers(dir)
	return list, err
}

// readWorkers returns the result of ReadWorkers for dir, and the hash of the file with the list: its SHA-256 in
// hexadecimal, or "" if there is no file.
func readWorkers(dir string) (list []Credential, hash string, err error) {
	data, err := os.ReadFile(listPath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", keysError(err)
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, "", fmt.Errorf("fleet: %s is not a list of workers (%w): restore it, or delete it and give all workers new credentials", listPath(dir), err)
	}
	sum := sha256.Sum256(data)
	return list, hex.EncodeToString(sum[:]), nil
}

// appliedPath returns the path of a file that the server locks while it accepts workers. The file contains the hash
// of the list of workers that the server applied last. readWorkers computes this hash.
func (k *Keys) appliedPath() string { return filepath.Join(k.dir, "applied") }

// appliedInterval is how often AwaitServer checks whether the server has applied the list of workers.
const appliedInterval = 50 * time.Millisecond

// AwaitServer waits until the running server has applied the current list of workers. If no server that uses the keys
// is running, it returns at once. If ctx ends first, the error tells the operator to see the server's log.
func (k *Keys) AwaitServer(ctx context.Context) error {
	for {
		l := flock.New(k.appliedPath(), flock.SetFlag(os.O_RDONLY))
		unused, err := l.TryLock()
		if l.Close(); unused || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return keysError(err)
		}
		_, hash, err := readWorkers(k.dir)
		if err != nil {
			return err
		}
		if applied, err := os.ReadFile(k.appliedPath()); err == nil && string(applied) == hash {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.New("it is removed from the list, but the running server has not applied the list: see its log")
		case <-time.After(appliedInterval):
		}
	}
}

// updateList replaces the list of workers by the result of edit, which receives the current list. If edit
// returns an error, nothing changes.
func (k *Keys) updateList(edit func([]Credential) ([]Credential, error)) error {
	unlock, err := k.lock()
	if err != nil {
		return err
	}
	defer unlock()
	list, err := ReadWorkers(k.dir)
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
	return k.writeSecret(listPath(k.dir), append(data, '\n'))
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

// newUser creates a NATS user called name, with the given permissions, in an account. The change functions can edit
// the user's claims before these are signed.
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
	list, err := ReadWorkers(dir)
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
