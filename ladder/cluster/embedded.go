package cluster

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/jwt/v2"
	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// embeddedServer is a NATS server in this process, to which workers and the dispatcher connect.
type embeddedServer struct {
	*natsserver.Server
	accounts accounts
	log      *slog.Logger
	listLock *flock.Flock // lock of Keys.appliedPath, held while the server runs

	// The state of reload, which only one goroutine may call.
	isLoaded bool        // reload was called
	listInfo os.FileInfo // of the list when reload last read it; nil if there was none
	failure  string      // why the list cannot be read; empty if it can
}

// accounts finds NATS accounts for the embedded server: the account of the timba server, and the accounts in
// the list of workers.
type accounts struct {
	natsserver.MemAccResolver
	keys     *Keys
	operator nkeys.KeyPair // signs all accounts; new in each run, because the list of workers decides which are valid

	mu      sync.Mutex
	workers map[string]bool // accounts of workers that NATS has asked for, and whether they may connect
}

// readyTime is the longest time that the embedded server may take to start. It is also the timeout for opening
// a connection from within this process.
const readyTime = time.Minute

// startEmbedded starts a NATS server in this process. listen is the address for workers; if it is empty, only
// this process can connect. If certificate is nil, the certificate in keys is used.
func startEmbedded(keys *Keys, listen string, certificate *tls.Certificate, log *slog.Logger) (*embeddedServer, error) {
	e := &embeddedServer{log: log}
	e.accounts.keys, e.accounts.workers = keys, map[string]bool{}
	o, err := e.options(listen, certificate)
	if err != nil {
		return nil, err
	}
	if e.Server, err = natsserver.NewServer(o); err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	e.Server.SetLoggerV2(natsLog{log}, false, false, false)
	e.listLock = flock.New(keys.appliedPath(), flock.SetPermissions(0o600))
	if err := e.listLock.RLock(); err != nil {
		return nil, keysError(err)
	}
	e.reload()
	e.Start()
	if !e.ReadyForConnections(readyTime) {
		e.close()
		return nil, errors.New("nats: the server in this process does not start: see the log")
	}
	return e, nil
}

// close stops the NATS server, waits until it has stopped, and releases listLock.
func (e *embeddedServer) close() {
	e.Shutdown()
	e.WaitForShutdown()
	e.listLock.Close()
}

func (e *embeddedServer) options(listen string, certificate *tls.Certificate) (*natsserver.Options, error) {
	o := &natsserver.Options{
		ServerName: "timba", DontListen: listen == "", NoSigs: true,
		MaxPayload: MaxMessage, MaxPending: MaxPending, MaxConn: MaxConnections, WriteDeadline: 10 * time.Second, AuthTimeout: authTime.Seconds(),
		PingInterval: serverPing, MaxPingsOut: 2, DisableShortFirstPing: true,
		LameDuckDuration: time.Second, LameDuckGracePeriod: time.Second / 2,
	}
	if listen != "" {
		host, port, err := net.SplitHostPort(listen)
		if err != nil {
			return nil, fmt.Errorf("cluster: %q is not an address: try one such as 0.0.0.0:4222", listen)
		}
		if o.Port, err = strconv.Atoi(port); err != nil || o.Port < 0 || o.Port > 65535 {
			return nil, fmt.Errorf("cluster: the port %q is not a number up to 65535: try 4222", port)
		}
		if o.Port == 0 {
			o.Port = natsserver.RANDOM_PORT
		}
		if o.Host = host; host == "" {
			o.Host = "0.0.0.0"
		}
		o.TLS, o.TLSTimeout = true, 10
		certificate = cmp.Or(certificate, &e.accounts.keys.certificate)
		o.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS13}
	}
	return o, e.trust(o)
}

// trust creates an operator key, and sets options in o that make the NATS server accept the accounts that this key
// signs. It signs the accounts of the timba server and of the workers.
func (e *embeddedServer) trust(o *natsserver.Options) (err error) {
	operator, err := nkeys.CreateOperator()
	if err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	public, err := operator.PublicKey()
	if err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	system, err := nkeys.CreateAccount()
	if err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	if o.SystemAccount, err = system.PublicKey(); err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	claims := jwt.NewOperatorClaims(public)
	claims.SystemAccount = o.SystemAccount
	o.TrustedOperators = []*jwt.OperatorClaims{claims}
	o.AccountResolver = &e.accounts
	e.accounts.operator = operator
	all := []*jwt.AccountClaims{jwt.NewAccountClaims(o.SystemAccount), e.accounts.keys.serverAccount()}
	for _, a := range all {
		token, err := a.Encode(operator)
		if err == nil {
			err = e.accounts.Store(a.Subject, token)
		}
		if err != nil {
			return fmt.Errorf("nats: %w", err)
		}
	}
	return nil
}

// Fetch implements natsserver.AccountResolver. NATS calls it for an account that it does not know. Fetch then
// looks for the account in the list of workers, which may have grown since the start.
func (a *accounts) Fetch(account string) (token string, err error) {
	if token, err = a.MemAccResolver.Fetch(account); err == nil {
		return token, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	list, err := ReadWorkers(a.keys.dir)
	if err != nil {
		return "", err
	}
	for _, w := range list {
		if w.Account == account {
			a.workers[account] = w.RemovedAt.IsZero()
			return a.keys.workerAccount(w).Encode(a.operator)
		}
	}
	return "", natsserver.ErrMissingAccount
}

// reload reads the list of workers if its file has changed. It disconnects removed workers, which cannot connect again.
// While the list cannot be read, no worker can be connected, because nobody knows which ones were removed.
func (e *embeddedServer) reload() {
	keys := e.accounts.keys
	info, err := os.Stat(listPath(keys.dir))
	if e.failure == "" && e.isLoaded && (err == nil || errors.Is(err, fs.ErrNotExist)) && sameFile(info, e.listInfo) {
		return
	}
	e.accounts.mu.Lock()
	list, hash, err := readWorkers(keys.dir)
	changed := e.accounts.apply(list)
	e.accounts.mu.Unlock()
	for _, w := range changed {
		if account, err := e.LookupAccount(w.Account); err == nil {
			e.UpdateAccountClaims(account, keys.workerAccount(w))
		}
	}
	failure := ""
	if err != nil {
		failure = err.Error()
	}
	if failure != "" && failure != e.failure {
		e.log.Error("the list of workers cannot be read: no worker can connect", "err", err)
	} else if failure == "" && e.failure != "" {
		e.log.Info("the list of workers can be read again")
	}
	e.isLoaded, e.listInfo, e.failure = true, info, failure
	if err == nil {
		if err := os.WriteFile(keys.appliedPath(), []byte(hash), 0o600); err != nil {
			e.log.Error("timba admin worker cannot be told that the list of workers is applied", "err", err)
		}
	}
}

// sameFile reports whether a and b describe the same state of a file. nil means that the file is missing.
func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime())
}

// apply sets which accounts in a.workers may connect: those that have a credential in list that was not removed. It
// returns a credential for each account for which this has changed. The caller must hold a.mu.
func (a *accounts) apply(list []Credential) (changed []Credential) {
	valid := map[string]Credential{}
	for _, w := range list {
		if w.RemovedAt.IsZero() {
			valid[w.Account] = w
		}
	}
	for account, wasValid := range a.workers {
		w, isValid := valid[account]
		if isValid == wasValid {
			continue
		}
		if !isValid {
			w = Credential{Account: account, RemovedAt: time.Now()}
		}
		a.workers[account] = isValid
		changed = append(changed, w)
	}
	return changed
}

// link connects to the embedded server from within this process. It creates a NATS user for the connection. The user
// is called name, belongs to the server's account and has the given permissions.
func (e *embeddedServer) link(name string, permissions jwt.UserPermissionLimits, log *slog.Logger) (*Link, error) {
	u, err := newUser(e.accounts.keys.account, name, permissions)
	if err != nil {
		return nil, err
	}
	l, err := connect("", name, log, nats.InProcessServer(e.Server), nats.UserJWTAndSeed(u.jwt, string(u.seed)), nats.Timeout(readyTime))
	if err != nil {
		return nil, fmt.Errorf("nats: the server in this process does not answer: %w", err)
	}
	return l, nil
}

// natsLog logs the warnings and errors of the NATS server, and drops its other messages.
type natsLog struct{ *slog.Logger }

func (l natsLog) Noticef(format string, v ...any) {}
func (l natsLog) Warnf(format string, v ...any)   { l.Warn("nats: " + fmt.Sprintf(format, v...)) }
func (l natsLog) Errorf(format string, v ...any)  { l.Error("nats: " + fmt.Sprintf(format, v...)) }
func (l natsLog) Fatalf(format string, v ...any)  { l.Error("nats: " + fmt.Sprintf(format, v...)) }
func (l natsLog) Debugf(format string, v ...any)  {}
func (l natsLog) Tracef(format string, v ...any)  {}
