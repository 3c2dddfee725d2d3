package cluster

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/jwt/v2"
	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// embedded is a NATS server in this process.
type embedded struct {
	*natsserver.Server
	keys     *Keys
	operator nkeys.KeyPair // of this run: workers are known by the account alone
	accounts resolver
	mu       sync.Mutex
	listed   os.FileInfo // the list of workers when it was last read
}

// resolver is what the server knows of accounts.
type resolver struct {
	natsserver.MemAccResolver
	e       *embedded
	mu      sync.Mutex
	vouched map[string]bool // by account, whether its worker was removed then
}

// readyTime is how long the embedded server may take to start.
const readyTime = time.Minute

// startEmbedded starts a server. listen is the address for workers, "" for none.
func startEmbedded(keys *Keys, listen string, certificate *tls.Certificate, log *slog.Logger) (*embedded, error) {
	e := &embedded{keys: keys}
	e.accounts.e, e.accounts.vouched = e, map[string]bool{}
	o, err := e.options(listen, certificate)
	if err != nil {
		return nil, err
	}
	if e.Server, err = natsserver.NewServer(o); err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	e.Server.SetLoggerV2(natsLog{log}, false, false, false)
	e.Start()
	if !e.ReadyForConnections(readyTime) {
		e.Shutdown()
		e.WaitForShutdown()
		return nil, errors.New("nats: the server in this process does not start: see the log")
	}
	return e, nil
}

func (e *embedded) options(listen string, certificate *tls.Certificate) (*natsserver.Options, error) {
	o := &natsserver.Options{
		ServerName: "timba", DontListen: listen == "", NoSigs: true,
		MaxPayload: MaxMessage, MaxPending: MaxPending, MaxConn: MaxConnections, WriteDeadline: 10 * time.Second,
		PingInterval: pingEvery, MaxPingsOut: 2, DisableShortFirstPing: true,
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
		o.TLS, o.TLSTimeout, o.AuthTimeout = true, 10, 15
		if o.TLSConfig, err = e.keys.serverTLS(); err != nil {
			return nil, err
		}
		if certificate != nil {
			o.TLSConfig.Certificates = []tls.Certificate{*certificate}
		}
	}
	return o, e.trust(o)
}

// trust sets whom the server trusts: an operator of this run, who vouches for the account.
func (e *embedded) trust(o *natsserver.Options) (err error) {
	if e.operator, err = nkeys.CreateOperator(); err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	public, err := e.operator.PublicKey()
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
	token, err := jwt.NewAccountClaims(o.SystemAccount).Encode(e.operator)
	if err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	if err := e.accounts.Store(o.SystemAccount, token); err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	e.listed, _ = os.Stat(e.keys.listPath())
	accounts, err := e.keys.accounts()
	if err != nil {
		return err
	}
	for _, a := range accounts {
		if _, err := e.accounts.vouch(a); err != nil {
			return err
		}
	}
	return nil
}

// vouch makes an account known to the server, and reports whether the server knew it otherwise.
func (r *resolver) vouch(a *jwt.AccountClaims) (changed bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was, known := r.vouched[a.Subject]
	if known && was == removed(a) {
		return false, nil
	}
	token, err := a.Encode(r.e.operator)
	if err == nil {
		err = r.Store(a.Subject, token)
	}
	if err != nil {
		return false, fmt.Errorf("nats: %w", err)
	}
	r.vouched[a.Subject] = removed(a)
	return known, nil
}

// Fetch implements natsserver.AccountResolver. A worker may connect as soon as it is in the list: its
// account is looked up there.
func (r *resolver) Fetch(account string) (token string, err error) {
	if token, err = r.MemAccResolver.Fetch(account); err == nil {
		return token, nil
	}
	list, err := r.e.keys.Workers()
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(list, func(w Credential) bool { return w.Account == account })
	if i < 0 {
		return "", natsserver.ErrMissingAccount
	}
	if _, err := r.vouch(r.e.keys.workerAccount(list[i])); err != nil {
		return "", err
	}
	return r.MemAccResolver.Fetch(account)
}

// reload reads the list of workers again if it has changed. It ends the connections of the
// removed ones.
func (e *embedded) reload() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	now, err := os.Stat(e.keys.listPath())
	if err != nil || e.listed != nil && os.SameFile(now, e.listed) && now.ModTime().Equal(e.listed.ModTime()) {
		return nil // nobody has been added yet, or nothing has changed
	}
	accounts, err := e.keys.accounts()
	if err != nil {
		return err
	}
	for _, a := range accounts[1:] {
		changed, err := e.accounts.vouch(a)
		if err != nil {
			return err
		}
		if !changed { // an account that is new is looked up when somebody uses it
			continue
		}
		if known, err := e.LookupAccount(a.Subject); err == nil {
			e.UpdateAccountClaims(known, a)
		}
	}
	e.listed = now
	return nil
}

// link connects within the process.
func (e *embedded) link(name string, may jwt.UserPermissionLimits, log *slog.Logger) (*Link, error) {
	u, err := newUser(e.keys.account, name, may)
	if err != nil {
		return nil, err
	}
	return connect("", name, log, nats.InProcessServer(e.Server), nats.UserJWTAndSeed(u.jwt, string(u.seed)))
}

// natsLog passes on what the NATS server warns of. What it notes in passing is left out.
type natsLog struct{ *slog.Logger }

func (l natsLog) Noticef(format string, v ...any) {}
func (l natsLog) Warnf(format string, v ...any)   { l.Warn("nats: " + fmt.Sprintf(format, v...)) }
func (l natsLog) Errorf(format string, v ...any)  { l.Error("nats: " + fmt.Sprintf(format, v...)) }
func (l natsLog) Fatalf(format string, v ...any)  { l.Error("nats: " + fmt.Sprintf(format, v...)) }
func (l natsLog) Debugf(format string, v ...any)  {}
func (l natsLog) Tracef(format string, v ...any)  {}
