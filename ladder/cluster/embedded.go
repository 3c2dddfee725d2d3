package cluster

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/jwt/v2"
	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// embeddedServer is a NATS server in this process, to which workers and the dispatcher connect.
type embeddedServer struct {
	*natsserver.Server
	accounts accounts
	listInfo os.FileInfo // of the list of workers when reload last read it
}

// accounts finds NATS accounts for the embedded server: the account of the timba server, and the accounts in
// the list of workers.
type accounts struct {
	natsserver.MemAccResolver
	keys     *Keys
	operator nkeys.KeyPair // signs all accounts; new in each run, because the list of workers decides which are valid
}

// readyTime is the longest time that the embedded server may take to start. It is also the timeout for opening
// a connection from within this process.
const readyTime = time.Minute

// startEmbedded starts a NATS server in this process. listen is the address for workers; if it is empty, only
// this process can connect. If certificate is nil, the certificate in keys is used.
func startEmbedded(keys *Keys, listen string, certificate *tls.Certificate, log *slog.Logger) (*embeddedServer, error) {
	e := &embeddedServer{}
	e.accounts.keys = keys
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

func (e *embeddedServer) options(listen string, certificate *tls.Certificate) (*natsserver.Options, error) {
	o := &natsserver.Options{
		ServerName: "timba", DontListen: listen == "", NoSigs: true,
		MaxPayload: MaxMessage, MaxPending: MaxPending, MaxConn: MaxConnections, WriteDeadline: 10 * time.Second, AuthTimeout: 15,
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
		o.TLS, o.TLSTimeout = true, 10
		certificate = cmp.Or(certificate, &e.accounts.keys.certificate)
		o.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS13}
	}
	return o, e.trust(o)
}

// trust creates an operator key and sets the options so that the NATS server accepts the accounts that this key
// signs. It signs the account of the timba server and those of the workers.
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
	workers, err := e.accounts.keys.Workers()
	if err != nil {
		return err
	}
	for _, w := range workers {
		all = append(all, e.accounts.keys.workerAccount(w))
	}
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
	list, err := a.keys.Workers()
	if err != nil {
		return "", err
	}
	for _, w := range list {
		if w.Account == account {
			return a.keys.workerAccount(w).Encode(a.operator)
		}
	}
	return "", natsserver.ErrMissingAccount
}

// reload reads the list of workers if its file has changed, and closes the connections of removed workers.
func (e *embeddedServer) reload() error {
	now, err := os.Stat(e.accounts.keys.listPath())
	if err != nil || e.listInfo != nil && os.SameFile(now, e.listInfo) && now.ModTime().Equal(e.listInfo.ModTime()) {
		return nil // there is no list yet, or it has not changed
	}
	list, err := e.accounts.keys.Workers()
	if err != nil {
		return err
	}
	for _, w := range list {
		if w.RemovedAt.IsZero() {
			continue
		}
		if known, err := e.LookupAccount(w.Account); err == nil {
			e.UpdateAccountClaims(known, e.accounts.keys.workerAccount(w))
		}
	}
	e.listInfo = now
	return nil
}

// link connects to the embedded server from within this process. For the connection it creates a user called
// name, of the server's account, with the given permissions.
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
